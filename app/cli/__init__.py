"""The command `turnkeep`: one file per command."""

import argparse
from collections.abc import Sequence

from app import __version__
from app.cli import (
    backup,
    convert,
    exporting,
    importing,
    keys,
    migrate,
    reindex,
    serve,
    sweep,
    verify,
)
from app.cli.words import complain
from app.core.errors import TurnkeepError
from app.settings import SettingsError
from app.storage.database import DatabaseUrlError


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="turnkeep", description="Keeps the conversations of agents, valid for any provider."
    )
    parser.add_argument("--version", action="version", version=f"turnkeep {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (
        *(serve, migrate, reindex, verify, sweep, backup),
        *(convert, importing, exporting, keys),
    ):
        command.add_to(commands)
    args = parser.parse_args(argv)
    try:
        code: int = args.run(args)
    except (SettingsError, TurnkeepError, DatabaseUrlError) as error:
        pointer = error.facts.get("pointer") if isinstance(error, TurnkeepError) else None
        where = f"{pointer}: " if pointer else ""
        complain(f"{where}{error}")
        return 2
    return code
