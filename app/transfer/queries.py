"""Exporting a conversation as one line: all of it in the neutral form, or a provider's request.

The neutral line is what `turnkeep import` takes back: the same ids, the same matches, the same
renders. It ends with the sha256 of what stands before it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ..conversations.commands import known
from ..database.store import ReadStore
from ..formats.neutral.originals import original_json
from ..jsontext.plain import read_object
from ..jsontext.writing import dumps_utf8
from ..ledger.pairing import Links, turn_json
from ..ledger.records import ToolSetRecord, TurnRecord
from ..model.conversation import Turn
from ..model.json_values import Json, JsonObject
from ..replay.options import ReplayOptions
from ..replay.queries import replay
from ..turns.turnform import read_turn
from .sums import summed


@dataclass(frozen=True, slots=True)
class Exported:
    """A line without its end, and what could not be read and is not in it, in words."""

    line: bytes
    turns: int
    unreadable: tuple[str, ...] = ()


def export(store: ReadStore, cid: str, options: ReplayOptions) -> Exported:
    if options.provider == "neutral":
        return _neutral(store, cid)
    body = b"".join(replay(store, cid, options))
    return Exported(body, known(store, cid).version)


def _neutral(store: ReadStore, cid: str) -> Exported:
    head = known(store, cid)
    links = store.ledger.links(cid)
    records = store.turns.page(cid, payloads=False)
    earlier = _earlier(store, cid, records)
    shown: list[Json] = []
    unreadable: list[str] = []
    left_out: list[int] = []
    for record in records:
        turn = read_turn(record)
        if turn.blocks is None:
            unreadable.append(f"the turn {turn.turn_id}")
            left_out.append(turn.seq)
            continue
        one = exported_turn(turn, links)
        before = earlier.get(turn.seq, [])
        if None in before:
            unreadable.append(f"an earlier version of the turn {turn.turn_id}")
        elif before:
            one["earlier"] = [*before]
        shown.append(one)
    line: JsonObject = {
        "conversation_id": cid,
        "title": head.title,
        "metadata": read_object(head.metadata),
    }
    if head.expires_after is not None:
        line["expires_after"] = head.expires_after
    line["turns"] = [*shown]
    if sets := {
        record.at_version: _tool_set(record, left_out) for record in store.tools.every(cid)
    }:
        line["tools"] = list(sets.values())
    return Exported(summed(dumps_utf8(line)), len(shown), tuple(unreadable))


def _earlier(
    store: ReadStore, cid: str, records: Sequence[TurnRecord]
) -> dict[int, list[JsonObject | None]]:
    """The earlier versions of turns that were completed, by seq; None for one that cannot be read.

    Each says when the next one took its place: the order in which calls and results came decides
    about ids and matches.
    """
    completed = [record.seq for record in records if record.completed_at is not None]
    # As they were posted first, then all later ones in the order of their numbers.
    versions = store.turns.versions(cid, completed)
    found: dict[int, list[JsonObject | None]] = defaultdict(list)
    last = {record.seq: record for record in versions[: len(completed)]}
    for number, record in enumerate(versions[len(completed) :], 1):
        turn = read_turn(last[record.seq])
        until: JsonObject = {"until_version": record.completed_at, "until_revision": number}
        readable = turn.blocks is not None
        # Which calls its results had found is not stored; the rules find them again.
        found[record.seq].append(exported_turn(turn, {}) | until if readable else None)
        last[record.seq] = record
    return found


def exported_turn(turn: Turn, links: Links) -> JsonObject:
    """The neutral form, of every matched result the rule that found its call, and how the turn was
    posted."""
    shown = turn_json(turn, links)
    blocks = shown["blocks"]
    assert isinstance(blocks, list)
    for place, block in enumerate(blocks):
        if isinstance(block, dict) and (link := links.get((turn.seq, place))):
            block["matched_by"] = link.matched_by
    if turn.original and turn.original.blocks:
        shown["original"] = original_json(turn.original)
    elif turn.posted_as not in ("", "neutral"):
        shown["format"] = turn.posted_as
    return shown


def _tool_set(record: ToolSetRecord, left_out: Sequence[int]) -> JsonObject:
    """The definitions in the neutral form; of several at one version only the last ever counts.

    Turns that are left out do not count.
    """
    kept = read_object(record.definitions)
    kept.pop("source", None)
    about: JsonObject = {
        "at_version": record.at_version - sum(seq <= record.at_version for seq in left_out),
        "provider": record.provider,
        "format": record.format,
    }
    return about | kept
