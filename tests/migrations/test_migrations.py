"""The migrations, against both databases."""

import ast
import io
import multiprocessing
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from fastapi.testclient import TestClient
from sqlalchemy import Connection

from app.cli import main
from app.database import migrating, migrations
from app.database.engines import database_file, is_sqlite, make_engine
from app.database.migrations import current_and_head, upgrade
from app.database.tables import metadata
from app.main import create_app
from app.settings import Settings
from tests.postgres import fresh_database
from tests.turns.test_streams import RESPONSE


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


@pytest.mark.parametrize("revision", ["0001", "0005", "0013"])
def test_a_schema_from_before_the_first_release_is_refused_in_one_line(
    empty_url: str, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    upgrade(empty_url)
    with connected(empty_url) as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")
    before = definitions(empty_url)
    assert main(["migrate", "--database-url", empty_url]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert f"is at {revision}, a schema from before the first release" in output.err
    assert "turnkeep export --all" in output.err
    assert definitions(empty_url) == before
    assert current_and_head(empty_url)[0] == revision


def test_a_schema_of_a_newer_release_is_refused_in_one_line(
    empty_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    upgrade(empty_url)
    with connected(empty_url) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    assert main(["migrate", "--database-url", empty_url]) == 2
    output = capsys.readouterr()
    assert (output.out, output.err.count("\n")) == ("", 1)
    assert "a newer release wrote it" in output.err


def test_turns_that_an_earlier_release_cannot_read_keep_their_schema(empty_url: str) -> None:
    upgrade(empty_url)
    with TestClient(create_app(Settings(database_url=empty_url))) as http:
        content = [{"type": "text", "text": "Hi.", "citations": None}]
        body = {"provider": "anthropic", "response": RESPONSE | {"content": content}}
        assert http.post("/v1/conversations/c1/turns", json=body).status_code == 201
        before = http.get("/v1/conversations/c1/turns?raw=true").content
        with pytest.raises(CommandError, match="restore a backup"):
            downgrade(empty_url)
        assert http.get("/v1/conversations/c1/turns?raw=true").content == before


def test_printed_sql_builds_the_same_tables(
    empty_url: str, other_empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(empty_url)
    monkeypatch.setenv("TURNKEEP_DATABASE_URL", other_empty_url)
    printed = io.StringIO()
    config = Config(Path(__file__).parents[2] / "migrations.ini", output_buffer=printed)
    command.upgrade(config, "head", sql=True)
    if is_sqlite(other_empty_url):
        with closing(sqlite3.connect(database_file(other_empty_url))) as file:
            file.executescript(printed.getvalue())
    else:
        with psycopg.connect(other_empty_url, autocommit=True) as server:
            server.execute(printed.getvalue().encode())
    assert current_and_head(other_empty_url) == current_and_head(empty_url)
    assert definitions(other_empty_url) == definitions(empty_url)


def test_migrations_import_nothing_of_the_program() -> None:
    """They build the same tables whatever the program becomes."""
    allowed = {"alembic", "sqlalchemy", *sys.stdlib_module_names}
    files = list((migrations.scripts() / "versions").glob("*.py"))
    assert files
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, file.name
                names = [node.module or ""]
            else:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert {name.partition(".")[0] for name in names} <= allowed, file.name
