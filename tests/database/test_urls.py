import asyncio
import sqlite3
from pathlib import Path

import psycopg
import pytest

from app.database.database import Database, DatabaseUrlError, engine_url
from app.database.engines import described
from app.database.store import ReadStore
from app.ledger.slice import Change, Slice
from app.model.errors import Unavailable
from tests.database.specimens import Do, append


@pytest.mark.parametrize(
    ("plain", "ours"),
    [
        ("sqlite:///turnkeep.db", "sqlite+pysqlite:///turnkeep.db"),
        ("sqlite:////var/a b/turnkeep.db", "sqlite+pysqlite:////var/a b/turnkeep.db"),
        ("sqlite+aiosqlite:///t.db", "sqlite+pysqlite:///t.db"),
        ("postgresql://u:p@h:5/d", "postgresql+psycopg://u:p@h:5/d"),
        ("postgres://u@h/d?sslmode=require", "postgresql+psycopg://u@h/d?sslmode=require"),
        ("postgresql+asyncpg://u@h/d", "postgresql+psycopg://u@h/d"),
    ],
)
def test_plain_urls_get_our_driver(plain: str, ours: str) -> None:
    assert engine_url(plain).render_as_string(hide_password=False) == ours


@pytest.mark.parametrize(
    ("url", "hosts", "ports"),
    [
        ("postgresql://u@a:1,b:2/d?target_session_attrs=read-write", "a,b", "1,2"),
        ("postgres://a,b:2/d", "a,b", ",2"),
        ("postgresql+asyncpg://u:p@[::1]:1,[fe80::2]:2/d", "::1,fe80::2", "1,2"),
        ("postgresql://u@%2Frun%2Fpg,b/d", "/run/pg,b", ","),
        ("postgresql://u@/d?host=a:1&host=b:2", "a,b", "1,2"),
        ("postgresql://u@/d?host=a,b&port=1,2", "a,b", "1,2"),
        ("postgresql://u:p,q@a/d", "a", None),
    ],
)
def test_several_hosts_are_told_to_the_driver(url: str, hosts: str, ports: str | None) -> None:
    parsed = engine_url(url)
    _, options = parsed.get_dialect()().create_connect_args(parsed)
    assert (options["host"], options.get("port")) == (hosts, ports)
    assert options["dbname"] == "d"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://u:secret@a:1,b:2/d", "PostgreSQL d on a:1, b:2"),
        ("postgresql://u:secret@[::1]:1,b/d", "PostgreSQL d on [::1]:1, b"),
        ("postgresql://u:secret@/d?host=a:1&host=b:2", "PostgreSQL d on a:1, b:2"),
        ("postgresql://u@h:7/d?password=secret", "PostgreSQL d on h:7"),
        ("postgresql:///d", "PostgreSQL d on this machine"),
    ],
)
def test_a_database_is_described_by_its_hosts_without_its_password(url: str, words: str) -> None:
    assert described(url) == words


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:secret@h/d",
        "turnkeep.db",
        "",
        "postgresql://u:secret@h:port/d",
        "postgresql://u:secret@a:port,b:2/d",
        "postgresql://u:secret@/d?host=a,b&port=1,2,3",
    ],
)
def test_other_urls_are_refused_without_showing_them(url: str) -> None:
    with pytest.raises(DatabaseUrlError, match="sqlite:///file or postgresql://") as refused:
        Database(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory&cache=shared&uri=true",
        "sqlite:///file::memory:?cache=shared&uri=true",
    ],
)
def test_memory_is_no_place_to_keep_things(url: str) -> None:
    with pytest.raises(DatabaseUrlError, match="in memory"):
        Database(url)


def pragma(store: ReadStore, name: str) -> object:
    return store._connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def test_sqlite_is_durable_and_keeps_its_references(sqlite_database_url: str) -> None:
    def settings(store: ReadStore) -> list[object]:
        return [pragma(store, name) for name in ("journal_mode", "synchronous", "foreign_keys")]

    with Database(sqlite_database_url) as database:
        full = 2
        with database._writing.connect() as connection:
            assert settings(ReadStore(connection, "default")) == ["wal", full, 1]
        assert database.read_now(settings) == ["wal", full, 1]


def test_a_write_locks_the_file_from_its_beginning(sqlite_database_url: str) -> None:
    path = Path(sqlite_database_url.removeprefix("sqlite:///"))

    def try_to_write(_: Slice) -> Change[None]:
        other = sqlite3.connect(path, timeout=0)
        try:
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN IMMEDIATE")
        finally:
            other.close()
        return Change(None)

    with Database(sqlite_database_url) as database:
        database.write_now(Do("c1", try_to_write))


@pytest.mark.parametrize("prepared", [True, False])
def test_prepared_statements_can_be_switched_off(
    postgres_database_url: str, prepared: bool
) -> None:
    def kept(store: ReadStore) -> int:
        query = "SELECT count(*) FROM pg_prepared_statements"
        count: int = store._connection.exec_driver_sql(query).scalar_one()
        return count

    async def story(database: Database) -> None:
        for _ in range(20):
            await database.write(append("c1"))

    with Database(postgres_database_url, pg_prepared_statements=prepared, pg_writers=1) as database:
        asyncio.run(story(database))
        for _ in range(20):
            database.read_now(lambda store: store.conversations.head("c1"))
        writer = database._threads[0]._transactions._connection
        assert writer is not None
        assert (kept(ReadStore(writer, "default")) > 0) is prepared
        writer.rollback()
        assert (database.read_now(kept) > 0) is prepared


def test_a_statement_that_a_pooler_has_lost_is_told_with_the_setting_to_change(
    postgres_database_url: str,
) -> None:
    with Database(postgres_database_url) as database:
        for _ in range(20):
            database.read_now(lambda store: store.conversations.head("c1"))
        # The connection of another session knows none of ours.
        driver = database._snapshots._idle[-1].connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        driver.pgconn.exec_(b"DEALLOCATE ALL")
        with pytest.raises(Unavailable) as refused:
            database.read_now(lambda store: store.conversations.head("c1"))
    assert refused.value.reason.endswith(
        "does not exist; behind a pooler set TURNKEEP_PG_PREPARED_STATEMENTS=false"
    )


def test_postgresql_transactions_have_limits_and_snapshots(postgres_database_url: str) -> None:
    def settings(store: ReadStore) -> list[str]:
        names = ("transaction_isolation", "transaction_read_only", "statement_timeout")
        run = store._connection.exec_driver_sql
        return [str(run(f"SHOW {name}").scalar()) for name in names]

    with Database(postgres_database_url) as database:
        with database._writing.connect() as connection:
            seen = settings(ReadStore(connection, "default"))
        assert seen == ["read committed", "off", "10s"]
        assert database.read_now(settings) == ["repeatable read", "on", "30s"]


def test_the_options_of_a_url_win(postgres_database_url: str) -> None:
    url = f"{postgres_database_url}?application_name=mine"
    with Database(url) as database, psycopg.connect(postgres_database_url) as other:
        database.write_now(append("c1"))
        seen = other.execute("SELECT application_name FROM pg_stat_activity").fetchall()
        assert ("mine",) in seen
