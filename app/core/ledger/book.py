"""The book: what is known of the calls and results of one conversation, and what was entered.

There is one ledger, in memory. A whole book (convert, verify) knows everything that was entered. A
book over a database knows what was loaded; a question that goes further raises `Unasked`, which
says what must be loaded. It never guesses.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Literal, TypeAlias, TypeVar

from app.core.identity import ids
from app.core.ledger.keys import Keys, Unasked
from app.core.ledger.records import Call, ProviderId, ResultRecord

K = TypeVar("K")
V = TypeVar("V")
KeyKind: TypeAlias = Literal["raw", "provider_id", "normalized"]
_Queue: TypeAlias = tuple[str, ...]
_Place: TypeAlias = tuple[int, int]
_ANY: _Queue = ("open",)
_NOTHING_LOADED = 2**62


@dataclass(frozen=True, slots=True)
class Entries:
    """What was entered into a book: new rows, and the present state of rows that changed."""

    calls: dict[str, Call] = field(default_factory=dict)
    provider_ids: tuple[ProviderId, ...] = ()
    results: dict[_Place, ResultRecord] = field(default_factory=dict)
    changed_calls: dict[str, Call] = field(default_factory=dict)
    changed_results: dict[_Place, ResultRecord] = field(default_factory=dict)

    def then(self, later: "Entries") -> "Entries":
        """Both as one: of each row its last state."""
        return Entries(
            _newer(self.calls, later.changed_calls) | later.calls,
            (*self.provider_ids, *later.provider_ids),
            _newer(self.results, later.changed_results) | later.results,
            self.changed_calls | _others(later.changed_calls, self.calls),
            self.changed_results | _others(later.changed_results, self.results),
        )


def _newer(rows: dict[K, V], changed: Mapping[K, V]) -> dict[K, V]:
    return {key: changed.get(key, row) for key, row in rows.items()}


def _others(changed: Mapping[K, V], rows: Mapping[K, V]) -> dict[K, V]:
    return {key: row for key, row in changed.items() if key not in rows}


@dataclass(frozen=True, slots=True)
class Loaded:
    """Rows of a database for a book.

    `floors`: down to which turn the calls under a name are complete, by state, kind and name; 0
    where there are no more. `asked`: what these rows answer; `whole`: everything.
    """

    asked: Keys
    calls: Collection[Call] = ()
    provider_ids: Collection[ProviderId] = ()
    results: Collection[ResultRecord] = ()
    highest: Mapping[str, int] | None = None
    floors: Mapping[_Queue, int] | None = None
    whole: bool = False


class Book:
    """The ledger of one conversation. `orphans` counts the results that wait for a call."""

    def __init__(self, *, whole: bool = True, orphans: int = 0) -> None:
        self.calls: dict[str, Call] = {}
        self.results: dict[_Place, ResultRecord] = {}
        self.orphans = orphans
        # A result that waits may be one that was entered here: the database need not be asked.
        self._all_waiting = whole or not orphans
        self._whole = whole
        self._asked = Keys()
        self._provider_ids: dict[tuple[str, str], ProviderId] = {}
        self._highest: dict[str, int] = {}
        self._floors: dict[_Queue, int] = {}
        # Heaps, the call that is found first at their top. What has changed since it was put there
        # is passed over when it comes up.
        self._queues: dict[_Queue, list[tuple[int, int, str]]] = defaultdict(list)
        self._made: dict[int, dict[str, None]] = defaultdict(dict)
        self._held: dict[int, set[_Place]] = defaultdict(set)
        self._waiting: dict[tuple[str, str], set[_Place]] = defaultdict(set)
        self._answering: dict[str, set[_Place]] = defaultdict(set)
        self._new_calls: dict[str, None] = {}
        self._new_provider_ids: list[ProviderId] = []
        self._new_results: dict[_Place, None] = {}
        self._changed_calls: dict[str, None] = {}
        self._changed_results: dict[_Place, None] = {}

    def copy(self) -> "Book":
        """A book with the same knowledge into which nothing was entered yet."""
        other = Book(whole=self._whole, orphans=self.orphans)
        other._all_waiting = self._all_waiting
        other.calls = dict(self.calls)
        other.results = dict(self.results)
        other._asked = self._asked
        other._provider_ids = dict(self._provider_ids)
        other._highest = dict(self._highest)
        other._floors = dict(self._floors)
        other._queues.update((name, list(queue)) for name, queue in self._queues.items())
        other._made.update((seq, dict(made)) for seq, made in self._made.items())
        other._held.update((seq, set(held)) for seq, held in self._held.items())
        other._waiting.update((name, set(places)) for name, places in self._waiting.items())
        other._answering.update((name, set(places)) for name, places in self._answering.items())
        return other

    def load(self, rows: Loaded) -> None:
        """Takes in rows of the database; what the book knows already stays as it is."""
        self._asked |= rows.asked
        self._whole = self._whole or rows.whole
        self._all_waiting = self._all_waiting or rows.whole
        self._floors.update(rows.floors or {})
        self._highest.update(rows.highest or {})
        given: dict[str, dict[str, str]] = defaultdict(dict)
        for one in rows.provider_ids:
            self._provider_ids[one.target, one.provider_id] = one
            given[one.call_id][one.target] = one.provider_id
            if rows.whole and one.ordinal is not None:
                self._highest[one.target] = max(one.ordinal, self._highest.get(one.target, -1))
        for call in rows.calls:
            known = self.calls.get(call.id)
            names = {**call.provider_ids, **given.get(call.id, {})}
            if known is None:
                self._put(replace(call, provider_ids=names))
            elif names.keys() - known.provider_ids.keys():
                self._put(replace(known, provider_ids={**known.provider_ids, **names}))
        for result in rows.results:
            if (result.seq, result.place) not in self.results:
                self._put_result(result)

    def entries(self) -> Entries:
        return Entries(
            {name: self.calls[name] for name in self._new_calls},
            tuple(self._new_provider_ids),
            {place: self.results[place] for place in self._new_results},
            {name: self.calls[name] for name in self._changed_calls},
            {place: self.results[place] for place in self._changed_results},
        )

    # What the rules ask.

    def has(self, canonical: str) -> bool:
        """Whether the id names a call, be it one that its turn does not make any more."""
        if canonical in self.calls:
            return True
        if not self._whole and canonical not in self._asked.call_ids:
            raise Unasked(Keys(call_ids=frozenset({canonical})))
        return False

    def by_canonical(self, canonical: str) -> Call | None:
        if not self.has(canonical) or self.calls[canonical].call_index < 0:
            return None
        return self.calls[canonical]

    def open(self, kind: KeyKind, name: str) -> Call | None:
        """Of the open calls with this name: newest turn first, inside it the oldest call."""
        return self._first(("open", kind, name))

    def answered(self, kind: KeyKind, name: str) -> Call | None:
        """Of the answered calls with this name: the newest."""
        return self._first(("answered", kind, name))

    def newest_open(self) -> Call | None:
        """The oldest open call of the newest turn that has one."""
        return self._first(_ANY)

    def newest_open_named(self, name: str) -> Call | None:
        """The same among the calls of one tool, as far as calls were loaded."""
        return self._top(("open", "name", name))

    def highest(self, target: str) -> int:
        """The highest number given out for a target; -1 when there is none."""
        if not self._whole and target not in self._asked.ordinals:
            raise Unasked(Keys(ordinals=frozenset({target})))
        return self._highest.get(target, -1)

    def taken(self, target: str, provider_id: str) -> bool:
        if not self._whole and provider_id not in self._asked.provider_ids:
            raise Unasked(Keys(provider_ids=frozenset({provider_id})))
        return (target, provider_id) in self._provider_ids

    def waiting(self, names: Collection[tuple[str, str]]) -> list[ResultRecord]:
        """Results that no call has claimed yet, under one of these names, oldest first."""
        if not self._all_waiting and (unknown := frozenset(names) - self._asked.waiting):
            raise Unasked(Keys(waiting=unknown))
        places = {place for name in names for place in self._waiting.get(name, ())}
        return [self.results[place] for place in sorted(places)]

    def aside(self, seq: int) -> Mapping[str, int]:
        """The calls that the newest version of a turn does not make, with their places."""
        calls = self.calls_of(seq)
        return {call.id: call.call_index for call in calls if call.call_index < 0}

    def calls_of(self, seq: int) -> list[Call]:
        """The calls that a turn makes, in order, then those that it makes no more."""
        self._demand_ledger(seq)
        made = [self.calls[canonical] for canonical in self._made.get(seq, ())]
        return sorted(made, key=lambda call: (call.call_index < 0, call.call_index))

    def results_in(self, seq: int) -> list[ResultRecord]:
        """The results that a turn holds, in order."""
        self._demand_ledger(seq)
        return [self.results[place] for place in sorted(self._held.get(seq, ()))]

    # What is entered.

    def add_calls(self, calls: Sequence[Call], provider_ids: Sequence[ProviderId]) -> None:
        for one in provider_ids:
            self._provider_ids[one.target, one.provider_id] = one
            self._new_provider_ids.append(one)
            if one.ordinal is not None:
                self._highest[one.target] = one.ordinal
        for call in calls:
            self._new_calls[call.id] = None
            self._put(call)

    def add_results(self, results: Sequence[ResultRecord]) -> None:
        for result in results:
            self._new_results[result.seq, result.place] = None
            self._put_result(result)
        self.orphans += sum(result.call_id is None for result in results)

    def mark_answered(self, canonical: str) -> None:
        self._change(replace(self.calls[canonical], answered=True))

    def supersede(self, seq: int, call_ids: Sequence[str]) -> None:
        """Calls of a turn that its newest version does not make; their results wait again."""
        lowest = min(self.aside(seq).values(), default=0)
        for number, canonical in enumerate(call_ids, 1):
            # Places below 0: nobody finds them.
            self._change(replace(self.calls[canonical], answered=True, call_index=lowest - number))
            for place in sorted(self._answering.get(canonical, ())):
                self._change_result(
                    replace(self.results[place], call_id=None, matched_by="none", repeat=False)
                )
                self.orphans += 1

    def bring_back(self, places: Mapping[str, int]) -> list[Call]:
        """Calls, with their places, that a later version of their turn makes again: open ones."""
        for canonical, place in places.items():
            self._change(replace(self.calls[canonical], call_index=place, answered=False))
        return [self.calls[canonical] for canonical in places]

    def adopt(self, result: ResultRecord) -> None:
        """A result that waited and has found its call."""
        self._change_result(result)
        self.orphans -= 1

    # How it is kept.

    def _put(self, call: Call) -> None:
        self.calls[call.id] = call
        self._made[call.seq][call.id] = None
        if call.call_index < 0:
            return
        state = "answered" if call.answered else "open"
        # Of answered calls the newest is found first, of open ones the oldest of the newest turn.
        entry = (-call.seq, -call.call_index if call.answered else call.call_index, call.id)
        for kind, name in _names_of(call):
            heappush(self._queues[state, kind, name], entry)
        if not call.answered:
            heappush(self._queues[_ANY], entry)
            heappush(self._queues["open", "name", call.name], entry)

    def _change(self, call: Call) -> None:
        if call.id not in self._new_calls:
            self._changed_calls[call.id] = None
        self._put(call)

    def _put_result(self, result: ResultRecord) -> None:
        place = (result.seq, result.place)
        self.results[place] = result
        self._held[result.seq].add(place)
        if result.call_id is not None:
            self._answering[result.call_id].add(place)
            return
        for name in _waits_under(result):
            self._waiting[name].add(place)

    def _change_result(self, result: ResultRecord) -> None:
        place = (result.seq, result.place)
        before = self.results[place]
        if before.call_id is not None:
            self._answering[before.call_id].discard(place)
        for name in _waits_under(before):
            self._waiting[name].discard(place)
        if place not in self._new_results:
            self._changed_results[place] = None
        self._put_result(result)

    def _first(self, queue: _Queue) -> Call | None:
        """The call that is found first, if what was loaded reaches down to it."""
        call = self._top(queue)
        if self._whole:
            return call
        if queue[1:2] == ("provider_id",):
            if queue[2] not in self._asked.provider_ids:
                raise Unasked(Keys(provider_ids=frozenset({queue[2]})))
            return call
        if (call.seq if call else 0) < self._floors.get(queue, _NOTHING_LOADED):
            more = 2 * self._asked.named.get(queue, 0) or 1
            raise Unasked(Keys(named={queue: more}))
        return call

    def _top(self, queue: _Queue) -> Call | None:
        entries = self._queues.get(queue)
        while entries:
            _, index, canonical = entries[0]
            call = self.calls[canonical]
            if call.answered is (queue[0] == "answered") and call.call_index == abs(index):
                return call
            heappop(entries)
        return None

    def _demand_ledger(self, seq: int) -> None:
        if not self._whole and seq not in self._asked.ledgers_of:
            raise Unasked(Keys(ledgers_of=frozenset({seq})))


def _names_of(call: Call) -> Iterator[tuple[KeyKind, str]]:
    """Under which names a result may find a call, beside its canonical id."""
    for provider_id in set(call.provider_ids.values()):
        yield "provider_id", provider_id
    if call.raw_id:
        yield "raw", call.raw_id
        if core := ids.normalized(call.raw_id):
            yield "normalized", core


def _waits_under(result: ResultRecord) -> Iterator[tuple[str, str]]:
    if result.raw_id:
        yield "raw", result.raw_id
        yield "normalized", ids.normalized(result.raw_id)


def whole_book(calls: Iterable[Call]) -> Book:
    """A book of all calls of a conversation, for matching alone."""
    book = Book()
    book.load(Loaded(Keys(), list(calls)))
    return book
