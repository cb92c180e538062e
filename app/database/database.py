"""The database as the program sees it: commands go in, receipts come out once they are durable.

Commands queue for a writer (one on SQLite, a few on PostgreSQL, a conversation always the same
one), which is a thread, or a process where the service wants that; queries run on a few threads,
each in a snapshot.
"""

import asyncio
import concurrent.futures
import logging
import threading
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import astuple
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import Connection

from ..access.sql import ApiKeys
from ..ledger.slice import Command, Custom, Sweep
from ..model.errors import Unavailable
from . import migrations, sqlite, sweeping
from .engines import (
    DatabaseUrlError,
    connected,
    driver_of,
    engine_url,
    kind_of,
    make_engine,
    original,
    reason,
    rebuild_index,
)
from .jobs import PERHAPS, Counts, Job
from .memory import MOST_NAMES, Memory
from .process import PATIENCE, WriterProcess
from .scope import TooLong
from .snapshots import Snapshots
from .store import ReadStore
from .threads import Threads
from .transactions import Transactions
from .verdicts import Ending
from .writer import WriterThread

__all__ = ["Database", "DatabaseUrlError", "engine_url"]

T = TypeVar("T")
W = TypeVar("W")
log = logging.getLogger(__name__)
# Of a service without keys.
DEFAULT_TENANT = "default"

# Seconds for a database that is asked how it is.
_ASKED = 10.0
# Threads that read; some of them are left to short queries.
READERS = 4
_SMALL = 2


def all_tenants(keys: ApiKeys) -> list[str]:
    """The tenants that have keys, and that of a service without any."""
    return sorted(keys.tenants() | {DEFAULT_TENANT})


class Database:
    """One tenant's conversations. Nothing is opened before it is needed. `of` gives the same
    database to other tenants: connections, writers and readers are shared.

    Without `search`, no words of what was said are kept beside the turns. `memory`: so many names
    of busy conversations each writer may remember; 0 makes it ask the database every time.
    `expires_after`: the seconds that a conversation is kept which is made without saying it.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant_id: str = DEFAULT_TENANT,
        pg_prepared_statements: bool = True,
        pg_writers: int = 1,
        search: bool = True,
        memory: int = MOST_NAMES,
        expires_after: int | None = None,
    ) -> None:
        self._kind = kind_of(engine_url(url))
        self.tenant_id = tenant_id
        self.searches = search
        self._memory = memory
        self._custom = Custom(search, expires_after)
        self._ending = Ending()
        prepared = pg_prepared_statements
        self._writing = make_engine(url, "write", prepared=prepared, ending=self._ending)
        self._reading = make_engine(url, "read", prepared=prepared, ending=self._ending)
        self._snapshots = Snapshots(self._reading, READERS, self._ending)
        self._readers = Threads(READERS, "turnkeep-reader")
        self._long = asyncio.Semaphore(READERS - _SMALL)
        # Of its own: who asks for a key or for the health must not wait for long replays.
        self._doorman = Threads(1, "turnkeep-door")
        # Threads that write, made when they are needed, and processes that do, one for each.
        self._threads: list[WriterThread] = []
        self._processes: list[WriterProcess] = []
        self._writer_count = 1 if self._kind is sqlite else pg_writers
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._wrote: set[str] = set()

    def fork_writers(self) -> None:
        """Lets processes write from now on, if it can be: before there is any thread or connection,
        in the loop that will wait for them."""
        try:
            for _ in range(self._writer_count):
                self._processes.append(WriterProcess(self._transactions, self._ending))
        except OSError as error:
            log.warning("no process can be made to write: %s; a thread writes", error)

    def of(self, tenant_id: str) -> "Database":
        """The conversations of another tenant. Only the first one is closed."""
        other = copy(self)
        other.tenant_id = tenant_id
        return other

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def write(self, command: Command[T]) -> T:
        """Carry out a command; returns its receipt when it is durable.

        A command may decide again when the database asks for it. Who is cancelled meanwhile,
        because the service stops, is given the receipt all the same if the writer has begun and it
        comes soon.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        job = Job(self.tenant_id, command, future)
        self._put(job)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if job.claim.acquire(blocking=False):
                raise
            if not (await asyncio.wait({future}, timeout=PATIENCE))[0]:
                future.cancel()
                raise Unavailable(
                    f"The service is stopping and waits no longer. {PERHAPS}"
                ) from None
        return await future

    def write_now(self, command: Command[T]) -> T:
        """`write` for callers without an event loop."""
        return self.write_soon(command).result()

    def write_soon(self, command: Command[T]) -> "concurrent.futures.Future[T]":
        """The same for callers who go on meanwhile. Where threads write, commands on a conversation
        stay in order."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._put(Job(self.tenant_id, command, future))
        return future

    async def read(
        self,
        query: Callable[[ReadStore], T],
        *,
        long: bool = False,
        check: Callable[[], Awaitable[None]] | None = None,
    ) -> T:
        """Answer a query in one snapshot of the database.

        `long`: it reads a whole conversation, however long that is. Others that turn out to be long
        are begun again as such. They wait for each other, not the others for them; `check` raises
        where a long one is not wanted any more when it is its turn.
        """
        loop = asyncio.get_running_loop()
        if not long:
            with suppress(TooLong):
                brief = partial(self.read_now, query, short=True)
                return await loop.run_in_executor(self._readers, brief)
        async with self._long:
            if check is not None:
                await check()
            return await loop.run_in_executor(self._readers, self.read_now, query)

    def read_now(self, query: Callable[[ReadStore], T], *, short: bool = False) -> T:
        """`read` for callers without an event loop."""

        def asked(connection: Connection) -> T:
            return query(ReadStore(connection, self.tenant_id, searches=self.searches, short=short))

        return self._snapshots.ask(self.tenant_id, asked)

    async def ask_keys(self, question: Callable[[ApiKeys], T]) -> T:
        """Answer a question about API keys, of all tenants."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._doorman, self.ask_keys_now, question)

    def ask_keys_now(self, question: Callable[[ApiKeys], T]) -> T:
        return self._snapshots.ask(self.tenant_id, lambda connection: question(ApiKeys(connection)))

    def change_keys(self, change: Callable[[ApiKeys], T]) -> T:
        """Change API keys, durably; for operators, not for requests."""
        try:
            with connected(self._writing) as connection:
                transaction = connection.begin()
                changed = change(ApiKeys(connection))
                transaction.commit()
                return changed
        except self._kind.Error as error:
            raise Unavailable(f"The database cannot be written to: {reason(error)}.") from error

    async def sweep(self, **what: Any) -> Counter[str]:
        """`sweep_now` for callers with an event loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, partial(self.sweep_now, **what))

    def sweep_now(
        self, *, cid: str | None = None, keys_before: datetime | None = None, most: int = 2000
    ) -> Counter[str]:
        """Removes some rows of what has expired, this conversation or any, and some of the keys
        that are older; by part, how many. Nothing when nothing is left."""
        now = datetime.now(UTC)

        def step(connection: Connection) -> tuple[str | None, Counter[str]]:
            name = cid or sweeping.oldest(connection, self.tenant_id, now)
            if name is not None:
                return name, sweeping.remove_rows(connection, self.tenant_id, name, now, most)
            if keys_before is None:
                return None, Counter()
            return None, sweeping.remove_keys(connection, self.tenant_id, keys_before, most)

        name, removed = self._in_transaction(step)
        if name is not None and removed.total() < most:
            removed["conversations"] += self.write_now(Sweep(name))
        return +removed

    def _in_transaction(self, step: Callable[[Connection], T]) -> T:
        """Runs a step in a transaction of its own; again if it found the full-text index broken,
        which is rebuilt before that."""

        def run() -> T:
            with connected(self._writing, self.tenant_id) as connection:
                transaction = connection.begin()
                found = step(connection)
                transaction.commit()
                return found

        try:
            try:
                return run()
            except self._kind.Error as error:
                if self._kind.verdict(original(error)) != "index":
                    raise
                rebuild_index(self._writing)
                return run()
        except self._kind.Error as error:
            raise Unavailable.silent(reason(error)) from error

    def index_fault(self) -> str | None:
        """Returns why the full-text index cannot be read, or None if it can."""
        return self._snapshots.ask(
            self.tenant_id, lambda connection: self._kind.index_fault(driver_of(connection))
        )

    async def check_fit(self, *, unsafe: bool = False) -> str | None:
        """Return when the database answers and can be written to, with a note if a crash of several
        machines may lose what was stored; raise `Unavailable` with the reason when not. `unsafe`:
        what is stored need not outlive a crash."""
        loop = asyncio.get_running_loop()
        asked = loop.run_in_executor(self._doorman, self._check_fit, unsafe)
        try:
            return await asyncio.wait_for(asked, _ASKED)
        except TimeoutError:
            raise Unavailable("The database does not answer.") from None

    async def check_index(self) -> None:
        """Raises `Unavailable` if the full-text index cannot be read."""
        loop = asyncio.get_running_loop()
        if fault := await loop.run_in_executor(self._doorman, self.index_fault):
            raise Unavailable(f"The database cannot be used: {fault}.")

    def _check_fit(self, unsafe: bool) -> str | None:
        def fitness(connection: Connection) -> tuple[str | None, str | None]:
            driver = driver_of(connection)
            return self._kind.unfit(driver, unsafe=unsafe), self._kind.caveat(driver)

        why, caveat = self._snapshots.ask(self.tenant_id, fitness)
        if why:
            raise Unavailable(f"The database cannot be used: {why}.")
        if any(writer.failure for writer in self._writers):
            self._check_writable()
        return caveat

    def _check_writable(self) -> None:
        # What failed last may be mended by now, and perhaps nobody writes before we are ready.
        try:
            with connected(self._writing) as connection:
                transaction = connection.begin()
                connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
                transaction.commit()
        except self._kind.Error as error:
            raise Unavailable(f"The database cannot be written to: {reason(error)}.") from error
        for writer in self._writers:
            writer.failure = None

    async def schema_state(self) -> tuple[str | None, str | None]:
        """The schema version that the database has, and the one that this program needs."""
        loop = asyncio.get_running_loop()
        ask = partial(self._snapshots.ask, self.tenant_id, migrations.current)
        return await loop.run_in_executor(self._doorman, ask), migrations.head()

    def waiting(self) -> int:
        """How many commands wait for their writer."""
        return sum(writer.waiting() for writer in self._writers)

    def is_stuck(self, cid: str | None) -> bool:
        """Whether a command on this conversation, or on one of any id, would wait for too long."""
        return any(writer.is_stuck() for writer in self._writers_of(cid))

    def failure(self, cid: str | None) -> Unavailable | None:
        """Why the last command of such a writer was given up, until one is carried out."""
        return next((why for writer in self._writers_of(cid) if (why := writer.failure)), None)

    def held(self) -> set[tuple[str, str, datetime]]:
        """The conversations that the writers remember: tenant, id, and when it was made."""
        return {one for writer in self._writers for one in writer.held()}

    def forget(self, cid: str) -> None:
        """No writer remembers anything of a conversation any more."""
        for writer in self._writers:
            writer.forget(self.tenant_id, cid)

    def call(self, function: Callable[[], None]) -> None:
        """Has a function of a module called here and in every process that writes, and lets these
        say what they remember."""
        function()
        for process in self._processes:
            process.call(function)

    def wrote(self) -> set[str]:
        """The tenants for whom commands were given since this was asked last."""
        with self._lock:
            tenants = set(self._wrote)
            self._wrote.clear()
        return tenants

    def counts(self) -> Counts:
        """What the writers did since the start."""
        every = [astuple(writer.counts) for writer in self._writers]
        return Counts(*map(sum, zip(*every, strict=True)))

    def close(self, seconds: float | None = None) -> None:
        """Carry out the commands that wait, then let everything go. `seconds`: for what a writer
        has begun, if nothing waits behind it, and for queries; the process must end then, which may
        undo what was begun."""
        with self._lock:
            self._closed.set()
        now = time.monotonic()
        self._ending.at = now + PATIENCE
        until = None if seconds is None else now + seconds
        # Asked first, all of them: they end beside each other.
        waits = [(writer, writer.end()) for writer in self._writers]
        ended = [writer.has_ended(None if waited else until) for writer, waited in waits]
        if not all(ended):
            log.warning("the service ends before all is stored; what was begun may be undone")
        # Whoever waited for a query was told that the service stops.
        self._readers.end(until)
        self._doorman.end(until)
        self._snapshots.close()

    @property
    def _writers(self) -> list[WriterThread | WriterProcess]:
        return [*self._threads, *self._processes]

    def _writers_of(self, cid: str | None) -> Sequence[WriterThread | WriterProcess]:
        if cid is None:
            return self._writers
        some: list[Sequence[WriterThread | WriterProcess]] = [self._processes, self._threads]
        return [_of(cid, writers) for writers in some if writers]

    def _put(self, job: Job) -> None:
        cid = job.command.conversation_id
        process = _of(cid, self._processes) if self._processes else None
        packed = process.packed(job) if process else None
        with self._lock:
            if self._closed.is_set():
                raise Unavailable("The service is shutting down.")
            self._wrote.add(job.tenant_id)
            if process and packed is not None and process.put(job, packed):
                return
            if not self._threads:
                self._threads += [
                    WriterThread(f"turnkeep-writer-{number}", self._transactions())
                    for number in range(self._writer_count)
                ]
            _of(cid, self._threads).put(job)

    def _transactions(self) -> Transactions:
        return Transactions(self._writing, Memory(self._memory), self._ending, self._custom)


def _of(cid: str, writers: Sequence[W]) -> W:
    """The one that writes to this conversation."""
    if len(writers) == 1:
        return writers[0]
    name = cid.encode("utf-8", "surrogatepass")
    return writers[zlib.crc32(name) % len(writers)]
