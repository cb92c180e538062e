"""Runs the migrations, for the program and for people with the `alembic` command.

The program hands over its connection in `config.attributes["connection"]`. By hand the database
is `alembic -c migrations.ini -x url=… upgrade head`, or else TURNKEEP_DATABASE_URL.
"""

from alembic import context
from sqlalchemy import Connection

from app.database.engines import engine_url, make_engine
from app.database.tables import metadata
from app.settings import from_environment


def chosen_url() -> str:
    flag = context.get_x_argument(as_dictionary=True).get("url")
    return from_environment(database_url=flag).database_url


def migrate(connection: Connection) -> None:
    # One tree serves both databases. SQLite can change a table only by copying it, so what is
    # generated is always written as a batch; elsewhere a batch is plain ALTER TABLE.
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


def write_sql() -> None:
    """Print the statements instead of running them (`alembic upgrade head --sql`)."""
    context.configure(
        url=engine_url(chosen_url()),
        target_metadata=metadata,
        render_as_batch=True,
        literal_binds=True,
        dialect_opts={"paramstyle": "named"},
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if context.is_offline_mode():
    write_sql()
elif given is not None:
    migrate(given)
else:
    # In one transaction, also on SQLite, where Alembic by itself would begin none.
    with make_engine(chosen_url(), "migrate").begin() as connection:
        migrate(connection)
