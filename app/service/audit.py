"""The audit: every call with all its names, its state and its results."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from app.core import telling
from app.core.errors import RuleBroken
from app.core.json.text import JsonObject
from app.core.ledger.records import CallRecord
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
    order: Literal["asc", "desc"] = "desc"


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
    broken = store.turns.interrupted(cid)
    size = page.limit + 1 if page.state is None else max(page.limit + 1, _BATCH)
    # Only calls without a result are open, and only those with one have another state, but for
    # those that are interrupted.
    answered = {None: None, "open": False, "interrupted": None}.get(page.state, True)
    at = _place(page.cursor)
    while True:
        batch = store.ledger.call_page(
            cid, limit=size, at=at, answered=answered, newest_first=page.order == "desc"
        )
        for record in batch:
            state = state_of(record.call, record.results, broken=record.call.seq in broken)
            if page.state in (None, state):
                yield record, state
        if len(batch) < size:
            return
        at = (batch[-1].call.seq, batch[-1].call.call_index)


def _place(cursor: str | None) -> tuple[int, int] | None:
    if cursor is None:
        return None
    seq, _, index = cursor.partition(".")
    if not (_NUMBER.fullmatch(seq) and _NUMBER.fullmatch(index)):
        raise RuleBroken(telling.BAD_CURSOR, pointer="?cursor")
    return int(seq), int(index)
