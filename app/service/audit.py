"""The audit: every call with all its names, its state and its results; and where an id is known."""

import re
from collections.abc import Collection, Iterable

from app.codecs import PREFIXES, TARGETS, shown_id
from app.core import ids, telling
from app.core.errors import RuleBroken
from app.core.jsontext import Json, JsonObject
from app.core.ledger import Call
from app.core.records import CallRecord, ResultRecord
from app.service.conversations import known
from app.storage.store import ReadStore

_NUMBER = re.compile(r"-?[0-9]{1,18}")
_STATES = {"denied": "denied", "interrupted": "interrupted", "unknown": "unknown"}


def tool_calls(store: ReadStore, cid: str, limit: int, cursor: str | None) -> JsonObject:
    """A page of calls in call order; the cursor names the last call of the page before."""
    known(store, cid)
    records = store.calls(cid, limit=limit + 1, after=_place(cursor))
    page = records[:limit]
    more = len(records) > limit
    last = page[-1].call if more else None
    interrupted = store.interrupted(cid)
    return {
        "data": [call_json(record, interrupted) for record in page],
        "has_more": more,
        "next_cursor": f"{last.seq}.{last.call_index}" if last else None,
    }


def lookup(store: ReadStore, any_id: str, limit: int) -> JsonObject:
    """Where an id is known, as raw id, canonical id, or id that a provider was shown."""
    found: list[tuple[str, str, CallRecord]] = []
    for kind, records in (
        ("canonical", _canonical(store, any_id, limit + 1)),
        ("raw", store.lookup_raw(any_id, limit + 1)),
        ("provider_id", _shown(store, any_id, limit + 1)),
    ):
        found.extend((kind, cid, record) for cid, record in records)
    interrupted = {cid: store.interrupted(cid) for cid in {cid for _, cid, _ in found}}
    data: list[Json] = [
        {"conversation_id": cid, "kind": kind, **call_json(record, interrupted[cid])}
        for kind, cid, record in found
    ]
    return {"data": data[:limit], "has_more": len(data) > limit, "next_cursor": None}


def _canonical(store: ReadStore, any_id: str, limit: int) -> Iterable[tuple[str, CallRecord]]:
    return store.lookup_canonical(any_id, limit) if ids.is_canonical(any_id) else ()


def _shown(store: ReadStore, any_id: str, limit: int) -> Iterable[tuple[str, CallRecord]]:
    yield from store.lookup_shown(any_id, limit)
    if canonical := ids.from_prefixed(any_id, PREFIXES):
        yield from store.lookup_canonical(canonical, limit)


def _place(cursor: str | None) -> tuple[int, int] | None:
    if cursor is None:
        return None
    seq, _, index = cursor.partition(".")
    if not (_NUMBER.fullmatch(seq) and _NUMBER.fullmatch(index)):
        raise RuleBroken(telling.BAD_CURSOR, pointer="?cursor")
    return int(seq), int(index)


def call_json(record: CallRecord, interrupted: Collection[int] = ()) -> JsonObject:
    """A call of the audit; `interrupted` are the turns whose streams broke."""
    call = record.call
    chosen = _chosen(record.results)
    return {
        "id": call.id,
        "raw_id": call.raw_id,
        "provider": call.provider,
        "model": call.model,
        "name": call.name,
        "turn_id": call.turn_id,
        "seq": call.seq,
        "call_index": call.call_index,
        "state": _state(call, chosen, interrupted),
        "ids": {target: shown_id(target, call.id, call.shown) for target in TARGETS},
        "result": _result_json(chosen) if chosen else None,
        "repeats": [_result_json(one) for one in record.results if one is not chosen],
    }


def _state(call: Call, chosen: ResultRecord | None, interrupted: Collection[int]) -> str:
    if call.call_index < 0:
        # The newest version of its turn does not make it any more.
        return "superseded"
    if chosen is None:
        return "interrupted" if call.seq in interrupted else "open"
    return _STATES.get(chosen.status, "answered")


def _chosen(results: list[ResultRecord]) -> ResultRecord | None:
    """The result that replays show: the last real one."""
    real = [one for one in results if one.status not in ("interrupted", "unknown")] or results
    return real[-1] if real else None


def _result_json(result: ResultRecord) -> JsonObject:
    return {
        "turn_id": result.turn_id,
        "seq": result.seq,
        "raw_id": result.raw_id,
        "matched_by": result.matched_by,
        "status": result.status,
    }
