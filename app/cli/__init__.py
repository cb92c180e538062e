"""The command `turnkeep`: one file per command."""

import argparse
import sys
from collections.abc import Sequence

from app import __version__
from app.cli import exporting, importing, migrate, serve, verify
from app.core.errors import TurnkeepError
from app.settings import SettingsError
from app.storage.database import DatabaseUrlError


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="turnkeep", description="Keeps the conversations of agents, valid for any provider."
    )
    parser.add_argument("--version", action="version", version=f"turnkeep {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (serve, migrate, verify, importing, exporting):
        command.add_to(commands)
    args = parser.parse_args(argv)
    try:
        code: int = args.run(args)
    except (SettingsError, TurnkeepError, DatabaseUrlError) as error:
        print(f"turnkeep: {error}", file=sys.stderr)
        return 2
    return code
