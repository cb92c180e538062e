"""Anchors: how far each conversation had come, in a file that is kept away from the database.

The chain of a conversation shows that something in it was changed. Who writes all of it anew, or
cuts off its end and puts the head back, leaves a chain that is sound; only whoever knew an earlier
head can tell.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..conversations.commands import known
from ..database.store import ReadStore
from ..jsontext.reading import loads
from ..jsontext.writing import dumps_utf8
from ..model.errors import RuleBroken
from ..model.json_values import JsonObject
from ..turns.receipts import note


@dataclass(frozen=True, slots=True)
class Anchor:
    """The head of a conversation. `links`: all hashes that its chains have gone through."""

    version: int = 0
    head: str = ""
    tools: str = ""
    links: frozenset[str] = frozenset()

    def line(self, cid: str) -> bytes:
        said: JsonObject = {"conversation_id": cid, "version": self.version}
        return dumps_utf8(said | {"head": self.head, "tools": self.tools}) + b"\n"

    def against(self, earlier: "Anchor") -> Iterator[JsonObject]:
        """What an earlier anchor says that is not so any more."""
        if self.version < earlier.version:
            detail = f"it has {self.version} turns, and had {earlier.version}"
            yield note("ANCHOR_MISMATCH", None, detail)
        for one in (earlier.head, earlier.tools):
            if one and one not in self.links:
                yield note("ANCHOR_MISMATCH", None, "what it held then was written anew since")


def anchored(store: ReadStore, cid: str) -> Anchor:
    """The anchor of a conversation that verifies."""
    head = known(store, cid)
    links = {
        one.hex()
        for table in ("turns", "turn_revisions", "tool_sets")
        for (one,) in store.stored.rows(table, ("hash",), cid)
    }
    return Anchor(head.version, head.head_hash.hex(), head.tools_hash.hex(), frozenset(links))


def read_anchors(name: str) -> dict[str, Anchor]:
    found: dict[str, Anchor] = {}
    for number, line in enumerate(Path(name).read_text(encoding="utf-8").splitlines(), 1):
        match loads(line):
            case {
                "conversation_id": str(cid),
                "version": int(version),
                "head": str(head),
                "tools": str(tools),
            }:
                found[cid] = Anchor(version, head, tools)
            case _:
                raise RuleBroken(f"Line {number} of {name} must be one that --write-anchor wrote.")
    return found
