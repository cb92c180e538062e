"""What has expired is removed in the background, a few rows at a time."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from app.core.errors import TurnkeepError
from app.storage.database import Database, all_tenants

_log = logging.getLogger("turnkeep")
# Seconds between two looks, and between two steps. Others write in between: on SQLite whoever waits
# for the file looks again after 0.1 seconds at the latest.
_PAUSE = 30.0
BREATH = 0.11
# Steps for one tenant until the next one has its turn.
_STEPS = 50


async def sweep(database: Database, keep_keys: int) -> None:
    """Goes on until it is cancelled."""
    left = False
    while True:
        await asyncio.sleep(BREATH if left else _PAUSE)
        left = False
        try:
            tenants = await database.ask_keys(all_tenants)
        except TurnkeepError as error:
            _log.warning("what has expired is not looked for: %s", error.detail)
            continue
        for tenant_id in tenants:
            left |= await _swept(database.of(tenant_id), keep_keys)


async def _swept(mine: Database, keep_keys: int) -> bool:
    """Removes some of what a tenant has; whether there may be more. The others have their turn."""
    keys_before = datetime.now(UTC) - timedelta(seconds=keep_keys)
    try:
        for _ in range(_STEPS):
            if not await mine.sweep(keys_before=keys_before):
                return False
            await asyncio.sleep(BREATH)
    except TurnkeepError as error:
        _log.warning("what has expired is not removed yet: %s", error.detail)
        return False
    except Exception:
        _log.exception("what has expired cannot be removed")
        return False
    return True
