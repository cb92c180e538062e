"""`turnkeep verify`: recompute every id, hash and mapping of stored conversations."""

import argparse
import sys
from typing import Any

from ..settings import SettingsError
from ..start import loaded
from .asking import Asking, Refused, add_asking, all_of, asking, asks_service
from .json_io import json_line
from .looks import add_json
from .text import complain, printable

DAMAGED_KEY = "it was changed, and nobody is let in by it; revoke it and make another"


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "verify",
        description="Recomputes stored conversations and prints what disagrees, API keys included"
        " where all tenants are looked at. An anchor is a file"
        " that says how far each conversation had come: kept elsewhere, it shows what was cut off"
        " or written anew since.",
        epilog="Exit status: 0 all agree; 1 some do not; 2 a wrong setting, or what it was asked"
        " for cannot be read: no such file, no such conversation, an old schema, nobody to ask."
        " With --json a line for each conversation.",
    )
    parser.add_argument("conversation", nargs="*", help="conversation ids (default: all)")
    parser.add_argument("--anchor", metavar="FILE", help="compare with what was so then")
    parser.add_argument("--write-anchor", metavar="FILE", help="write down what is so now")
    add_json(parser)
    add_asking(parser, "all; of conversations that are named, those of a service without keys")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if not asks_service(args):
        status: int = loaded(".cli.checking").run(args)
        return status
    if args.anchor or args.write_anchor:
        raise SettingsError("an anchor is made of a database; name it with --database-url")
    reports = Reports(as_json=args.json)
    try:
        with asking(args) as ask:
            _ask(ask, args.conversation, reports)
    except Refused as refused:
        complain(str(refused))
        return 2
    return 1 if reports.summed_up() else 0


def _ask(ask: Asking, named: list[str], reports: "Reports") -> None:
    for cid in named or (one["id"] for one in all_of(ask.conversations, order="id")):
        try:
            reports.add(cid, ask.verify(cid))
        except Refused as refused:
            # One that was erased since its page was read is no problem.
            if named or refused.status != 1:
                raise


class Reports:
    """What verifying said, printed as it comes: what disagrees, or all of it as JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._good = self._bad = self._keys = self._index = 0

    def add(self, name: str, report: dict[str, Any]) -> None:
        if report["ok"]:
            self._good += 1
        else:
            self._bad += 1
        if self._as_json:
            print(json_line({"conversation_id": name, **report}))
        elif not report["ok"]:
            print(printable(f"{name}: {json_line(report['problems'])}"))

    def lost(self, name: str, what: str) -> None:
        """What is left of a conversation that cannot be verified."""
        self._bad += 1
        told = {"conversation_id": name, "ok": False, "detail": what}
        print(json_line(told) if self._as_json else printable(f"{name}: {what}"))

    def damaged_key(self, key_id: str) -> None:
        self._keys += 1
        told = {"key_id": key_id, "ok": False, "detail": DAMAGED_KEY}
        line = json_line(told) if self._as_json else f"the API key {key_id}: {DAMAGED_KEY}"
        print(printable(line))

    def broken_index(self, fault: str) -> None:
        self._index = 1
        report = {"index": "search", "ok": False, "detail": fault}
        print(json_line(report) if self._as_json else printable(fault))

    def summed_up(self) -> int:
        """How much disagrees; said to people."""
        bad = self._bad + self._keys + self._index
        if not self._as_json:
            told = f"{self._good} conversations agree, {self._bad} do not."
            if self._keys:
                told += f" {self._keys} API keys are damaged."
            print(told, file=sys.stderr if bad else sys.stdout)
        return bad
