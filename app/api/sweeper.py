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


async def sweep(database: Database, keep_keys: int) -> None:
    """Goes on until it is cancelled."""
    while True:
        await asyncio.sleep(_PAUSE)
        try:
            keys_before = datetime.now(UTC) - timedelta(seconds=keep_keys)
            for tenant_id in await database.ask_keys(all_tenants):
                while await database.of(tenant_id).sweep(keys_before=keys_before):
                    await asyncio.sleep(BREATH)
        except TurnkeepError as error:
            _log.warning("what has expired is not removed yet: %s", error.detail)
        except Exception:
            _log.exception("what has expired cannot be removed")
