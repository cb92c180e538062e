"""The flags that several commands share."""

import argparse

from ..settings import Settings, from_environment

_SETTINGS = ("host", "port", "workers", "log_level", "access_log", "search", "database_url")


def add_database(parser: "argparse._ActionsContainer") -> None:
    parser.add_argument(
        "--database-url",
        metavar="URL",
        help="sqlite:///file or postgresql://user@host/db (default sqlite:///turnkeep.db)",
    )


def settings_of(args: argparse.Namespace) -> Settings:
    return from_environment(**{name: getattr(args, name, None) for name in _SETTINGS})
