"""`turnkeep verify`: recompute every id, hash and mapping of stored conversations."""

import argparse
import sys
from collections import defaultdict
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from typing import BinaryIO

from app.cli.anchors import Anchor, anchored, read_anchors
from app.cli.options import add_database, all_ids, check_schema, settings_of
from app.cli.output import output
from app.cli.words import complain, printable
from app.core.errors import ConversationNotFound
from app.core.identity.forms import CONVERSATION_ID
from app.core.json.text import JsonObject, dumps_utf8
from app.service.verify import verify
from app.storage.database import Database
from app.storage.store import ReadStore


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "verify",
        help="recompute every id, hash and mapping",
        description="Recomputes stored conversations and prints what disagrees. An anchor is a file"
        " that says how far each conversation had come: kept elsewhere, it shows what was cut off"
        " or written anew since.",
        epilog="Exit status: 0 all agree; 1 some do not; 2 a wrong setting, or what it was asked"
        " for cannot be read: no such file, no such conversation, an old schema.",
    )
    parser.add_argument("conversation", nargs="*", help="conversation ids (default: all)")
    parser.add_argument("--anchor", metavar="FILE", help="compare with what was so then")
    parser.add_argument("--write-anchor", metavar="FILE", help="write down what is so now")
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    url = settings_of(args).database_url
    check_schema(url)
    try:
        anchors = read_anchors(args.anchor) if args.anchor else {}
        with Database(url) as database, ExitStack() as stack:
            written = stack.enter_context(output(args.write_anchor)) if args.write_anchor else None
            return _Work(database, anchors, written).all(args.conversation)
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}")
        return 2


class _Work:
    def __init__(
        self, database: Database, anchors: dict[str, Anchor], written: BinaryIO | None
    ) -> None:
        self._database = database
        self._anchors = anchors
        self._written = written
        self._good = self._bad = 0

    def all(self, named: list[str]) -> int:
        for cid in named or all_ids(self._database):
            if not named and not CONVERSATION_ID.fits(cid):
                self._tell(cid, "no conversation can have this id")
                continue
            # One that was erased since its page was read is no problem.
            with nullcontext() if named else suppress(ConversationNotFound):
                self._one(cid)
        if not named:
            self._gone()
        told = f"{self._good} conversations agree, {self._bad} do not."
        print(told, file=sys.stderr if self._bad else sys.stdout)
        return 1 if self._bad else 0

    def _one(self, cid: str) -> None:
        anchor = self._anchors.pop(cid, None)
        report, now, broken = self._database.read_now(partial(_checked, cid=cid, anchor=anchor))
        if not report["ok"] or broken:
            problems = report["problems"]
            assert isinstance(problems, list)
            self._tell(cid, dumps_utf8([*problems, *broken]).decode())
            return
        self._good += 1
        if self._written:
            self._written.write(now.line(cid))

    def _gone(self) -> None:
        """What is left of conversations without a head, and those that an anchor knows alone."""
        left: dict[str, list[str]] = defaultdict(list)
        for cid, table in self._database.read_now(lambda store: list(store.stored.headless())):
            left[cid].append(table)
        for cid, tables in left.items():
            self._tell(cid, f"the conversation is gone, but there are rows of it in {tables}")
        for cid in sorted(self._anchors.keys() - left.keys()):
            self._tell(cid, "the conversation of the anchor is gone")

    def _tell(self, cid: str, what: str) -> None:
        self._bad += 1
        print(printable(f"{cid}: {what}"))


def _checked(
    store: ReadStore, cid: str, anchor: Anchor | None
) -> tuple[JsonObject, Anchor, list[JsonObject]]:
    """All in one snapshot: what verifying says, what an anchor says now, what is against one."""
    report = verify(store, cid)
    if not report["ok"]:
        return report, Anchor(), []
    now = anchored(store, cid)
    return report, now, list(now.against(anchor)) if anchor else []
