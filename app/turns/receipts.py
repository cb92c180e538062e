"""The receipt of an append: which turns were stored under which ids, and what is worth knowing.

A loop can run the tools from it, whoever made the calls: each has its name and its parameters.
"""

from collections.abc import Iterable, Iterator, Sequence

from ..jsontext.arguments import as_given
from ..jsontext.writing import dumps_in_parts, dumps_utf8
from ..ledger.append import Entered
from ..ledger.load_request import Keys
from ..ledger.records import TurnRecord
from ..ledger.slice import Slice
from ..model.conversation import Draft, Remark, Turn
from ..model.json_values import Json, JsonObject
from ..model.usage import Usage
from ..tools.commands import KeepTools
from .turnform import read_turn, usage_of

# A receipt with more calls than this is written in parts.
_MANY = 200


def stored_receipt(
    known: Slice, records: Sequence[TurnRecord], *, texts: bool = False
) -> JsonObject:
    """The receipt of turns that are stored, at the version that has all of them as they are."""
    known.demand(Keys(ledgers_of=frozenset(record.seq for record in records)))
    turns = [read_turn(record) for record in records]
    entered = [
        Entered(
            [call for call in known.book.calls_of(turn.seq) if call.call_index >= 0],
            known.book.results_in(turn.seq),
            [],
        )
        for turn in turns
    ]
    used = [usage_of(record.format, turn) for record, turn in zip(records, turns, strict=True)]
    version = max(record.completed_at or record.seq for record in records)
    whole = [turn.turn_id for turn in turns if turn.completed_at and turn.status == "complete"]
    notes = map(completed_note, whole)
    return receipt_of(known.conversation_id, version, turns, entered, used, notes, texts=texts)


def receipt_of(
    cid: str,
    version: int,
    turns: Sequence[Turn],
    entered: Sequence[Entered],
    used: Sequence[Usage | None],
    before: Iterable[JsonObject] = (),
    *,
    texts: bool = False,
) -> JsonObject:
    """What was stored, under which ids; the notes begin with those that came `before`.

    `texts`: each turn with what it says.
    """
    notes: list[Json] = [*before]
    shown: list[Json] = []
    for turn, what, usage in zip(turns, entered, used, strict=True):
        one = _turn_json(turn, what)
        if texts:
            one["text"] = turn.text()
        if usage:
            one["usage"] = usage.json()
        shown.append(one)
        notes.extend(_notes(what))
    return {"conversation_id": cid, "version": version, "turns": shown, "notes": notes}


def receipt_bytes(receipt: JsonObject) -> bytes:
    """The receipt as it is sent and kept."""
    turns = receipt["turns"]
    assert isinstance(turns, list)
    return dumps_in_parts(receipt) if sum(map(_calls, turns)) > _MANY else dumps_utf8(receipt)


def _calls(turn: Json) -> int:
    calls = turn.get("tool_calls") if isinstance(turn, dict) else None
    return len(calls) if isinstance(calls, list) else 0


def _turn_json(turn: Turn, what: Entered) -> JsonObject:
    blocks = {block.id: block for block in turn.calls()}
    return {
        "turn_id": turn.turn_id,
        "seq": turn.seq,
        "speaker": turn.speaker,
        "tool_calls": [
            {
                "id": call.id,
                "raw_id": call.raw_id,
                "name": call.name,
                "call_index": call.call_index,
                **as_given(blocks[call.id].arguments),
            }
            for call in what.calls
            if call.id in blocks
        ],
        "tool_results": [
            {
                "call_id": result.call_id,
                "raw_id": result.raw_id,
                "matched_by": result.matched_by,
                **({"repeat": True} if result.repeat else {}),
            }
            for result in what.results
        ],
        **({} if turn.status == "complete" else {"status": turn.status}),
    }


def _notes(what: Entered) -> Iterator[JsonObject]:
    for call in what.calls:
        if not call.raw_id:
            yield note("ID_SYNTHESIZED", call.turn_id, "the call came without an id")
    for result in what.results:
        match result.matched_by:
            case "none":
                yield note("ORPHAN_RESULT", result.turn_id, "no call is known for this result yet")
            case "normalized" | "name" | "position" as rule:
                yield note("MATCHED_BY_FALLBACK", result.turn_id, f"matched by {rule}")
            case _:
                pass
    for result in what.adopted:
        yield note("EARLY_RESULT_MATCHED", result.turn_id, "the result's call has arrived")


def note(code: str, turn_id: str | None, detail: str) -> JsonObject:
    return {"code": code, "turn_id": turn_id, "detail": detail}


def completed_note(turn_id: str) -> JsonObject:
    return note("TURN_COMPLETED", turn_id, "it had been interrupted; both are kept")


def tool_notes(order: KeepTools | None) -> Iterator[JsonObject]:
    for said in order.offered.dropped_words() if order else ():
        yield note("TOOL_DROPPED", None, said)
    for one in order.offered.prepared.notes if order else ():
        if one.code == "DESCRIPTION_MISSING":
            yield note(one.code, None, f"{one.tool}: {one.detail}")


def post_notes(
    remarks: Iterable[Remark], drafts: Sequence[Draft], turns: Sequence[Turn]
) -> Iterator[JsonObject]:
    """What was remarked while the body was read: on the whole of it, then turn by turn."""
    for remark in remarks:
        yield note(remark.code, None, remark.detail)
    for draft, turn in zip(drafts, turns, strict=True):
        for remark in draft.notes:
            yield note(remark.code, turn.turn_id, remark.detail)
