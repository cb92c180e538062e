"""The audit: every call with all its names, its state and its results; and where an id is known."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from app.codecs import PREFIXES
from app.core import ids, telling
from app.core.errors import RuleBroken
from app.core.jsontext import Json, JsonObject
from app.core.records import CallRecord
from app.service.conversations import known
from app.service.recorded import call_json, contents, state_of
from app.storage.store import ReadStore

_NUMBER = re.compile(r"-?[0-9]{1,18}")
# Calls that are looked at together while those in one state are searched.
_BATCH = 512


@dataclass(frozen=True, slots=True)
class Page:
    """Which calls: those in one state, or all; the cursor names the last one of the page before."""

    limit: int = 100
    cursor: str | None = None
    state: str | None = None
    newest_first: bool = True


def tool_calls(store: ReadStore, cid: str, page: Page) -> JsonObject:
    known(store, cid)
    found = list(islice(_in_state(store, cid, page), page.limit + 1))
    shown = found[: page.limit]
    told = contents(store, cid, (record for record, _ in shown))
    more = len(found) > page.limit
    last = shown[-1][0].call if more else None
    return {
        "data": [call_json(record, state, told) for record, state in shown],
        "has_more": more,
        "next_cursor": f"{last.seq}.{last.call_index}" if last else None,
    }


def _in_state(store: ReadStore, cid: str, page: Page) -> Iterator[tuple[CallRecord, str]]:
    """The calls of a page and of all pages behind it, with their states."""
    broken = store.interrupted(cid)
    size = page.limit + 1 if page.state is None else max(page.limit + 1, _BATCH)
    # Only calls without a result are open, and only those with one have another state, but for
    # those that are interrupted.
    answered = {None: None, "open": False, "interrupted": None}.get(page.state, True)
    at = _place(page.cursor)
    while True:
        batch = store.call_page(
            cid, limit=size, at=at, answered=answered, newest_first=page.newest_first
        )
        for record in batch:
            state = state_of(record.call, record.results, broken=record.call.seq in broken)
            if page.state in (None, state):
                yield record, state
        if len(batch) < size:
            return
        at = (batch[-1].call.seq, batch[-1].call.call_index)


def lookup(store: ReadStore, any_id: str, limit: int) -> JsonObject:
    """Where an id is known, as raw id, canonical id, or id that a provider was shown."""
    found: list[tuple[str, str, CallRecord]] = []
    for kind, records in (
        ("canonical", _canonical(store, any_id, limit + 1)),
        ("raw", store.lookup_raw(any_id, limit + 1)),
        ("provider_id", _shown(store, any_id, limit + 1)),
    ):
        found.extend((kind, cid, record) for cid, record in records)
    data: list[Json] = []
    for kind, cid, record in found[:limit]:
        broken = record.call.seq in store.interrupted(cid)
        state = state_of(record.call, record.results, broken=broken)
        told = contents(store, cid, [record])
        data.append({"conversation_id": cid, "kind": kind, **call_json(record, state, told)})
    return {"data": data, "has_more": len(found) > limit, "next_cursor": None}


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
