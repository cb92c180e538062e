"""What several commands share: flags, the check of the schema, all conversations of a database."""

import argparse
from collections.abc import Callable, Iterator, Sequence

from app.codecs import NICKNAMES
from app.core.errors import Unavailable
from app.core.nearest import nearest_provider
from app.core.telling import did_you_mean
from app.settings import Settings, from_environment
from app.storage.database import DEFAULT_TENANT, Database
from app.storage.engines import database_file, described, is_sqlite
from app.storage.migrations import current_and_head
from app.storage.store import ReadStore

_PAGE = 200
_SETTINGS = ("host", "port", "workers", "log_level", "access_log", "search", "database_url")


def add_database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database-url",
        metavar="URL",
        help="sqlite:///file or postgresql://user@host/db (default sqlite:///turnkeep.db)",
    )


def add_tenant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tenant", default=DEFAULT_TENANT, help=f"whose conversations (default {DEFAULT_TENANT})"
    )


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """The type of a flag that names a format; a wrong name is told the nearest."""

    def named(given: str) -> str:
        if given in names:
            return given
        meant = did_you_mean(
            nearest_provider(given, {one: NICKNAMES.get(one, ()) for one in names})
        )
        raise argparse.ArgumentTypeError(f"must be one of {', '.join(names)}, not {given!r}{meant}")

    return named


def settings_of(args: argparse.Namespace) -> Settings:
    return from_environment(**{name: getattr(args, name, None) for name in _SETTINGS})


def check_schema(url: str) -> None:
    """Raises `Unavailable` unless the database is there and has the newest schema."""
    if is_sqlite(url) and not (file := database_file(url)).exists():
        # SQLite itself would make an empty file.
        if not file.parent.is_dir():
            missing = f"the folder {file.parent} does not exist, hence no {file.name} in it"
            raise Unavailable(missing)
        raise Unavailable(
            f"the file {file.name} does not exist in the folder {file.parent}. Name another one"
            " with --database-url; for a new one run this first: turnkeep migrate"
        )
    current, head = current_and_head(url)
    if current != head:
        raise Unavailable.behind(f"the schema of {described(url)}", current, head)


def all_ids(database: Database) -> Iterator[str]:
    """The ids of all conversations, page by page."""
    after: str | None = None

    def page(store: ReadStore) -> list[str]:
        return store.conversations.ids(_PAGE, after)

    while found := database.read_now(page):
        yield from found
        after = found[-1]
