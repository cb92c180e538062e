"""The audit: every call with all its names, its state, what it was given and got.

What was said stands in the turns, so each turn that a page needs is read once, a few at a time.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from typing import Literal

from ..conversations.commands import known
from ..database.store import ReadStore
from ..formats.registry import TARGETS, provider_id
from ..ledger.records import CALL_COLUMNS, RULES, Call, CallRecord, ResultRecord
from ..model import ids, telling
from ..model.conversation import STATUSES, is_real, last_real
from ..model.errors import RuleBroken
from ..model.json_values import JsonObject
from ..turns.turnform import read_turn
from .excerpts import given_excerpt, result_excerpt

_NUMBER = re.compile(r"-?[0-9]{1,18}")
# Calls that are looked at together while those in one state are searched.
_BATCH = 512
# Turns may be long: this many are held at once.
_HELD = 32
# A hashed id that somebody had forged before is salted; hardly ever once, never so often.
_SALTS = ("", "~", "~~")
_PLACES = 1_024
_STATES = frozenset({"denied", "interrupted", "unknown"})


@dataclass(frozen=True, slots=True)
class Page:
    """Which calls: those in one state, or all; the cursor names the last one of the page before."""

    limit: int = 100
    cursor: str | None = None
    state: str | None = None
    order: Literal["asc", "desc"] = "desc"


def tool_calls(store: ReadStore, cid: str, page: Page) -> JsonObject:
    shown, place = _found(store, cid, page)
    told = contents(store, cid, (record for record, _ in shown))
    return {
        "data": [call_json(record, state, told) for record, state in shown],
        "has_more": place is not None,
        "next_cursor": place,
    }


def table(store: ReadStore, cid: str, page: Page) -> tuple[bytes, str | None]:
    """Lines of the whole table as CSV, and where the next ones begin; the first with its head."""
    shown, place = _found(store, cid, page)
    text = StringIO()
    lines = csv.writer(text)
    if page.cursor is None:
        lines.writerow((*CALL_COLUMNS, *TARGETS))
    lines.writerows(_cells(record, state) for record, state in shown)
    return text.getvalue().encode(errors="backslashreplace"), place


def _found(
    store: ReadStore, cid: str, page: Page
) -> tuple[list[tuple[CallRecord, str]], str | None]:
    """The calls of a page with their states, and the cursor of the next one, if there is one."""
    known(store, cid)
    found = list(islice(_in_state(store, cid, page), page.limit + 1))
    last = found[page.limit - 1][0].call if len(found) > page.limit else None
    return found[: page.limit], f"{last.seq}.{last.call_index}" if last else None


def _cells(record: CallRecord, state: str) -> Iterator[str | int | None]:
    call, chosen = record.call, chosen_result(record.results)
    yield from (call.seq, telling.cell(call.turn_id), call.call_index)
    yield from map(telling.cell, (call.provider, call.model, call.name, call.raw_id))
    yield from (call.id, state)
    yield from (chosen.matched_by, telling.cell(chosen.turn_id)) if chosen else (None, None)
    yield telling.cell(hash_input(call))
    for target in TARGETS:
        yield telling.cell(provider_id(target, call.id, call.provider_ids))


def _in_state(store: ReadStore, cid: str, page: Page) -> Iterator[tuple[CallRecord, str]]:
    """The calls of a page and of all pages behind it, with their states."""
    broken = store.turns.interrupted(cid)
    size = page.limit + 1 if page.state is None else max(page.limit + 1, _BATCH)
    # Only calls without a result are open, and only those with one have another state, but for
    # those that are interrupted.
    answered = {None: None, "open": False, "interrupted": None}.get(page.state, True)
    at = _place(page.cursor)
    while True:
        batch = store.ledger.calls(
            cid, limit=size, after=at, answered=answered, newest_first=page.order == "desc"
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


@dataclass(frozen=True, slots=True)
class Contents:
    """What calls were given (by canonical id), and results said (by seq and place), with times."""

    calls: Mapping[str, JsonObject] = field(default_factory=dict)
    results: Mapping[tuple[int, int], JsonObject] = field(default_factory=dict)


def contents(
    store: ReadStore, cid: str, records: Iterable[CallRecord], orphans: Iterable[ResultRecord] = ()
) -> Contents:
    """What these calls and their results say, and these results without a call."""
    calls: dict[int, set[str]] = {}
    results: dict[int, set[int]] = {}
    shown = list(orphans)
    for record in records:
        calls.setdefault(record.call.seq, set()).add(record.call.id)
        if chosen := chosen_result(record.results):
            shown.append(chosen)
    for result in shown:
        results.setdefault(result.seq, set()).add(result.place)
    given: dict[str, JsonObject] = {}
    said: dict[tuple[int, int], JsonObject] = {}
    seqs = sorted(calls.keys() | results.keys())
    for start in range(0, len(seqs), _HELD):
        for version in store.turns.versions(cid, seqs[start : start + _HELD]):
            turn, seq, now = read_turn(version), version.seq, version.created_at.isoformat()
            for call in turn.calls():
                if call.id in calls.get(seq, ()):
                    # One of several versions of its turn: given as in the last, stored with the
                    # first.
                    first = given.get(call.id, {}).get("created_at", now)
                    given[call.id] = {**given_excerpt(call.arguments), "created_at": first}
            for place, block in turn.results():
                if place in results.get(seq, ()):
                    said[seq, place] = {**result_excerpt(block), "created_at": now}
    return Contents(given, said)


def call_json(record: CallRecord, state: str, told: Contents) -> JsonObject:
    """A call of the audit. What stands in a turn that cannot be read any more is left out."""
    call = record.call
    chosen = chosen_result(record.results)
    return {
        "id": call.id,
        "raw_id": call.raw_id,
        "provider": call.provider,
        "model": call.model,
        "name": call.name,
        "turn_id": call.turn_id,
        "seq": call.seq,
        "call_index": call.call_index,
        "state": state,
        "hash_input": hash_input(call),
        **told.calls.get(call.id, {}),
        "ids": {target: provider_id(target, call.id, call.provider_ids) for target in TARGETS},
        "result": result_json(chosen, told) if chosen else None,
        "repeats": [result_json(one) for one in record.results if one is not chosen],
    }


def hash_input(call: Call) -> str | None:
    """The text whose hash is the canonical id; None for an id that came with its call."""
    # Where the newest version of the turn does not make the call, its place is not known any more.
    is_known = call.call_index >= 0
    for place in [call.call_index] if is_known else range(_PLACES):
        for salt in _SALTS if is_known else _SALTS[:1]:
            turn = call.turn_id + salt
            text = ids.canonical_input(call.provider, call.raw_id, call.name, turn, place)
            if ids.canonical_of(text) == call.id:
                return text
    return None


def result_json(result: ResultRecord, told: Contents | None = None) -> JsonObject:
    if result.status not in STATUSES or result.matched_by not in RULES:
        raise ValueError("the row of the result is damaged")
    return {
        "turn_id": result.turn_id,
        "seq": result.seq,
        "raw_id": result.raw_id,
        "matched_by": result.matched_by,
        "status": result.status,
        **(told.results.get((result.seq, result.place), {}) if told else {}),
    }


def state_of(call: Call, results: Sequence[ResultRecord], *, broken: bool) -> str:
    """`broken`: the stream of its turn broke, and was not completed."""
    if call.call_index < 0:
        # The newest version of its turn does not make it any more.
        return "superseded"
    chosen = chosen_result(results)
    if chosen is None:
        return "interrupted" if broken else "open"
    return chosen.status if chosen.status in _STATES else "answered"


def chosen_result(results: Sequence[ResultRecord]) -> ResultRecord | None:
    """The result that replays show."""
    return last_real(results, lambda one: is_real(one.status))
