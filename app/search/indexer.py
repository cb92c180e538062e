"""The index of words, brought up to what is stored: beside other work, and before each search."""

import asyncio
import logging
import time
from collections.abc import Mapping
from functools import partial
from itertools import islice
from math import inf

from ..database.database import Database, all_tenants
from ..model.errors import TurnkeepError, Unavailable
from .indexing import BATCH, behind, versions_behind

_log = logging.getLogger("turnkeep")
# Seconds between two looks, and how many looks are let pass while there is much to write.
_PAUSE = 0.25
_PATIENCE = 20
# Seconds after which it is tried again at the latest.
_LONGEST = _PATIENCE * _PAUSE
# Commands a second from which on there is much to write.
_MUCH = 100
# Turns that are indexed at a time while the service is used. They become more, up to `BATCH`, while
# some are left. Afterwards it pauses for so many times as long, but not for ever.
_FEW = 4
_REST = 4
# Seconds that a search waits for the index.
_WAIT = 10.0


class Indexer:
    """Indexes in the background what the writers have stored."""

    def __init__(self, database: Database) -> None:
        self.database = database
        # One at a time: two would make the same words.
        self._lock = asyncio.Lock()
        # The tenants that may have something to index.
        self._tenants: set[str] | None = None
        # How many commands it has given itself.
        self._own = 0
        # How many commits there were when nothing was left to index.
        self._done = -1
        # How many requests there were; whoever lets them in counts them.
        self.requests = 0

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        commands, requests, used_at, looked_at = self._commands(), 0, -inf, -inf
        waited, most = _PATIENCE, _FEW
        while True:
            now, waited = time.monotonic(), waited + 1
            before, commands = commands, self._commands()
            seconds, looked_at = max(_PAUSE, now - looked_at), now
            if self.requests > requests:
                requests, used_at = self.requests, now
            is_done = self.database.counts().commits == self._done
            if is_done or (commands - before > _MUCH * seconds and waited < _PATIENCE):
                await asyncio.sleep(_PAUSE)
                continue
            waited = 0
            is_used = now - used_at < _PAUSE
            try:
                await self._round(most=most if is_used else BATCH)
            except Exception as error:
                if (task := asyncio.current_task()) and task.cancelling():
                    # A command that waited for its writer gave another reason for it.
                    raise asyncio.CancelledError from None
                if isinstance(error, TurnkeepError):
                    _log.warning("what was stored is not indexed yet: %s", error.detail)
                else:
                    _log.exception("what was stored cannot be indexed")
                await asyncio.sleep(_LONGEST)
            else:
                most = min(2 * most, BATCH) if self._tenants else _FEW
                rest = min(_LONGEST, _REST * (time.monotonic() - now))
                await asyncio.sleep(rest if is_used else 0)

    def _commands(self) -> int:
        """Those of others, whether they are committed or not."""
        return self.database.counts().commands - self._own

    async def caught_up(self, mine: Database) -> None:
        """Returns when everything of a tenant is indexed that was stored before. Raises
        `Unavailable`."""
        until = time.monotonic() + _WAIT
        left = await mine.read(versions_behind)
        while left:
            some = dict(islice(left.items(), BATCH))
            if not await self._step(mine, some):
                left = dict(islice(left.items(), BATCH, None))
            elif time.monotonic() > until:
                raise Unavailable("The words of what was stored lately are still being indexed.")

    async def _round(self, *, most: int) -> None:
        """Indexes so many turns of each tenant that wrote; at the start, of all there are."""
        commits = self.database.counts().commits
        if self._tenants is None:
            self._tenants = set(await self.database.ask_keys(all_tenants))
        self._tenants |= self.database.wrote()
        failure: TurnkeepError | None = None
        for name in sorted(self._tenants):
            try:
                if not await self._step(self.database.of(name), most=most):
                    self._tenants.discard(name)
            except TurnkeepError as error:
                # The others have their turn before it is waited.
                failure = error
        if failure is not None:
            raise failure
        if not self._tenants:
            self._done = commits

    async def _step(
        self, mine: Database, versions: Mapping[str, int] | None = None, *, most: int = BATCH
    ) -> bool:
        """Indexes so many turns, of any conversations of a tenant or of these up to these
        versions; False when there were none left."""
        async with self._lock:
            found = await mine.read(partial(behind, versions=versions, most=most))
            self._own += len(found)
            await asyncio.gather(*(mine.write(one) for one in found))
            return bool(found)
