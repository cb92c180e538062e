"""The flags that several commands share."""

import argparse
import sys

from app.core.errors import Unavailable
from app.settings import Settings, from_environment
from app.storage.engines import database_file, described, is_sqlite
from app.storage.migrations import current_and_head

_SETTINGS = ("host", "port", "workers", "log_level", "database_url")


def add_database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database-url",
        metavar="URL",
        help="sqlite:///file or postgresql://user@host/db (default sqlite:///turnkeep.db)",
    )


def settings_of(args: argparse.Namespace) -> Settings:
    return from_environment(**{name: getattr(args, name, None) for name in _SETTINGS})


def check_schema(url: str) -> None:
    """Raises `Unavailable` unless the database is there and has the newest schema."""
    if is_sqlite(url) and not database_file(url).exists():
        raise Unavailable(f"there is no file {described(url)}; run this first: turnkeep migrate")
    current, head = current_and_head(url)
    if current != head:
        raise Unavailable(
            f"the schema of {described(url)} is at {current or 'nothing'}, this release needs"
            f" {head}; run this first: turnkeep migrate"
        )


def complain(words: str) -> None:
    """One line on standard error; what would move the cursor or end the line is escaped."""
    plain = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in words)
    print(f"turnkeep: {plain}", file=sys.stderr)
