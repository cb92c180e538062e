"""The schema's versions, through Alembic's own interface.

`upgrade` may be called by several processes at once: the first one migrates in one transaction,
the others wait for it and find nothing left to do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from app.core.errors import Unavailable
from app.storage import engines, postgres
from app.storage.verdicts import Purpose

# Installed, the migrations are a part of the package; in the repository they stand beside it.
INSTALLED = Path(__file__).parents[1] / "migrations"
SETTINGS = Path(__file__).parents[2] / "migrations.ini"
# Any number will do, if nobody else on the same database uses it: "turnkeep" in ASCII.
_LOCK = int.from_bytes(b"turnkeep", "big")


def upgrade(url: str) -> str | None:
    """Bring the database to the newest schema; gives the version that it had."""
    with _connection(url, "migrate") as connection, connection.begin():
        if engines.kind_of(connection.engine.url) is postgres:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        before = current(connection)
        try:
            command.upgrade(_config(connection), "head")
        except CommandError as error:
            known = f"{engines.described(url)} has a schema that this release does not know"
            raise Unavailable(f"{known}: {error}") from None
    return before


def current_and_head(url: str) -> tuple[str | None, str | None]:
    """The schema version that the database has, and the one that this program needs."""
    with _connection(url, "read") as connection:
        return current(connection), head()


@contextmanager
def _connection(url: str, purpose: Purpose) -> Iterator[Connection]:
    engine = engines.make_engine(url, purpose)
    try:
        try:
            connection = engine.connect()
        except DBAPIError as error:
            # The driver's words name host and port, never the password.
            why = str(error.orig).strip().replace("\n", " ")
            raise Unavailable(f"{engines.described(url)} cannot be reached: {why}") from None
        with connection:
            yield connection
    finally:
        engine.dispose()


def current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@cache
def head() -> str | None:
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config(connection: Connection | None = None) -> Config:
    attributes = {"connection": connection} if connection else {}
    if not INSTALLED.is_dir():
        return Config(SETTINGS, attributes=attributes)
    config = Config(attributes=attributes)
    config.set_main_option("script_location", str(INSTALLED).replace("%", "%%"))
    return config
