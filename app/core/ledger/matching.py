"""The ledger: how a result finds its call.

Raw ids repeat, are lost, are decorated by gateways, or are those that another provider's replay
showed. So a result is never hashed; it is looked up among the conversation's calls, by a fixed list
of rules, and the answer says which one held. The rules are written here once; a `CallBook` answers
their questions, from memory or from a database.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias

from app.core.conversation import Block, ToolCall, ToolResult
from app.core.identity import ids

MatchedBy: TypeAlias = Literal[
    "canonical", "raw", "provider_id", "normalized", "name", "position", "none"
]
KeyKind: TypeAlias = Literal["raw", "provider_id", "normalized"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the ledger knows it. `shown` holds the ids of targets that assign their own."""

    id: str
    raw_id: str | None
    name: str
    provider: str
    model: str | None
    turn_id: str
    seq: int
    call_index: int
    answered: bool = False
    shown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    call: Call | None
    matched_by: MatchedBy
    repeat: bool = False


class CallBook(Protocol):
    """The questions the rules ask about the calls of one conversation."""

    def by_canonical(self, canonical: str) -> Call | None: ...

    def open(self, kind: KeyKind, key: str) -> Call | None:
        """Of the open calls with this key: newest turn first, inside it the oldest call."""

    def answered(self, kind: KeyKind, key: str) -> Call | None:
        """Of the answered calls with this key: the newest."""

    def newest_open(self) -> Sequence[Call]:
        """All open calls of the newest turn that has one, in call order."""


def match(result: ToolResult, book: CallBook, prefixes: tuple[str, ...]) -> Match:
    """The call a result belongs to, by the first rule that holds."""
    raw_id = result.call_id or result.raw_id
    if not raw_id:
        return _without_id(result, book)
    if ids.is_canonical(raw_id) and (call := book.by_canonical(raw_id)):
        return Match(call, "canonical", repeat=call.answered)
    keys = _keys(raw_id)
    for kind, key in keys:
        if call := book.open(kind, key) or _unprefixed(kind, key, book, prefixes, answered=False):
            return Match(call, kind)
    for kind, key in keys:
        if call := book.answered(kind, key) or _unprefixed(
            kind, key, book, prefixes, answered=True
        ):
            return Match(call, kind, repeat=True)
    return Match(None, "none")


def _keys(raw_id: str) -> list[tuple[KeyKind, str]]:
    keys: list[tuple[KeyKind, str]] = [("raw", raw_id), ("provider_id", raw_id)]
    if core := ids.normalized(raw_id):
        keys.append(("normalized", core))
    return keys


def _unprefixed(
    kind: KeyKind, shown: str, book: CallBook, prefixes: tuple[str, ...], *, answered: bool
) -> Call | None:
    """Most targets show the canonical id behind a prefix of their own."""
    if kind != "provider_id" or not (canonical := ids.from_prefixed(shown, prefixes)):
        return None
    call = book.by_canonical(canonical)
    return call if call and call.answered is answered else None


def _without_id(result: ToolResult, book: CallBook) -> Match:
    candidates = book.newest_open()
    for call in candidates:
        if result.name and call.name == result.name:
            return Match(call, "name")
    return Match(candidates[0], "position") if candidates else Match(None, "none")


class MemoryBook:
    """A call book in memory; calls are added oldest first."""

    def __init__(self, calls: Iterable[Call] = ()) -> None:
        self.calls: dict[str, Call] = {}
        self._open: dict[str, Call] = {}
        self._open_by: dict[tuple[KeyKind, str], dict[str, Call]] = defaultdict(dict)
        self._answered: dict[tuple[KeyKind, str], dict[str, Call]] = defaultdict(dict)
        self._aside: dict[int, dict[str, int]] = defaultdict(dict)
        self._last_seq = 0
        self.add(calls)

    def add(self, calls: Iterable[Call]) -> None:
        late = False
        for call in calls:
            late = late or call.seq < self._last_seq
            self._last_seq = max(call.seq, self._last_seq)
            self.calls[call.id] = self._open[call.id] = call
            for key in _keys_of(call):
                self._open_by[key][call.id] = call
            if call.answered:
                self.mark_answered(call.id)
        if late:
            # Calls of a turn that was completed later: the newest turn stays the last one.
            self._open = _in_order(self._open)
            for key, known in self._open_by.items():
                self._open_by[key] = _in_order(known)

    def mark_answered(self, canonical: str) -> None:
        self._open.pop(canonical, None)
        call = self.calls[canonical] = replace(self.calls[canonical], answered=True)
        for key in _keys_of(call):
            self._open_by[key].pop(canonical, None)
            self._answered[key][canonical] = call

    def aside(self, seq: int) -> Mapping[str, int]:
        """The calls that the newest version of a turn does not make, with their places."""
        return self._aside[seq]

    def set_aside(self, seq: int, call_ids: Sequence[str]) -> None:
        """Calls that their turn does not make any more: places below 0, found by nobody."""
        for canonical, place in places_aside(self._aside[seq], call_ids).items():
            self.mark_answered(canonical)
            self._aside[seq][canonical] = place
            call = self.calls[canonical] = replace(self.calls[canonical], call_index=place)
            for key in _keys_of(call):
                self._answered[key].pop(canonical, None)

    def bring_back(self, seq: int, places: Mapping[str, int]) -> list[Call]:
        """Calls that a later version of their turn makes again; they are open."""
        for canonical in places:
            del self._aside[seq][canonical]
        back = [
            replace(self.calls[canonical], call_index=place, answered=False)
            for canonical, place in places.items()
        ]
        self.add(back)
        return back

    def by_canonical(self, canonical: str) -> Call | None:
        call = self.calls.get(canonical)
        return call if call and call.call_index >= 0 else None

    def open(self, kind: KeyKind, key: str) -> Call | None:
        newest = _newest_turn(self._open_by.get((kind, key), {}))
        return newest[0] if newest else None

    def answered(self, kind: KeyKind, key: str) -> Call | None:
        found = self._answered.get((kind, key), {}).values()
        return max(found, key=lambda call: (call.seq, call.call_index), default=None)

    def newest_open(self) -> Sequence[Call]:
        return _newest_turn(self._open)


def places_aside(taken: Mapping[str, int], call_ids: Sequence[str]) -> dict[str, int]:
    """Places below 0, lower than those that are taken."""
    lowest = min(taken.values(), default=0)
    return {call_id: lowest - number for number, call_id in enumerate(call_ids, 1)}


def _newest_turn(calls: dict[str, Call]) -> list[Call]:
    """The calls of the last turn among these, which were added oldest first."""
    newest: list[Call] = []
    for call in reversed(calls.values()):
        if newest and call.seq != newest[-1].seq:
            break
        newest.append(call)
    return newest[::-1]


def _in_order(calls: dict[str, Call]) -> dict[str, Call]:
    ordered = sorted(calls.values(), key=lambda call: (call.seq, call.call_index))
    return {call.id: call for call in ordered}


def _keys_of(call: Call) -> set[tuple[KeyKind, str]]:
    keys: set[tuple[KeyKind, str]] = {("provider_id", shown) for shown in call.shown.values()}
    if call.raw_id:
        keys.add(("raw", call.raw_id))
        if core := ids.normalized(call.raw_id):
            keys.add(("normalized", core))
    return keys


def with_canonical_ids(
    blocks: Iterable[Block], provider: str, turn_id: str, used: Callable[[str], bool]
) -> tuple[Block, ...]:
    """The blocks with an id on every call. A well-formed canonical id is kept if it is free."""
    identified: list[Block] = []
    given_here: set[str] = set()
    index = 0
    for block in blocks:
        one = block
        if isinstance(block, ToolCall):
            kept = block.id or (block.raw_id or "")
            if not ids.is_canonical(kept) or kept in given_here or used(kept):
                kept = _fresh_id(
                    block, provider, turn_id, index, lambda i: i in given_here or used(i)
                )
            given_here.add(kept)
            one = replace(block, id=kept)
            index += 1
        identified.append(one)
    return tuple(identified)


def _fresh_id(
    call: ToolCall, provider: str, turn_id: str, index: int, used: Callable[[str], bool]
) -> str:
    """The hashed id. Only a caller who posts forged canonical ids can have taken it before."""
    key = turn_id
    while used(fresh := ids.canonical_id(provider, call.raw_id, call.name, key, index)):
        # No turn id may hold a tilde, so a salted key never meets another turn's.
        key += "~"
    return fresh
