"""What has expired is removed in the background, a few rows at a time; what is gone is forgotten.

Each process looks by itself which of the conversations are gone that it has something of in its
memory: another one may have erased them.
"""

import asyncio
import gc
import logging
from datetime import UTC, datetime, timedelta
from itertools import count
from math import nan

from prometheus_client import Gauge

from ..database.database import Database, all_tenants
from ..database.sweeping import BREATH
from ..edge.context import Room
from ..edge.middleware import REGISTRY
from ..model.errors import TurnkeepError, Unavailable
from ..model.ids import canonical_id
from ..model.large import PIECE
from ..replay.kept import Renders
from ..tools import commands as tooldefs

_log = logging.getLogger("turnkeep")
# Seconds between two looks, and between two steps. Others write in between: on SQLite whoever waits
# for the file looks again after 0.1 seconds at the latest.
_PAUSE = 30.0
# Seconds between two looks at what is gone, and those in which a process that writes says what it
# remembers. After so many looks everything is forgotten of which nobody knows whose it is.
_LOOK = 5.0
_SAID = 0.5
_LOOKS = 12
# As many looks apart, garbage in rings is collected among all that has lived for a while. That goes
# through everything that is held, so it waits until no large body is; but not for ever.
_PATIENCE = 10 * _LOOKS
# Steps for one tenant until the next one has its turn.
_STEPS = 50
_TO_REMOVE = Gauge(
    "turnkeep_conversations_to_remove",
    "Conversations that are erased or expired, but not removed from the database yet",
    registry=REGISTRY,
)
# Unknown until they are counted.
_TO_REMOVE.set(nan)


async def sweep(database: Database, keep_keys: int) -> None:
    """Goes on until it is cancelled."""
    left = False
    to_remove: dict[str, float] = {}
    while True:
        await asyncio.sleep(BREATH if left else _PAUSE)
        left = False
        try:
            tenants = await database.ask_keys(all_tenants)
        except TurnkeepError as error:
            _log.warning("what has expired is not looked for: %s", error.detail)
            continue
        for tenant_id in tenants:
            mine = database.of(tenant_id)
            left |= await _swept(mine, keep_keys)
            to_remove[tenant_id] = await _counted(mine, to_remove.get(tenant_id, nan))
        _TO_REMOVE.set(sum(to_remove.values()))


async def _swept(mine: Database, keep_keys: int) -> bool:
    """Removes some of what a tenant has; whether there may be more. The others have their turn."""
    keys_before = datetime.now(UTC) - timedelta(seconds=keep_keys)
    try:
        for _ in range(_STEPS):
            if not await mine.sweep(keys_before=keys_before):
                return False
            await asyncio.sleep(BREATH)
    except TurnkeepError as error:
        why = error.reason if isinstance(error, Unavailable) else error.detail
        _log.warning("what has expired is not removed yet: %s", why)
        return False
    except Exception:
        _log.exception("what has expired cannot be removed")
        return False
    return True


async def _counted(mine: Database, before: float) -> float:
    """Counts the conversations of a tenant that are to be removed. `before`: the last count, for
    when the database does not answer."""
    try:
        return await mine.read(lambda store: store.conversations.expired())
    except Exception as error:
        _log.warning("what is to be removed is not counted: %s", type(error).__name__)
        return before


async def forget(database: Database, renders: Renders, bodies: Room) -> None:
    """Goes on until it is cancelled."""
    uncollected = 0
    for looks in count(1):
        await asyncio.sleep(max(0, _LOOK - _SAID))
        database.call(clear_caches if looks % _LOOKS == 0 else nothing)
        await asyncio.sleep(_SAID)
        held = renders.held() | database.held()
        for tenant_id in {tenant_id for tenant_id, _, _ in held}:
            mine = database.of(tenant_id)
            made = {(cid, at) for owner, cid, at in held if owner == tenant_id}
            for cid in await _gone(mine, made):
                renders.forget(tenant_id, cid)
                mine.forget(cid)
        uncollected += 1
        if uncollected >= _LOOKS and (bodies.held <= PIECE or uncollected >= _PATIENCE):
            gc.collect()
            uncollected = 0


def nothing() -> None:
    """Clears nothing."""


def clear_caches() -> None:
    """Forgets everything of which nobody knows whose it is."""
    for cached in (canonical_id, *tooldefs.CACHED):
        cached.cache_clear()


async def _gone(mine: Database, made: set[tuple[str, datetime]]) -> set[str]:
    """Those that are erased or expired, or others have their ids now. What cannot be looked at
    counts as gone: what is forgotten can be read again."""
    cids = {cid for cid, _ in made}
    try:
        there = await mine.read(lambda store: store.conversations.made(cids))
    except Exception as error:
        _log.warning("what is kept in memory is forgotten: %s", type(error).__name__)
        return cids
    return {cid for cid, at in made if there.get(cid) != at}
