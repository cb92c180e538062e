"""What commands need of a database: opening it, its schema, all conversations, whose."""

import argparse
import shlex
from collections.abc import Iterator

from ..database.database import DEFAULT_TENANT, Database
from ..database.engines import database_file, described, is_sqlite, without_password
from ..database.migrations import current_and_head
from ..database.store import ReadStore
from ..model.errors import Unavailable
from ..settings import Settings, from_environment

_PAGE = 200


def add_tenant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tenant", default=DEFAULT_TENANT, help=f"whose conversations (default {DEFAULT_TENANT})"
    )


def opened(settings: Settings, tenant_id: str = DEFAULT_TENANT) -> Database:
    """The database, if it is there and has the newest schema."""
    check_schema(settings.database_url)
    return database_of(settings, tenant_id)


def database_of(settings: Settings, tenant_id: str = DEFAULT_TENANT) -> Database:
    """The database that the settings name, used as they say."""
    return Database(
        settings.database_url,
        tenant_id=tenant_id,
        pg_prepared_statements=settings.pg_prepared_statements,
        search=settings.search,
    )


def check_schema(url: str) -> None:
    """Raises `Unavailable` unless the database is there and has the newest schema."""
    check_file(url)
    current, head = current_and_head(url)
    if current != head:
        todo = command("migrate", url)
        raise Unavailable.behind(f"the schema of {described(url)}", current, head, todo)


def command(name: str, url: str) -> str:
    """A command to run on this database. It names the database unless the environment does."""
    if url == from_environment().database_url:
        return f"turnkeep {name}"
    return f"turnkeep {name} --database-url {shlex.quote(without_password(url))}"


def check_file(url: str) -> None:
    """Raises `Unavailable` for a file that is not there: SQLite itself would make an empty one."""
    if not is_sqlite(url) or (file := database_file(url)).exists():
        return
    if not file.parent.is_dir():
        raise Unavailable(
            f"the folder {file.parent} does not exist, hence no {file.name} in it. Name another"
            " file with --database-url"
        )
    raise Unavailable(
        f"the file {file.name} does not exist in the folder {file.parent}. Name another one"
        f" with --database-url; for a new one run this first: {command('migrate', url)}"
    )


def all_ids(database: Database) -> Iterator[str]:
    """The ids of all conversations, page by page."""
    after: str | None = None

    def page(store: ReadStore) -> list[str]:
        return store.conversations.ids(_PAGE, after)

    while found := database.read_now(page):
        yield from found
        after = found[-1]
