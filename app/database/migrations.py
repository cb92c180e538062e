"""The schema's versions, as Alembic keeps them.

`upgrade` may be called by several processes at once: the first one migrates in one transaction,
the others wait for it and find nothing left to do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from ..model.errors import Unavailable
from . import engines
from .verdicts import Purpose

# Installed, the migrations are a part of the package; in the repository they stand beside it.
INSTALLED = Path(__file__).parents[1] / "migrations"
BESIDE = Path(__file__).parents[2] / "alembic"
# Any number will do, if nobody else on the same database uses it: "turnkeep" in ASCII.
_LOCK = int.from_bytes(b"turnkeep", "big")


def upgrade(url: str) -> str | None:
    """Bring the database to the newest schema; gives the version that it had."""
    # First: a migration may write to tables whose words are indexed.
    rebuild_index(url, only_if_broken=True)
    with _connection(url, "migrate") as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        before = current(connection)
        if before != head():
            migrating = import_module(".migrating", __package__)
            migrating.migrate(connection, before, engines.described(url))
    if before != head():
        with _connection(url, "migrate") as connection:
            engines.kind_of(connection.engine.url).migrated(engines.driver_of(connection))
    return before


def rebuild_index(url: str, *, only_if_broken: bool = False) -> None:
    """Builds SQLite's full-text index from nothing. It waits for other writers, and they for it."""
    kind = engines.kind_of(engines.engine_url(url))
    build = kind.mend_index if only_if_broken else kind.rebuild_index
    with _connection(url, "migrate") as connection:
        try:
            build(engines.driver_of(connection))
        except kind.Error as error:
            index = f"the full-text index of {engines.described(url)}"
            raise Unavailable(f"{index} cannot be rebuilt: {engines.reason(error)}") from error


def grant(url: str, role: str) -> None:
    """Lets another role of PostgreSQL read and write what it needs; the schema stays ours."""
    with _connection(url, "migrate") as connection, connection.begin():
        if connection.dialect.name != "postgresql":
            raise Unavailable("SQLite knows no roles; --grant is for PostgreSQL")
        named = connection.dialect.identifier_preparer.quote_identifier(role)
        for what in (
            f"USAGE ON SCHEMA public TO {named}",
            f"SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {named}",
        ):
            try:
                connection.exec_driver_sql(f"GRANT {what}")
            except DBAPIError as error:
                raise Unavailable(f"the role {role!r} cannot be granted to: {error.orig}") from None


def current_and_head(url: str) -> tuple[str | None, str]:
    """The schema version that the database has, and the one that this program needs."""
    with _connection(url, "read") as connection:
        return current(connection), head()


@contextmanager
def _connection(url: str, purpose: Purpose) -> Iterator[Connection]:
    engine = engines.make_engine(url, purpose)
    is_open = False
    try:
        with engine.connect() as connection:
            is_open = True
            yield connection
    except DBAPIError as error:
        # A pooler whose server is down may accept the connection and refuse the first statement.
        if is_open and engines.kind_of(engine.url).verdict(engines.original(error)) == "own":
            raise
        # The driver's words name host and port, never the password.
        why = str(error.orig).strip().replace("\n", " ")
        state = "cannot be used" if is_open else "cannot be reached"
        raise Unavailable(f"{engines.described(url)} {state}: {why}") from None
    finally:
        engine.dispose()


def current(connection: Connection) -> str | None:
    """The version that Alembic has noted in the database."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()


@cache
def head() -> str:
    """The newest version, by which its file is named."""
    return max(file.name for file in (scripts() / "versions").glob("[0-9]*.py"))[:4]


def scripts() -> Path:
    """Where the migrations are."""
    return INSTALLED if INSTALLED.is_dir() else BESIDE
