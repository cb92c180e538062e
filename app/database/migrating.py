"""Alembic at work. It is imported only where there is something to migrate: it is a sixth of all
that a start would import, and most starts find the newest schema."""

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from ..model.errors import Unavailable
from .migrations import head, scripts


def migrate(connection: Connection, before: str | None, described: str) -> None:
    """Brings a database to the newest schema, in the transaction of the connection."""
    settings = config(connection)
    oldest = ScriptDirectory.from_config(settings).get_base() or head()
    if before and before < oldest:
        raise Unavailable(
            f"{described} is at {before}, a schema from before the first release; this release"
            f" upgrades from {oldest} on. Export the conversations with the version that wrote it"
            " (turnkeep export --all), and import them into a new database"
        )
    if before and before > head():
        raise Unavailable.behind(f"the schema of {described}", before, head())
    command.upgrade(settings, "head")


def config(connection: Connection | None = None) -> Config:
    """Alembic's settings, for this connection."""
    made = Config(attributes={"connection": connection} if connection else {})
    made.set_main_option("script_location", str(scripts()).replace("%", "%%"))
    return made
