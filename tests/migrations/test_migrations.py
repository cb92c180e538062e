import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from app.service.apikeys import made
from app.storage import migrating, migrations
from app.storage.apikeys import ApiKeys
from app.storage.database import Database
from app.storage.engines import make_engine
from app.storage.migrations import current_and_head, upgrade
from app.storage.tables import metadata
from tests.postgres import fresh_database


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without any table."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    with fresh_database(request.getfixturevalue("postgres_url")) as url:
        yield url


@pytest.fixture
def other_empty_url(
    empty_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[str]:
    if empty_url.startswith("sqlite"):
        yield f"sqlite:///{tmp_path / 'other.db'}"
        return
    with fresh_database(request.getfixturevalue("postgres_url")) as url:
        yield url


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A transaction on a connection that is closed afterwards."""
    with make_engine(url, "migrate").begin() as connection:
        yield connection


def downgrade(url: str) -> None:
    with connected(url) as connection:
        command.downgrade(migrating.config(connection), "base")


def tables(connection: Connection) -> set[str]:
    return set(connection.dialect.get_table_names(connection))


def definitions(url: str) -> dict[str, str]:
    """What the database itself says of its tables, indexes and constraints, in its own words."""
    sqlite = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    postgres = """
        SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
        UNION SELECT attrelid::regclass || '.' || attname, concat_ws(' ', attnum,
            format_type(atttypid, atttypmod), attnotnull, attcollation::regcollation, attstorage)
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0
    """
    query = sqlite if url.startswith("sqlite") else postgres
    with connected(url) as connection:
        rows = connection.exec_driver_sql(query).all()
    return {name: " ".join(text.split()) for name, text in rows if "alembic_version" not in name}


def test_an_empty_database_has_no_version(empty_url: str) -> None:
    if empty_url.startswith("sqlite"):
        Path(empty_url.removeprefix("sqlite:///")).touch()
    current, head = current_and_head(empty_url)
    assert (current, head is not None) == (None, True)


def test_upgrading_leads_to_the_head_and_may_be_repeated(empty_url: str) -> None:
    upgrade(empty_url)
    upgrade(empty_url)
    current, head = current_and_head(empty_url)
    assert current == head


def beside_the_tables(name: str | None, kind: str, _: object) -> bool:
    """Not what SQLAlchemy cannot describe; it is compared to the letter below."""
    return not (name or "").startswith(("search_words", "ix_search_texts_"))


def test_the_migrations_build_the_tables(empty_url: str) -> None:
    upgrade(empty_url)
    with connected(empty_url) as connection:
        opts = {"compare_type": True, "include_name": beside_the_tables}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []


def test_the_migrations_build_the_tables_to_the_letter(
    empty_url: str, other_empty_url: str
) -> None:
    upgrade(empty_url)
    with connected(other_empty_url) as connection:
        metadata.create_all(connection)
    assert definitions(empty_url) == definitions(other_empty_url)


def test_downgrading_leaves_nothing_and_upgrading_brings_it_back(empty_url: str) -> None:
    upgrade(empty_url)
    before = definitions(empty_url)
    downgrade(empty_url)
    with connected(empty_url) as connection:
        assert tables(connection) == {"alembic_version"}
    upgrade(empty_url)
    assert definitions(empty_url) == before


def test_a_new_database_is_empty(empty_url: str) -> None:
    upgrade(empty_url)
    with connected(empty_url) as connection:
        for table in metadata.tables:
            query = f"SELECT count(*) FROM {table}"
            assert connection.exec_driver_sql(query).scalar() == 0


def test_processes_that_start_together_migrate_once(empty_url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=upgrade, args=(empty_url,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    current, head = current_and_head(empty_url)
    assert current == head


def test_a_migration_that_fails_changes_nothing(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on SQLite, where Alembic by itself would leave half of it behind."""
    real = command.upgrade

    def fails_at_the_end(config: Config, revision: str) -> None:
        real(config, revision)
        raise ZeroDivisionError

    monkeypatch.setattr(command, "upgrade", fails_at_the_end)
    with pytest.raises(ZeroDivisionError):
        upgrade(empty_url)
    with connected(empty_url) as connection:
        assert tables(connection) == set()


def test_the_newest_version_is_the_one_that_alembic_names() -> None:
    scripts = ScriptDirectory.from_config(migrating.config())
    assert migrations.head() == scripts.get_current_head()
    by_hand = ScriptDirectory.from_config(Config(Path(__file__).parents[2] / "migrations.ini"))
    assert by_hand.get_current_head() == migrations.head()


def test_keys_of_an_earlier_release_are_let_in_and_damaged_ones_are_not(empty_url: str) -> None:
    upgrade(empty_url)
    (good, _), (bad, _) = made("acme", "é", ["read", "admin"], requests=5), made("b", "", ["read"])
    with Database(empty_url) as database:
        for key in (good, bad):
            database.change_keys(lambda keys, key=key: keys.add(key))  # type: ignore[misc]
    with connected(empty_url) as connection:
        command.downgrade(migrating.config(connection), "0011")
        connection.exec_driver_sql(f"UPDATE api_keys SET scopes = '' WHERE key_id = '{bad.id}'")
    upgrade(empty_url)
    with Database(empty_url) as database:
        assert database.ask_keys_now(ApiKeys.every) == [good]
        assert database.ask_keys_now(ApiKeys.damaged) == [bad.id]
