"""The command `turnkeep`: one file per command.

To load all of them takes seconds, so only the one that is asked for is loaded.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import Any

from .. import __name__ as package
from .. import __version__
from ..model.errors import TurnkeepError
from ..model.nearest import nearest
from ..model.telling import did_you_mean
from ..settings import SettingsError
from ..start import loaded
from .asking import Refused
from .text import complain

# By what they are for: each command, its file, and what it does.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "see what is stored": {
        "list": ("listing", "conversations, the newest first; those with certain words, tools …"),
        "show": ("show", "one conversation: its head and its turns"),
        "find": ("find", "what any id is: of a call, a turn, a response, a conversation"),
        "replay": ("replay", "the request that a provider takes"),
        "audit": ("audit", "every tool call with the id that each provider knows it by"),
        "diff": ("diff", "what two providers are shown, turn by turn"),
        "tail": ("tail", "the last turns, and new ones as they come"),
        "verify": ("verify", "compute every id, hash and mapping again"),
    },
    "run the service": {
        "serve": ("serve", "serve on http (migrates an SQLite file by itself)"),
        "migrate": ("migrate", "bring the database's schema to the newest one"),
        "doctor": ("doctor", "look at database, disk, port, clock and keys; say what to do"),
        "keys": ("keys", "create, list and revoke API keys"),
        "sweep": ("sweep", "remove conversations and idempotency keys that have expired"),
        "reindex": ("reindex", "make again what conversations are found by"),
    },
    "bring and take": {
        "import": ("importing", "store whole histories from files"),
        "export": ("exporting", "write conversations as JSON lines"),
        "backup": ("backup", "copy an SQLite database while the service runs"),
        "restore": ("backup", "make an SQLite database of a backup"),
    },
    "beside that": {
        "convert": ("convert", "messages, tools or tool ids between providers (no database)"),
        "completion": ("completion", "a script that lets a shell complete all this"),
    },
}
COMMANDS = {name: file for group in GROUPS.values() for name, (file, _) in group.items()}
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else list(argv)
    if isinstance(sys.stdout, TextIOWrapper):
        # Whatever the terminal cannot show is escaped.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(given)
        finally:
            sys.stdout.flush()
    except _problems() as error:
        complain(_words(error))
        return error.status if isinstance(error, Refused) else 2
    except BrokenPipeError:
        # The reader has seen enough (`| head`); without this Python complains once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(given: list[str]) -> int:
    if not given or given[0] not in COMMANDS:
        _explain(given)
        return 0
    args = parser_of(given[:1]).parse_args(given)
    code: int = args.run(args)
    return code


def _explain(given: list[str]) -> None:
    """Lists the commands, or says what is wrong where a command was to stand."""
    parser = _without_command()
    name = parser.parse_known_args(given)[0].command
    if not given:
        parser.print_help()
    elif name != given[0]:
        parser.error(f"{given[0]!r} must stand behind a command; turnkeep --help lists them")
    else:
        meant = did_you_mean(nearest(name, COMMANDS))
        parser.error(f"there is no command {name!r}{meant} turnkeep --help lists them")


class _Parser(argparse.ArgumentParser):
    """Tells itself what it does not know: argparse leaves that to the program as a whole."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, strange = super().parse_known_args(args, namespace)
        if strange:
            flags = [flag for action in self._actions for flag in action.option_strings]
            meant = nearest(strange[0], flags) if strange[0].startswith("-") else None
            told = f"{strange[0]!r} is not known here{did_you_mean(meant)}"
            self.error(f"{told} {self.prog} --help says what is")
        return found, strange


def parser_of(names: Iterable[str]) -> argparse.ArgumentParser:
    """The parser of these commands. Only their files are loaded."""
    parser = _Parser(prog="turnkeep")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for file in dict.fromkeys(COMMANDS[name] for name in names):
        loaded(f".cli.{file}").add_to(commands)
    return parser


def _without_command() -> argparse.ArgumentParser:
    listed = [
        f"{heading}:\n" + "".join(f"  {name:<12}{what}\n" for name, (_, what) in group.items())
        for heading, group in GROUPS.items()
    ]
    parser = argparse.ArgumentParser(
        prog="turnkeep",
        usage="turnkeep COMMAND …",
        description="Keeps the conversations of agents, valid for any provider.",
        epilog="\n".join([*listed, "turnkeep COMMAND --help says more."]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"turnkeep {__version__}")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    return parser


def _words(error: Exception) -> str:
    if not isinstance(error, TurnkeepError):
        return str(error)
    pointer = error.facts.get("pointer")
    # `detail` hides the database's own message from callers of the service; a command shows it.
    line = str(Refused(error.code, getattr(error, "reason", "") or error.detail))
    return f"{pointer}: {line}" if pointer else line


def _problems() -> tuple[type[Exception], ...]:
    """What is told in a line. That of the storage is known where the storage is loaded."""
    engines = sys.modules.get(f"{package}.database.engines")
    return (SettingsError, TurnkeepError, Refused, *([engines.DatabaseUrlError] if engines else []))
