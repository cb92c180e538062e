"""`turnkeep verify`: recompute every id, hash and mapping of stored conversations."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
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
from app.storage.database import DEFAULT_TENANT, Database, all_tenants
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
    parser.add_argument(
        "--tenant", help=f"whose (default: all; {DEFAULT_TENANT} where conversations are named)"
    )
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
            return 1 if check(database, args.conversation, args.tenant, anchors, written) else 0
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}")
        return 2


def check(
    database: Database,
    named: Sequence[str] = (),
    tenant_id: str | None = None,
    anchors: dict[str, Anchor] | None = None,
    written: BinaryIO | None = None,
) -> int:
    """Prints what disagrees; returns in how many conversations something does."""
    tenants = [tenant_id or DEFAULT_TENANT]
    if tenant_id is None and not named:
        tenants = database.ask_keys_now(all_tenants)
    work = _Work(anchors or {}, written)
    for mine in map(database.of, tenants):
        work.all(mine, named)
    if not named and tenant_id is None:
        work.gone(database)
    told = f"{work.good} conversations agree, {work.bad} do not."
    print(told, file=sys.stderr if work.bad else sys.stdout)
    return work.bad


class _Work:
    """`anchors`: by tenant and conversation."""

    def __init__(self, anchors: dict[str, Anchor], written: BinaryIO | None) -> None:
        self._anchors = anchors
        self._written = written
        self.good = self.bad = 0

    def all(self, mine: Database, named: Sequence[str]) -> None:
        for cid in named or all_ids(mine):
            if not named and not CONVERSATION_ID.fits(cid):
                self._tell(_name(mine.tenant_id, cid), "no conversation can have this id")
                continue
            # One that was erased since its page was read is no problem.
            with nullcontext() if named else suppress(ConversationNotFound):
                self._one(mine, cid)

    def _one(self, mine: Database, cid: str) -> None:
        name = _name(mine.tenant_id, cid)
        anchor = self._anchors.pop(name, None)
        report, now, broken = mine.read_now(partial(_checked, cid=cid, anchor=anchor))
        if not report["ok"] or broken:
            problems = report["problems"]
            assert isinstance(problems, list)
            self._tell(name, dumps_utf8([*problems, *broken]).decode())
            return
        self.good += 1
        if self._written:
            self._written.write(now.line(name))

    def gone(self, database: Database) -> None:
        """What is left of conversations without a head, and those that an anchor knows alone."""
        left: dict[str, list[str]] = defaultdict(list)
        for tenant_id, cid, table in database.read_now(lambda store: list(store.stored.headless())):
            left[_name(tenant_id, cid)].append(table)
        for name, tables in left.items():
            self._tell(name, f"the conversation is gone, but there are rows of it in {tables}")
        for name in sorted(self._anchors.keys() - left.keys()):
            self._tell(name, "the conversation of the anchor is gone")

    def _tell(self, name: str, what: str) -> None:
        self.bad += 1
        print(printable(f"{name}: {what}"))


def _name(tenant_id: str, cid: str) -> str:
    """Of the tenant of a service without keys nobody need be told the name."""
    return cid if tenant_id == DEFAULT_TENANT else f"{tenant_id} {cid}"


def _checked(
    store: ReadStore, cid: str, anchor: Anchor | None
) -> tuple[JsonObject, Anchor, list[JsonObject]]:
    """All in one snapshot: what verifying says, what an anchor says now, what is against one."""
    report = verify(store, cid)
    if not report["ok"]:
        return report, Anchor(), []
    now = anchored(store, cid)
    return report, now, list(now.against(anchor)) if anchor else []
