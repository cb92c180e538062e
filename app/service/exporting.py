"""Exporting a conversation as one line: all of it in the neutral form, or a provider's request.

The neutral line is what `turnkeep import` takes back: the same ids, the same renders.
"""

from dataclasses import dataclass

from app.core.conversation import Turn
from app.core.json.text import Json, JsonObject, dumps_utf8
from app.core.ledger.records import ToolSetRecord
from app.core.render.options import ReplayOptions
from app.core.render.pairing import Links
from app.core.render.pipeline import turn_json
from app.service.conversations import known
from app.service.replay import replay
from app.service.turnform import read_object, read_turn
from app.storage.store import ReadStore


@dataclass(frozen=True, slots=True)
class Exported:
    """A line without its end, and the turns that could not be read and are not in it."""

    line: bytes
    turns: int
    unreadable: tuple[str, ...] = ()


def export(store: ReadStore, cid: str, options: ReplayOptions) -> Exported:
    if options.provider == "neutral":
        return _neutral(store, cid)
    body = replay(store, cid, options).body
    assert body is not None
    return Exported(b"".join(body), known(store, cid).version)


def _neutral(store: ReadStore, cid: str) -> Exported:
    head = known(store, cid)
    links = store.ledger.links(cid)
    shown: list[Json] = []
    unreadable: list[str] = []
    for record in store.turns.page(cid, payloads=False):
        turn = read_turn(record)
        if turn.blocks is None:
            unreadable.append(turn.turn_id)
        else:
            shown.append(exported_turn(turn, links))
    line: JsonObject = {
        "conversation_id": cid,
        "title": head.title,
        "metadata": read_object(head.metadata),
        "turns": shown,
    }
    if sets := {record.at_version: _tool_set(record) for record in store.tools.every(cid)}:
        line["tools"] = list(sets.values())
    return Exported(dumps_utf8(line), len(shown), tuple(unreadable))


def exported_turn(turn: Turn, links: Links) -> JsonObject:
    """The neutral form, and of every matched result the rule that found its call."""
    shown = turn_json(turn, links)
    blocks = shown["blocks"]
    assert isinstance(blocks, list)
    for place, block in enumerate(blocks):
        if isinstance(block, dict) and (link := links.get((turn.seq, place))):
            block["matched_by"] = link.matched_by
    return shown


def _tool_set(record: ToolSetRecord) -> JsonObject:
    """The definitions in the neutral form; of several at one version only the last ever counts."""
    kept = read_object(record.definitions)
    kept.pop("source", None)
    about: JsonObject = {
        "at_version": record.at_version,
        "provider": record.provider,
        "format": record.format,
    }
    return about | kept
