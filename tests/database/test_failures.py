"""The database breaks in the middle: nothing is lost, nothing happens twice, nobody sees it."""

import asyncio
import contextlib
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import SQLAlchemyError

from app.conversations.commands import Create, Describe, Erase, heads_of
from app.database import postgres, sqlite, transactions
from app.database.database import Database
from app.database.driver import Query
from app.database.engines import TRANSACTION, driver_of, original
from app.database.groups import Group
from app.database.migrations import upgrade
from app.database.store import ReadStore
from app.ledger.slice import Change, Command, Slice
from app.model.errors import Unavailable
from app.verify.queries import verify
from tests.damage.stored import file_of
from tests.database.cutting_proxy import cutting_proxy
from tests.database.specimens import Do, append, labels
from tests.postgres import database_name, fresh_database, postgres_of_our_own

pytestmark = pytest.mark.own_database
LABELS = [str(number) for number in range(10)]


async def append_all(database: Database, first: Do[Any] | None = None) -> list[Any]:
    """Ten turns in one group, and before them a command that may do harm."""
    writes = [asyncio.ensure_future(database.write(first))] if first else []
    writes += [asyncio.ensure_future(database.write(append("c1", n))) for n in LABELS]
    return await asyncio.gather(*writes, return_exceptions=True)


def kill_backends(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_connection_killed_inside_a_group_loses_nothing(postgres_database_url: str) -> None:
    runs: list[str] = []

    def deadly(known: Slice) -> Change[int]:
        runs.append("run")
        if len(runs) == 1:
            kill_backends(postgres_database_url)
        return append("c1", "survived").decide(known)

    with Database(postgres_database_url) as database:
        database.write_now(append("c1", "first"))
        assert asyncio.run(append_all(database, Do("c1", deadly))) == list(range(2, 13))
        assert labels(database, "c1") == ["first", "survived", *LABELS]
        assert len(runs) == 2


def test_connections_killed_while_idle_are_replaced(postgres_database_url: str) -> None:
    with Database(postgres_database_url) as database:
        for number in range(1, 4):
            assert database.write_now(append("c1")) == number
            assert len(labels(database, "c1")) == number
            kill_backends(postgres_database_url)


@pytest.mark.parametrize("cut", ["before", "after"])
def test_a_commit_without_an_answer_is_carried_out_once(
    postgres_database_url: str, cut: str
) -> None:
    with cutting_proxy(postgres_database_url) as proxy, Database(proxy.url) as database:
        database.write_now(append("c1", "first"))
        proxy.cut = cut
        assert database.write_now(append("c1", "second")) == 2
        assert proxy.cut is None
        assert asyncio.run(append_all(database)) == list(range(3, 13))
        assert labels(database, "c1") == ["first", "second", *LABELS]


def test_what_is_refused_together_with_its_commit_is_not_stored_and_not_looked_up(
    postgres_database_url: str,
) -> None:
    save, lookups = Group.save, list[object]()

    def refused(group: Group) -> None:
        save(group)
        driver_of(group._connection).execute("SELECT 1 / 0")

    def noted(*given: object) -> None:
        lookups.append(given)

    with Database(postgres_database_url) as database:
        database.write_now(append("c1", "first"))
        with (
            patch.object(Group, "save", refused),
            patch.object(postgres, "committed", noted),
            pytest.raises((psycopg.Error, SQLAlchemyError)) as told,
        ):
            database.write_now(append("c1", "lost"))
        assert isinstance(original(told.value), psycopg.errors.DivisionByZero)
        assert lookups == []
        assert database.write_now(append("c1", "second")) == 2
        assert labels(database, "c1") == ["first", "second"]


def test_a_write_waits_for_the_server_three_times(postgres_database_url: str) -> None:
    """To begin, to lock and read the head, and to save and commit."""
    with cutting_proxy(postgres_database_url) as proxy, Database(proxy.url) as database:
        for label in LABELS:
            database.write_now(append("c1", label))
        before = proxy.waits
        database.write_now(append("c1", "more"))
        assert proxy.waits - before == 3


def test_a_commit_that_the_server_denies_is_not_repeated_when_its_rows_are_there(
    postgres_database_url: str,
) -> None:
    """The coordinator of several servers may know only its own transactions."""
    with psycopg.connect(postgres_database_url, autocommit=True) as admin:
        admin.execute(
            "CREATE FUNCTION pg_xact_status(xid8) RETURNS text LANGUAGE sql AS $$"
            " SELECT CASE pg_catalog.pg_xact_status($1)"
            " WHEN 'committed' THEN 'aborted' ELSE pg_catalog.pg_xact_status($1) END $$"
        )
        name = database_name(postgres_database_url)
        admin.execute(f"ALTER DATABASE {name} SET search_path = public, pg_catalog".encode())
    with cutting_proxy(postgres_database_url) as proxy, Database(proxy.url) as database:
        database.write_now(append("c1", "first"))
        proxy.cut = "after"
        assert database.write_now(append("c1", "second")) == 2
        assert proxy.cut is None
        assert labels(database, "c1") == ["first", "second"]


@pytest.mark.parametrize("cut", ["before", "after"])
@pytest.mark.parametrize(
    ("command", "left"),
    [
        (Describe("c1", "new", None, frozenset({"title"})), ["new"]),
        (Describe("c1", "old", None, frozenset({"title"})), ["old"]),
        (Erase("c1"), []),
    ],
    ids=["changed", "unchanged", "erased"],
)
def test_a_commit_without_an_answer_that_brings_no_turn_is_carried_out_too(
    postgres_database_url: str, cut: str, command: Command[Any], left: list[str]
) -> None:
    with cutting_proxy(postgres_database_url) as proxy, Database(proxy.url) as database:
        database.write_now(Create("c1", "old", {}))
        proxy.cut = cut
        database.write_now(command)
        assert proxy.cut is None
        heads = database.read_now(lambda store: heads_of(store, ["c1"]))
        assert [head.title for head in heads.values() if head] == left


def test_what_others_changed_after_a_commit_without_an_answer_is_nobodys_proof(
    postgres_database_url: str, impatient: None
) -> None:
    """It may be ours that they changed, or what was there before: the caller must ask again."""

    def overtaken(connection: Connection) -> None:
        with Database(postgres_database_url) as other:
            other.write_now(Describe("c1", "theirs", None, frozenset({"title"})))

    with cutting_proxy(postgres_database_url) as proxy, Database(proxy.url) as database:
        database.write_now(Create("c1", "old", {}))
        proxy.cut = "after"
        with (
            patch.object(Group, "is_stored", overtaking(overtaken)),
            pytest.raises(Unavailable),
        ):
            database.write_now(Describe("c1", "ours", None, frozenset({"title"})))
        heads = database.read_now(lambda store: heads_of(store, ["c1"]))
        assert [head.title for head in heads.values() if head] == ["theirs"]


def test_one_that_was_erased_meanwhile_does_not_make_the_others_of_its_group_come_twice(
    postgres_database_url: str,
) -> None:
    began, gate = threading.Event(), threading.Event()

    def refused(known: Slice) -> Change[int]:
        began.set()
        gate.wait()
        raise Unavailable("not this one")

    def erased(connection: Connection) -> None:
        with Database(postgres_database_url) as other:
            other.write_now(Erase("c1"))

    async def story(database: Database) -> list[Any]:
        first = asyncio.ensure_future(database.write(Do("c0", refused)))
        await asyncio.to_thread(began.wait)
        both = [asyncio.ensure_future(database.write(append(cid, "x"))) for cid in ("c1", "c2")]
        # They wait for the first one, so the writer takes them together.
        while database.waiting() < len(both):
            await asyncio.sleep(0.01)
        gate.set()
        return await asyncio.gather(first, *both, return_exceptions=True)

    with (
        cutting_proxy(postgres_database_url) as proxy,
        Database(proxy.url, pg_writers=1) as database,
    ):
        database.write_now(append("c1", "first"))
        database.write_now(append("c2", "first"))
        proxy.cut = "after"
        with patch.object(Group, "is_stored", overtaking(erased)):
            assert asyncio.run(story(database))[1:] == [2, 2]
        assert proxy.cut is None
        assert labels(database, "c2") == ["first", "x"]
        assert database.read_now(lambda store: heads_of(store, ["c1"])) == {"c1": None}


def overtaking(before: Callable[[Connection], None]) -> Callable[..., bool | None]:
    """The question whether all is stored, asked a little late."""
    asked = Group.is_stored

    def late(group: Group, connection: Connection) -> bool | None:
        before(connection)
        return asked(group, connection)

    return late


def test_the_number_of_a_lost_transaction_proves_nothing_when_another_has_it() -> None:
    """A PostgreSQL that crashed gives the numbers again of which nothing had reached its disk."""
    taken: list[bool] = []

    def crash(connection: Connection) -> None:
        """Before the COMMIT that appends the second turn; then somebody else commits."""
        number = connection.info[TRANSACTION]
        if taken or number is None:
            return
        server.kill()
        server.start_again()
        taken.append(False)
        with psycopg.connect(url, autocommit=True) as other:
            for _ in range(5):
                with other.transaction():
                    row = other.execute("SELECT pg_current_xact_id()::text").fetchone()
                taken[0] = taken[0] or row == (number,)

    with postgres_of_our_own(durable=True) as server, fresh_database(server.url) as url:
        upgrade(url)
        for _ in range(10):
            with Database(url) as database:
                before = database.write_now(append("c1", "first"))
                taken.clear()
                with listening(database._writing, "commit", crash):
                    assert database.write_now(append("c1", "second")) == before + 1
                assert labels(database, "c1")[-2:] == ["first", "second"]
            if taken == [True]:
                break
        assert taken == [True]


@contextlib.contextmanager
def listening(engine: Engine, what: str, hear: Callable[[Connection], None]) -> Iterator[None]:
    event.listen(engine, what, hear)
    yield
    event.remove(engine, what, hear)


def test_one_that_locks_the_other_way_round_is_survived(postgres_database_url: str) -> None:
    """Turnkeep locks conversations by id; a person with psql may not."""
    lock = "SELECT 1 FROM conversations WHERE conversation_id = %s FOR UPDATE"

    async def story(database: Database, other: "psycopg.Connection[Any]") -> list[int]:
        other.execute(lock, ["b"])
        held = asyncio.ensure_future(database.write(append("0")))
        writes = [asyncio.ensure_future(database.write(append(cid))) for cid in ("a", "b")]
        await held
        with contextlib.suppress(psycopg.errors.DeadlockDetected):
            await asyncio.to_thread(other.execute, lock, ["a"])
        other.rollback()
        return await asyncio.gather(*writes)

    with Database(postgres_database_url, pg_writers=1) as database:
        database.write_now(append("a"))
        database.write_now(append("b"))
        with psycopg.connect(postgres_database_url) as other:
            assert asyncio.run(story(database, other)) == [2, 2]
        assert len(labels(database, "a")) == len(labels(database, "b")) == 2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up soon: what is tested is what happens then."""
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(transactions, "PAUSES", (0.0, 0.05, 0.1, 0.3, 0.5))


@pytest.fixture
def persistent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries until `PATIENCE` is over, so that the test decides when a retry succeeds."""
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(transactions, "PAUSES", (0.02,) * 10_000)


@contextlib.contextmanager
def held(url: str) -> Iterator[sqlite3.Connection]:
    """Another program writes to the file and takes its time."""
    path = Path(url.removeprefix("sqlite:///"))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


@pytest.mark.usefixtures("persistent")
def test_a_locked_file_is_waited_for(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "PATIENCE", 60.0)
    with Database(sqlite_database_url) as database, held(sqlite_database_url) as other:

        async def story() -> list[Any]:
            writes = asyncio.ensure_future(append_all(database))
            while database.counts().retries < 2 and not writes.done():
                await asyncio.sleep(0.01)
            other.execute("ROLLBACK")
            return await writes

        assert asyncio.run(story()) == list(range(1, 11))
        assert labels(database, "c1") == LABELS


@pytest.mark.usefixtures("impatient")
def test_a_file_that_stays_locked_is_unavailable(sqlite_database_url: str) -> None:
    with Database(sqlite_database_url) as database:
        with held(sqlite_database_url):
            outcomes = asyncio.run(append_all(database))
            assert labels(database, "c1") == []
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        assert "lock" not in str(outcomes[0])
        assert database.counts().unavailable == len(LABELS)
        assert asyncio.run(append_all(database)) == list(range(1, 11))


def test_a_read_that_fails_half_way_keeps_no_snapshot(sqlite_database_url: str) -> None:
    """As long as there is one, the log cannot be cut, and holds what was erased."""

    def half(store: ReadStore) -> None:
        rows = store._connection.exec_driver_sql("SELECT seq FROM turns")
        raise ZeroDivisionError(next(rows))

    with Database(sqlite_database_url) as database:
        for label in LABELS:
            database.write_now(append("c1", label))
        with pytest.raises(ZeroDivisionError) as kept:
            database.read_now(half)
        database.write_now(append("c1", "more"))
        with contextlib.closing(sqlite3.connect(file_of(sqlite_database_url))) as other:
            [(is_read, *_)] = other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert not is_read
        assert kept.value.__traceback__


@pytest.mark.usefixtures("persistent")
def test_who_waits_behind_others_in_vain_hears_it_with_them(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "PATIENCE", 60.0)
    # At least ten groups.
    commands = [append(f"c{number}") for number in range(2_560)]

    async def story(database: Database) -> tuple[int, list[Any]]:
        writes = [asyncio.ensure_future(database.write(command)) for command in commands]
        while database.waiting() + database.counts().commands < len(commands):
            await asyncio.sleep(0.01)
        # The last retry begins when all of them wait.
        before = database.counts().retries
        while database.counts().retries == before:
            await asyncio.sleep(0.01)
        monkeypatch.setattr(transactions, "PATIENCE", 0.0)
        before = database.counts().retries
        return before, await asyncio.gather(*writes, return_exceptions=True)

    with Database(sqlite_database_url) as database:
        with held(sqlite_database_url):
            before, outcomes = asyncio.run(story(database))
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        # The first command may have begun one more retry; the others are not tried.
        assert database.counts().retries <= before + 1
        assert asyncio.run(append_all(database)) == list(range(1, 11))


@pytest.mark.usefixtures("persistent")
def test_one_at_a_time_tries_to_reach_a_database_that_was_out_of_reach(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "PATIENCE", 0.0)
    with Database(sqlite_database_url) as database:
        with held(sqlite_database_url) as other:
            assert not database.is_stuck("c1")
            asyncio.run(append_all(database))
            # The writer answers a moment before it is ready for the next group.
            while database.is_stuck("c1"):
                pass
            monkeypatch.setattr(transactions, "PATIENCE", 60.0)
            first = database.write_soon(append("c1", "first"))
            while not database.is_stuck("c1"):
                assert not first.done()
            assert database.is_stuck(None)
            other.execute("ROLLBACK")
            assert first.result(30) == 1
        while database.is_stuck("c1"):
            pass
        assert database.write_now(append("c1", "second")) == 2


async def begun(database: Database) -> None:
    """Returns when the writer has taken a command: then it cannot be called back."""
    for _ in range(2000):
        await asyncio.sleep(0.005)
        if database.counts().commands:
            return


def test_who_is_cancelled_while_a_command_is_carried_out_is_given_the_receipt(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.database.database.PATIENCE", 60.0)

    async def story(database: Database, other: sqlite3.Connection) -> Any:
        write = asyncio.ensure_future(database.write(append("c1")))
        await begun(database)
        write.cancel()
        await asyncio.sleep(0)
        other.execute("ROLLBACK")
        return await write

    with Database(sqlite_database_url) as database, held(sqlite_database_url) as other:
        assert asyncio.run(story(database, other)) == 1


def test_who_is_cancelled_and_cannot_be_waited_for_is_told_that_it_may_be_stored(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.database.database.PATIENCE", 0.05)

    async def story(database: Database) -> Any:
        write = asyncio.ensure_future(database.write(append("c1")))
        await begun(database)
        write.cancel()
        return await write

    with Database(sqlite_database_url) as database, held(sqlite_database_url) as other:
        with pytest.raises(Unavailable, match="may have been stored"):
            asyncio.run(story(database))
        other.execute("ROLLBACK")


@pytest.mark.usefixtures("impatient")
def test_a_server_that_is_not_there_is_unavailable() -> None:
    with Database("postgresql://nobody@127.0.0.1:1/nothing") as database:
        outcomes = asyncio.run(append_all(database))
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        with pytest.raises(Unavailable):
            asyncio.run(database.check_fit(unsafe=True))


@pytest.mark.usefixtures("impatient")
def test_a_database_without_schema_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with Database(f"sqlite:///{tmp_path / 'empty.db'}") as database:
        with pytest.raises(Unavailable):
            database.write_now(append("c1"))
        with pytest.raises(Unavailable):
            database.read_now(lambda store: store.conversations.head("c1"))
        assert asyncio.run(database.schema_state())[0] is None


def test_a_locked_conversation_does_not_stop_the_others(postgres_database_url: str) -> None:
    lock = "SELECT 1 FROM conversations WHERE conversation_id = 'a' FOR UPDATE"

    async def story(database: Database, other: "psycopg.Connection[Any]") -> None:
        other.execute(lock)
        waiting = [asyncio.ensure_future(database.write(append("a", n))) for n in "bcd"]
        for number in range(2, 5):
            assert await database.write(append("b")) == number
        assert not any(one.done() for one in waiting)
        other.rollback()
        assert await asyncio.gather(*waiting) == [2, 3, 4]

    with Database(postgres_database_url, pg_writers=1) as database:
        database.write_now(append("a", "a"))
        database.write_now(append("b"))
        with psycopg.connect(postgres_database_url) as other:
            asyncio.run(story(database, other))
        assert labels(database, "a") == ["a", "b", "c", "d"]


def test_a_locked_conversation_is_not_taken_for_a_damaged_one(postgres_database_url: str) -> None:
    lock = "SELECT 1 FROM conversations WHERE conversation_id = 'a' FOR UPDATE"
    with Database(postgres_database_url, pg_writers=1) as database:
        database.write_now(append("a"))
        with psycopg.connect(postgres_database_url) as other:
            other.execute(lock)
            erased = database.write_soon(Erase("a"))
            # The next one is carried out while the first one waits.
            database.write_now(append("b"))
            assert not erased.done()
            other.rollback()
            assert erased.result().is_gone


def test_a_database_that_does_not_answer_is_no_damage(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR

    def failing(*_: object) -> Any:
        raise error

    with Database(sqlite_database_url) as database:
        database.write_now(append("a"))
        monkeypatch.setattr(Query, "rows", failing)
        with pytest.raises(Unavailable):
            database.read_now(lambda store: verify(store, "a"))


def test_a_conversation_that_stays_locked_is_unavailable(
    postgres_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "PATIENCE", 0.1)
    lock = "SELECT 1 FROM conversations WHERE conversation_id = 'a' FOR UPDATE"
    with Database(postgres_database_url, pg_writers=1) as database:
        database.write_now(append("a"))
        with psycopg.connect(postgres_database_url) as other:
            other.execute(lock)
            with pytest.raises(Unavailable) as told:
                database.write_now(append("a"))
            assert told.value.reason == "the conversation is locked"
        assert database.write_now(append("a")) == 2


def test_a_frozen_server_is_given_up_and_comes_back(
    postgres_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        cutting_proxy(postgres_database_url) as proxy,
        Database(f"{proxy.url}&connect_timeout=2") as database,
    ):
        database.write_now(append("c1", "first"))
        assert labels(database, "c1") == ["first"]
        proxy.open.clear()
        # Only now: a server that works is slow too on a busy machine.
        with monkeypatch.context() as soon:
            soon.setattr(postgres, "SILENCE", {"write": 0.3, "read": 0.3, "migrate": 60})
            soon.setattr(transactions, "PATIENCE", 0.3)
            with pytest.raises(Unavailable) as told:
                database.write_now(append("c1", "lost"))
            assert told.value.detail == "The database cannot answer now."
            assert told.value.reason not in ("", told.value.detail)
            with pytest.raises(Unavailable):
                labels(database, "c1")
        proxy.open.set()
        database.write_now(append("c1", "second"))
        assert labels(database, "c1")[-1] == "second"


def test_a_server_that_freezes_in_a_commit_is_told_as_that(
    postgres_database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        cutting_proxy(postgres_database_url) as proxy,
        Database(f"{proxy.url}&connect_timeout=2") as database,
    ):
        database.write_now(append("c1", "first"))
        # Only now: a server that works is slow too on a busy machine.
        monkeypatch.setattr(postgres, "SILENCE", {"write": 0.3, "read": 0.3, "migrate": 60})
        monkeypatch.setattr(transactions, "PATIENCE", 0.3)
        with listening(database._writing, "commit", lambda _: proxy.open.clear()):
            with pytest.raises(Unavailable, match="may have been stored") as refused:
                database.write_now(append("c1", "second"))
            assert refused.value.reason.endswith(": the server does not answer")
            proxy.open.set()
            with pytest.raises(Unavailable, match="written to: the server does not answer"):
                database.change_keys(lambda _: None)
    assert not [record for record in caplog.records if record.exc_info]


def test_a_frozen_server_does_not_keep_the_service_from_ending(
    postgres_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.database.database.PATIENCE", 0.1)
    with cutting_proxy(postgres_database_url) as proxy:
        database = Database(f"{proxy.url}&connect_timeout=2")
        database.write_now(append("c1", "first"))
        labels(database, "c1")
        proxy.open.clear()
        write = database.write_soon(append("c1", "second"))
        with ThreadPoolExecutor() as threads:
            read = threads.submit(labels, database, "c1")
            threads.submit(database.close).result(9)
            assert isinstance(write.exception(0), Unavailable)
            assert isinstance(read.exception(9), Unavailable)


def test_a_full_disk_is_told_after_one_more_try(sqlite_database_url: str) -> None:
    with Database(sqlite_database_url) as database:
        # From now on no new page fits onto the disk.
        event.listen(
            database._writing,
            "connect",
            lambda driver, _: driver.execute("PRAGMA max_page_count = 1"),
        )
        with pytest.raises(Unavailable) as told:
            database.write_now(append("c1", random.Random(1).randbytes(50_000).hex()))
        assert told.value.reason == "database or disk is full"
        assert database.counts().retries == database.counts().unavailable == 1
        # What still fits is stored.
        assert database.write_now(append("c1")) == 1


def test_a_commit_that_finds_the_disk_full_is_not_repeated(sqlite_database_url: str) -> None:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    errors = [error]

    def refused(_: object) -> None:
        for one in errors:
            raise one

    with Database(sqlite_database_url) as database:
        event.listen(database._writing, "commit", refused)
        outcomes = asyncio.run(append_all(database))
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        assert database.counts().retries == database.counts().unavailable == len(LABELS)
        with pytest.raises(Unavailable, match="cannot be written to: database or disk is full"):
            asyncio.run(database.check_fit())
        errors.clear()
        # Nobody need write before it is ready again.
        asyncio.run(database.check_fit())
        assert asyncio.run(append_all(database)) == list(range(1, 11))


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_file_that_is_not_the_one_that_was_opened_takes_nothing(
    sqlite_database_url: str, how: str
) -> None:
    file = Path(sqlite_database_url.removeprefix("sqlite:///"))
    with Database(sqlite_database_url) as database:
        database.write_now(append("c1", "first"))
        moved = file.rename(file.with_suffix(".moved"))
        if how == "replaced":
            file.write_bytes(moved.read_bytes())
        for refused in (
            lambda: database.write_now(append("c1", "lost")),
            lambda: labels(database, "c1"),
            lambda: asyncio.run(database.check_fit()),
        ):
            with pytest.raises(Unavailable) as told:
                refused()
            assert "the file" in told.value.reason
        assert file.exists() is (how == "replaced")
        moved.rename(file)
        assert database.write_now(append("c1", "second")) == 2


@pytest.mark.parametrize("setting", ["synchronous_commit", "default_transaction_read_only"])
def test_a_server_that_does_not_keep_what_it_takes_is_not_fit(
    postgres_database_url: str, setting: str
) -> None:
    with psycopg.connect(postgres_database_url, autocommit=True) as connection:
        row = connection.execute("SELECT current_database()").fetchone()
        assert row
        value = "off" if setting == "synchronous_commit" else "on"
        connection.execute(f"ALTER DATABASE {row[0]} SET {setting} = {value}")
    with Database(postgres_database_url) as database:
        with pytest.raises(Unavailable):
            asyncio.run(database.check_fit())
        if setting == "synchronous_commit":
            asyncio.run(database.check_fit(unsafe=True))
            return
        with pytest.raises(Unavailable, match="read-only"):
            asyncio.run(database.check_fit(unsafe=True))
        with pytest.raises(Unavailable, match="cannot answer"):
            database.write_now(append("c1"))
        assert database.counts().retries == 1


def test_a_file_that_is_not_synced_is_not_fit(sqlite_database_url: str) -> None:
    with Database(sqlite_database_url) as database:
        event.listen(
            database._reading, "connect", lambda driver, _: driver.execute("PRAGMA synchronous=OFF")
        )
        with pytest.raises(Unavailable, match="synchronous"):
            asyncio.run(database.check_fit())
        asyncio.run(database.check_fit(unsafe=True))
