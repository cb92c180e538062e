"""Bookkeeping: what a stored turn changes in the ledger.

One procedure for appending (over a database) and for checking (over memory): new calls get their
assigned ids, results that waited for them are adopted, and the turn's own results find their calls.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.core.conversation import ToolResult, Turn
from app.core.identity import ids
from app.core.ledger.matching import Call, CallBook, Match, MemoryBook, match
from app.core.ledger.records import AssignedId, ResultRecord
from app.core.wire.codec import Assigned


class Ledger(CallBook, Protocol):
    """A call book that can be written to."""

    def highest(self, target: str) -> int: ...

    def taken(self, target: str, provider_id: str) -> bool: ...

    def waiting(
        self, raw_ids: Collection[str], normalized: Collection[str]
    ) -> Sequence[ResultRecord]:
        """Results that no call has claimed yet, with one of these ids, oldest first."""

    def add_calls(self, calls: Sequence[Call], assigned: Sequence[AssignedId]) -> None: ...

    def add_results(self, results: Sequence[ResultRecord]) -> None: ...

    def mark_answered(self, canonical: str) -> None: ...

    def aside(self, seq: int) -> Mapping[str, int]:
        """The calls that the newest version of a turn does not make, with their places."""

    def supersede(self, seq: int, call_ids: Sequence[str]) -> None:
        """Calls of a turn that its newest version does not make; their results wait again."""

    def bring_back(self, seq: int, places: Mapping[str, int]) -> Sequence[Call]:
        """Calls, with their places, that a later version of their turn makes again."""

    def adopt(self, result: ResultRecord, found: Match) -> None: ...


@dataclass(frozen=True, slots=True)
class Entered:
    """What a turn brought. `adopted`: earlier results that its calls were waiting for."""

    calls: list[Call]
    results: list[ResultRecord]
    adopted: list[ResultRecord]


def enter(
    turn: Turn, ledger: Ledger, rules: Mapping[str, Assigned], prefixes: tuple[str, ...]
) -> Entered:
    """Enters a turn whose calls have their canonical ids."""
    calls, assigned = _named(turn, ledger, rules)
    if calls:
        ledger.add_calls(calls, assigned)
    late = _adopt(calls, ledger, prefixes)
    results = sorted(_matched(turn, ledger, prefixes), key=lambda result: result.place)
    if results:
        ledger.add_results(results)
    return Entered(calls, results, late)


def complete(
    before: Turn,
    after: Turn,
    ledger: Ledger,
    rules: Mapping[str, Assigned],
    prefixes: tuple[str, ...],
) -> Entered:
    """Enters the version of an interrupted turn that has come; calls of both keep their rows."""
    seq = before.seq
    old = {call.id for call in before.calls()}
    new = {call.id: place for place, call in enumerate(after.calls())}
    aside = set(ledger.aside(seq))
    back = {call_id: place for call_id, place in new.items() if call_id in aside}
    if gone := [call.id for call in before.calls() if call.id not in new]:
        ledger.supersede(seq, gone)
    calls, assigned = _named(after, ledger, rules, old | aside)
    if calls:
        ledger.add_calls(calls, assigned)
    calls = [*calls, *(ledger.bring_back(seq, back) if back else ())]
    return Entered(calls, [], _adopt(calls, ledger, prefixes))


def _matched(turn: Turn, ledger: Ledger, prefixes: tuple[str, ...]) -> Iterator[ResultRecord]:
    """The turn's results with their calls: those that name an open call before all others."""
    others = []
    for place, result in turn.results():
        found = match(result, ledger, prefixes)
        if found.matched_by in ("canonical", "raw", "provider_id") and not found.repeat:
            yield _claimed(turn, place, result, found, ledger)
        else:
            others.append((place, result))
    for place, result in others:
        yield _claimed(turn, place, result, match(result, ledger, prefixes), ledger)


def _claimed(
    turn: Turn, place: int, result: ToolResult, found: Match, ledger: Ledger
) -> ResultRecord:
    if found.call and not found.call.answered:
        ledger.mark_answered(found.call.id)
    return _record(turn, place, result, found)


def _named(
    turn: Turn, ledger: Ledger, rules: Mapping[str, Assigned], known: Collection[str] = ()
) -> tuple[list[Call], list[AssignedId]]:
    """The turn's calls as the ledger keeps them, but for those it knows, with their other ids."""
    blocks = list(turn.calls())
    calls: list[Call] = []
    assigned: list[AssignedId] = []
    highest = {target: ledger.highest(target) for target in rules} if blocks else {}
    given: set[tuple[str, str]] = set()
    for index, block in enumerate(blocks):
        if block.id in known:
            continue
        shown: dict[str, str] = {}
        for target, rule in rules.items():
            shown[target], ordinal = next(
                (one, ordinal)
                for one, ordinal in rule.candidates(block, highest[target])
                # One that goes on counting is free by itself.
                if ordinal is not None or not ((target, one) in given or ledger.taken(target, one))
            )
            given.add((target, shown[target]))
            if ordinal is not None:
                highest[target] = ordinal
            assigned.append(AssignedId(target, shown[target], block.id, ordinal))
        calls.append(
            Call(
                block.id,
                block.raw_id,
                block.name,
                turn.provider,
                turn.model,
                turn.turn_id,
                turn.seq,
                index,
                shown=shown,
            )
        )
    return calls, assigned


def _adopt(calls: Sequence[Call], ledger: Ledger, prefixes: tuple[str, ...]) -> list[ResultRecord]:
    """Early results find their calls among those that have just come."""
    matched: list[ResultRecord] = []
    if not calls:
        return matched
    fresh = MemoryBook(calls)
    names = {name for call in calls for name in _names(call, prefixes)}
    cores = {ids.normalized(call.raw_id) for call in calls if call.raw_id} - {""}
    for waiting in ledger.waiting(names, cores):
        found = match(ToolResult(waiting.raw_id, name=waiting.name), fresh, prefixes)
        if found.call is None:
            continue
        fresh.mark_answered(found.call.id)
        ledger.mark_answered(found.call.id)
        ledger.adopt(waiting, found)
        matched.append(adopted(waiting, found))
    return matched


def _names(call: Call, prefixes: tuple[str, ...]) -> Iterator[str]:
    """Every id under which a result may name this call, but for decorated raw ids."""
    yield call.id
    yield from call.shown.values()
    yield from (ids.with_prefix(call.id, prefix) for prefix in prefixes)
    if call.raw_id:
        yield call.raw_id


def adopted(waiting: ResultRecord, found: Match) -> ResultRecord:
    """A result that waited, with the call it has found."""
    assert found.call
    return replace(waiting, call_id=found.call.id, matched_by=found.matched_by, repeat=found.repeat)


def _record(turn: Turn, place: int, result: ToolResult, found: Match) -> ResultRecord:
    # One that waits is looked up again later, so it waits under the id that names its call.
    waits_for = None if found.call else result.call_id
    return ResultRecord(
        turn.seq,
        place,
        turn.turn_id,
        waits_for or result.raw_id,
        result.name,
        result.status,
        found.call.id if found.call else None,
        found.matched_by,
        found.repeat,
    )


class MemoryLedger(MemoryBook):
    """A ledger that lives as long as it is needed."""

    def __init__(self) -> None:
        super().__init__()
        self.assigned: dict[tuple[str, str], AssignedId] = {}
        self.results: dict[tuple[int, int], ResultRecord] = {}
        self._highest: dict[str, int] = {}
        self._waiting: dict[tuple[int, int], ResultRecord] = {}

    def highest(self, target: str) -> int:
        return self._highest.get(target, -1)

    def taken(self, target: str, provider_id: str) -> bool:
        return (target, provider_id) in self.assigned

    def waiting(
        self, raw_ids: Collection[str], normalized: Collection[str]
    ) -> Sequence[ResultRecord]:
        return [
            result
            for result in self._waiting.values()
            if result.raw_id in raw_ids or ids.normalized(result.raw_id or "") in normalized
        ]

    def add_calls(self, calls: Sequence[Call], assigned: Sequence[AssignedId]) -> None:
        self.add(calls)
        for one in assigned:
            self.assigned[one.target, one.provider_id] = one
            if one.ordinal is not None:
                self._highest[one.target] = one.ordinal

    def add_results(self, results: Sequence[ResultRecord]) -> None:
        for result in results:
            self.results[result.seq, result.place] = result
            if result.call_id is None and result.raw_id:
                self._waiting[result.seq, result.place] = result

    def supersede(self, seq: int, call_ids: Sequence[str]) -> None:
        self.set_aside(seq, call_ids)
        gone = set(call_ids)
        for place, result in self.results.items():
            if result.call_id in gone:
                waiting = replace(result, call_id=None, matched_by="none", repeat=False)
                self.results[place] = waiting
                if waiting.raw_id:
                    self._waiting[place] = waiting

    def adopt(self, result: ResultRecord, found: Match) -> None:
        del self._waiting[result.seq, result.place]
        self.results[result.seq, result.place] = adopted(result, found)
