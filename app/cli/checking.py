"""Verifying conversations of a database: every id, hash and mapping is computed again."""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from typing import BinaryIO

from ..database.database import DEFAULT_TENANT, Database, all_tenants
from ..database.store import ReadStore
from ..model.errors import ConversationNotFound
from ..model.forms import CONVERSATION_ID
from ..model.json_values import JsonObject
from ..verify.queries import verify
from .anchors import Anchor, anchored, read_anchors
from .databases import all_ids, opened
from .flags import settings_of
from .output import output
from .text import Progress, complain
from .verify import Reports


def run(args: argparse.Namespace) -> int:
    try:
        with opened(settings_of(args)) as database, ExitStack() as stack:
            anchors = read_anchors(args.anchor) if args.anchor else {}
            written = stack.enter_context(output(args.write_anchor)) if args.write_anchor else None
            work = _Work(anchors, written, as_json=args.json)
            return 1 if work.of(database, args.conversation, args.tenant) else 0
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}")
        return 2


def check(database: Database) -> int:
    """Prints what disagrees in all conversations and keys; returns in how many something does."""
    return _Work({}, None).of(database)


class _Work:
    """`anchors`: by tenant and conversation."""

    def __init__(
        self, anchors: dict[str, Anchor], written: BinaryIO | None, *, as_json: bool = False
    ) -> None:
        self._anchors = anchors
        self._written = written
        self._reports = Reports(as_json=as_json)
        self._progress = Progress(0)
        self._count = 0

    def of(
        self, database: Database, named: Sequence[str] = (), tenant_id: str | None = None
    ) -> int:
        tenants = [tenant_id or DEFAULT_TENANT]
        if tenant_id is None and not named:
            tenants = database.ask_keys_now(all_tenants)
        for mine in map(database.of, tenants):
            self.all(mine, named)
        self._progress.clear()
        if not named and tenant_id is None:
            self.gone(database)
        return self._reports.summed_up()

    def all(self, mine: Database, named: Sequence[str]) -> None:
        for cid in named or all_ids(mine):
            if not named and not CONVERSATION_ID.fits(cid):
                self._reports.lost(_name(mine.tenant_id, cid), "no conversation can have this id")
                continue
            # One that was erased since its page was read is no problem.
            with nullcontext() if named else suppress(ConversationNotFound):
                self._one(mine, cid)

    def _one(self, mine: Database, cid: str) -> None:
        name = _name(mine.tenant_id, cid)
        anchor = self._anchors.pop(name, None)
        report, now, broken = mine.read_now(partial(_checked, cid=cid, anchor=anchor))
        self._count += 1
        self._progress.clear()
        problems = report["problems"]
        assert isinstance(problems, list)
        found = [*problems, *broken]
        self._reports.add(name, report | {"ok": not found, "problems": found})
        if self._written and not found:
            self._written.write(now.line(name))
        self._progress.show(self._count, f"{self._count} conversations")

    def gone(self, database: Database) -> None:
        """What is left of conversations without a head, those that an anchor knows alone, and keys
        that were changed."""
        left: dict[str, list[str]] = defaultdict(list)
        for tenant_id, cid, table in database.read_now(lambda store: list(store.stored.headless())):
            left[_name(tenant_id, cid)].append(table)
        for name, tables in left.items():
            what = f"the conversation is gone, but there are rows of it in {tables}"
            self._reports.lost(name, what)
        for name in sorted(self._anchors.keys() - left.keys()):
            self._reports.lost(name, "the conversation of the anchor is gone")
        if fault := database.index_fault():
            self._reports.broken_index(fault)
        for key_id in database.ask_keys_now(lambda keys: keys.damaged()):
            self._reports.damaged_key(key_id)


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
