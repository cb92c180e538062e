"""The database breaks in the middle: nothing is lost, nothing happens twice, nobody sees it."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.core.errors import Unavailable
from app.core.ledger.slice import Change, Slice
from app.storage import sqlite, writer
from app.storage.database import Database
from tests.storage.cutting_proxy import cutting_proxy
from tests.storage.specimens import Do, append, labels

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
    monkeypatch.setattr(writer, "PAUSES", (0.0, 0.05, 0.1, 0.3, 0.5))


@contextlib.contextmanager
def held(url: str) -> Iterator[sqlite3.Connection]:
    """Another program writes to the file and takes its time."""
    path = Path(url.removeprefix("sqlite:///"))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


@pytest.mark.usefixtures("impatient")
def test_a_locked_file_is_waited_for(sqlite_database_url: str) -> None:
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


@pytest.mark.usefixtures("impatient")
def test_a_server_that_is_not_there_is_unavailable() -> None:
    with Database("postgresql://nobody@127.0.0.1:1/nothing") as database:
        outcomes = asyncio.run(append_all(database))
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        with pytest.raises(Unavailable):
            asyncio.run(database.ping())


@pytest.mark.usefixtures("impatient")
def test_a_database_without_schema_is_unavailable(tmp_path: Path) -> None:
    with Database(f"sqlite:///{tmp_path / 'empty.db'}") as database:
        with pytest.raises(Unavailable):
            database.write_now(append("c1"))
        with pytest.raises(Unavailable):
            database.read_now(lambda store: store.conversations.head("c1"))
        assert asyncio.run(database.schema_state())[0] is None
