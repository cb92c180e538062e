"""Alembic at work. It is imported only where there is something to migrate: it is a sixth of all
that a start would import, and most starts find the newest schema."""

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from app.core.errors import Unavailable
from app.storage.migrations import scripts


def migrate(connection: Connection, described: str) -> None:
    """Brings a database to the newest schema, in the transaction of the connection."""
    try:
        command.upgrade(config(connection), "head")
    except CommandError as error:
        known = f"{described} has a schema that this release does not know"
        raise Unavailable(f"{known}: {error}") from None


def config(connection: Connection | None = None) -> Config:
    """Alembic's settings, for this connection."""
    made = Config(attributes={"connection": connection} if connection else {})
    made.set_main_option("script_location", str(scripts()).replace("%", "%%"))
    return made
