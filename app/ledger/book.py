"""The book: what is known of the calls and results of one conversation, and what was entered.

There is one ledger, in memory. A whole book (convert, verify) knows everything that was entered. A
book over a database knows what was loaded; a question that goes further raises `Unasked`, which
says what must be loaded. It never guesses.

Between two changes a writer remembers a book: its newest calls, and every name that occurs in the
conversation. What no name says is not there, so most appends need not ask the database at all.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from heapq import heappop, heappush
from typing import Literal, TypeAlias, TypeVar

from ..model import ids
from ..model.value import dataclass
from .load_request import NO_KEYS, Keys, Unasked
from .records import Call, ProviderId, ResultRecord
from .wanted import Facet

K = TypeVar("K")
V = TypeVar("V")
KeyKind: TypeAlias = Literal["raw", "provider_id", "normalized", "name"]
_Queue: TypeAlias = tuple[str, ...]
_Place: TypeAlias = tuple[int, int]
_Name: TypeAlias = str | int
_ANY: _Queue = ("open",)
_MADE: _Queue = ("made",)
_NOTHING_LOADED = 2**62
# So many of the newest calls are remembered, and all of their turns; with twice as many, the older
# ones are forgotten.
_REMEMBERED = 32
# All names of a conversation; one too many only makes us ask.
Names: TypeAlias = set[str]


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a book: new rows, and the present state of rows that changed. Rows are removed
    before new ones take their places."""

    calls: dict[str, Call] = field(default_factory=dict)
    provider_ids: tuple[ProviderId, ...] = ()
    results: dict[_Place, ResultRecord] = field(default_factory=dict)
    changed_calls: dict[str, Call] = field(default_factory=dict)
    changed_results: dict[_Place, ResultRecord] = field(default_factory=dict)
    removed_results: frozenset[_Place] = frozenset()

    def then(self, later: "Entries") -> "Entries":
        """Both as one: of each row its last state."""
        if self == NO_ENTRIES:
            return later
        results = _newer(self.results, later.changed_results)
        changed = self.changed_results | _others(later.changed_results, self.results)
        removed = later.removed_results
        return Entries(
            _newer(self.calls, later.changed_calls) | later.calls,
            (*self.provider_ids, *later.provider_ids),
            _others(results, removed) | later.results,
            self.changed_calls | _others(later.changed_calls, self.calls),
            _others(changed, removed),
            self.removed_results | (removed - results.keys()),
        )


NO_ENTRIES = Entries()


def _newer(rows: dict[K, V], changed: Mapping[K, V]) -> dict[K, V]:
    return {key: changed.get(key, row) for key, row in rows.items()}


def _others(changed: Mapping[K, V], rows: Collection[K]) -> dict[K, V]:
    return {key: row for key, row in changed.items() if key not in rows}


@dataclass(frozen=True, slots=True)
class LedgerRows:
    """Rows of a database for a book.

    `floors`: down to which turn the calls under a name are complete, by state, kind and name; 0
    where there are no more. `asked`: what these rows answer; `whole`: everything.
    """

    asked: Keys
    calls: dict[str, Call] = field(default_factory=dict)
    provider_ids: dict[tuple[str, str], ProviderId] = field(default_factory=dict)
    results: set[ResultRecord] = field(default_factory=set)
    highest: dict[str, int] = field(default_factory=dict)
    floors: dict[_Queue, int] = field(default_factory=dict)
    whole: bool = False


class Book:
    """The ledger of one conversation. `orphans` counts the results that wait for a call,
    `open_calls` the calls without a result.

    `names`: all that occur in it, if they are known; `start`: all calls of turns from here on are.
    `facets`: those of its turns that are known to be stored.
    """

    def __init__(
        self,
        *,
        whole: bool = True,
        orphans: int = 0,
        open_calls: int = 0,
        names: Names | None = None,
        start: int = _NOTHING_LOADED,
    ) -> None:
        self.calls: dict[str, Call] = {}
        self.results: dict[_Place, ResultRecord] = {}
        self.orphans = orphans
        self.open_calls = open_calls
        # A result that waits may be one that was entered here: the database need not be asked.
        self._all_waiting = whole or not orphans
        self._whole = whole
        self.names = names
        self.facets: frozenset[Facet] = frozenset()
        self._start = start
        self._asked = NO_KEYS
        self._provider_ids: dict[tuple[str, str], ProviderId] = {}
        self._highest: dict[str, int] = {}
        self._floors: dict[_Queue, int] = {}
        self._begin()

    def _begin(self) -> None:
        """Nothing is entered yet, and nothing indexed: that is done when the first question comes
        that needs it, which most books are never asked."""
        # By sort and name, heaps with the call that is found first at their top. What has changed
        # since it was put there is passed over when it comes up.
        self._queues: dict[_Queue, dict[_Name, list[tuple[int, int, str]]]] = {}
        self._places: dict[tuple[str, _Name], set[_Place]] | None = None
        self._new_calls: dict[str, None] = {}
        self._new_provider_ids: list[ProviderId] = []
        self._new_results: dict[_Place, None] = {}
        self._changed_calls: dict[str, None] = {}
        self._changed_results: dict[_Place, None] = {}
        self._removed_results: set[_Place] = set()

    def copy(self) -> "Book":
        """A book with the same knowledge into which nothing was entered yet."""
        other = Book.__new__(Book)
        other.__dict__.update(self.__dict__)
        other._begin()
        other.calls = dict(self.calls)
        other.results = dict(self.results)
        other._provider_ids = dict(self._provider_ids)
        other._highest = dict(self._highest)
        other._floors = dict(self._floors)
        return other

    def remembered(self, names: Names, facets: frozenset[Facet]) -> "Book":
        """What is kept of this book when its change is saved. `names`: all of the conversation,
        `facets`: those that the change brought."""
        start = 0 if self._whole else self._start
        forgets = len(self.calls) >= 2 * _REMEMBERED
        if forgets:
            start = max(start, sorted(call.seq for call in self.calls.values())[-_REMEMBERED])
        counts = {"orphans": self.orphans, "open_calls": self.open_calls}
        other = Book(whole=False, **counts, names=names, start=start)
        other.facets = self.facets | facets
        other._highest = self._highest
        other.calls, other._provider_ids = self.calls, self._provider_ids
        # What was loaded may be older than that.
        if forgets or self._asked:
            other.calls = {name: call for name, call in self.calls.items() if call.seq >= start}
        if len(other.calls) < len(self.calls):
            other._provider_ids = {}
        return other

    def lacks(self, name: str) -> bool:
        """Whether it is known that nothing in the conversation has this name."""
        return self.names is not None and name not in self.names

    def load(self, rows: LedgerRows) -> None:
        """Takes in rows of the database; what the book knows already stays as it is."""
        # All results of these turns are known: others that are stored were taken out since.
        complete, whole = self._asked.ledgers_of, self._whole
        self._asked |= rows.asked
        self._whole = self._whole or rows.whole
        self._all_waiting = self._all_waiting or rows.whole
        self._floors.update(rows.floors)
        # What was entered may be ahead of what is stored.
        for target, highest in rows.highest.items():
            self._highest[target] = max(highest, self._highest.get(target, -1))
        given: dict[str, dict[str, str]] = defaultdict(dict)
        self._provider_ids.update(rows.provider_ids)
        for one in rows.provider_ids.values():
            given[one.call_id][one.target] = one.provider_id
            if rows.whole and one.ordinal is not None:
                self._highest[one.target] = max(one.ordinal, self._highest.get(one.target, -1))
        for call in rows.calls.values():
            known = self.calls.get(call.id)
            names = {**call.provider_ids, **given.get(call.id, {})}
            if known is None:
                self._put(replace(call, provider_ids=names))
            elif names.keys() - known.provider_ids.keys():
                self._put(replace(known, provider_ids={**known.provider_ids, **names}))
        for result in rows.results:
            is_new = not whole and result.seq not in complete
            if is_new and (result.seq, result.place) not in self.results:
                self._put_result(result)

    def provider_ids(self) -> Collection[ProviderId]:
        """All that are known."""
        return self._provider_ids.values()

    def entries(self) -> Entries:
        return Entries(
            {name: self.calls[name] for name in self._new_calls},
            tuple(self._new_provider_ids),
            {place: self.results[place] for place in self._new_results},
            {name: self.calls[name] for name in self._changed_calls},
            {place: self.results[place] for place in self._changed_results},
            frozenset(self._removed_results),
        )

    # What the rules ask.

    def has(self, canonical: str) -> bool:
        """Whether the id names a call, be it one that its turn does not make any more."""
        if canonical in self.calls:
            return True
        if not (self._whole or canonical in self._asked.call_ids or self.lacks(canonical)):
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

    def highest(self, target: str) -> int:
        """The highest number given out for a target; -1 when there is none."""
        known = self._whole or not self._start or target in self._asked.ordinals
        if not known and target not in self._highest:
            raise Unasked(Keys(ordinals=frozenset({target})))
        return self._highest.setdefault(target, -1)

    def taken(self, target: str, provider_id: str) -> bool:
        if (target, provider_id) in self._provider_ids:
            return True
        if not (self._whole or provider_id in self._asked.provider_ids or self.lacks(provider_id)):
            raise Unasked(Keys(provider_ids=frozenset({provider_id})))
        return False

    def waiting(self, names: Collection[tuple[str, str]]) -> list[ResultRecord]:
        """Results that no call has claimed yet, under one of these names, oldest first."""
        if not self._all_waiting and (unknown := frozenset(names) - self._asked.waiting):
            raise Unasked(Keys(waiting=unknown))
        return self._found(names)

    def aside(self, seq: int) -> Mapping[str, int]:
        """The calls that the newest version of a turn does not make, with their places."""
        calls = self.calls_of(seq)
        return {call.id: call.call_index for call in calls if call.call_index < 0}

    def calls_of(self, seq: int) -> list[Call]:
        """The calls that a turn makes, in order, then those that it makes no more."""
        self._demand_ledger(seq)
        made = dict.fromkeys(canonical for _, _, canonical in self._entries(_MADE, seq))
        calls = (self.calls[canonical] for canonical in made)
        return sorted(calls, key=lambda call: (call.call_index < 0, call.call_index))

    def results_in(self, seq: int) -> list[ResultRecord]:
        """The results that a turn holds, in order."""
        self._demand_ledger(seq)
        return self._found([("turn", seq)])

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
        self.open_calls += sum(not call.answered for call in calls)

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
            for result in self._found([("call", canonical)]):
                self._change_result(replace(result, call_id=None, matched_by="none", repeat=False))
                self.orphans += 1

    def bring_back(self, places: Mapping[str, int]) -> list[Call]:
        """Calls, with their places, that a later version of their turn makes again: open ones."""
        for canonical, place in places.items():
            self._change(replace(self.calls[canonical], call_index=place, answered=False))
        return [self.calls[canonical] for canonical in places]

    def take_out(self, seq: int) -> list[ResultRecord]:
        """Takes out the results of a turn, whose newest version may hold others."""
        taken = self.results_in(seq)
        for result in taken:
            place = (result.seq, result.place)
            self._unfile(self.results.pop(place))
            if place in self._new_results:
                del self._new_results[place]
            else:
                self._removed_results.add(place)
            self._changed_results.pop(place, None)
            self.orphans -= result.call_id is None
        return taken

    def reopen(self, canonical: str) -> None:
        """Marks a call as open that lost a result, unless it has another one or is superseded."""
        if (call := self.by_canonical(canonical)) is None:
            return
        self._demand_ledger(call.seq)
        if not self._found([("call", canonical)]):
            self._change(replace(call, answered=False))

    def adopt(self, result: ResultRecord) -> None:
        """A result that waited and has found its call."""
        self._change_result(result)
        self.orphans -= 1

    # How it is kept.

    def _put(self, call: Call) -> None:
        self.calls[call.id] = call
        for sort in self._queues:
            self._file(sort, [call])

    def _file(self, sort: _Queue, calls: Iterable[Call]) -> None:
        answered, queues = sort[0] == "answered", self._queues[sort]
        for call in calls:
            if sort != _MADE and (call.answered is not answered or call.call_index < 0):
                continue
            # The newest answered call is found first, of open ones the oldest of the newest turn.
            entry = (-call.seq, -call.call_index if call.answered else call.call_index, call.id)
            for name in _names_of(call, sort):
                heappush(queues[name], entry)

    def _entries(self, sort: _Queue, name: _Name) -> list[tuple[int, int, str]]:
        if sort not in self._queues:
            self._queues[sort] = defaultdict(list)
            self._file(sort, self.calls.values())
        return self._queues[sort].get(name, [])

    def _change(self, call: Call) -> None:
        if call.id not in self._new_calls:
            self._changed_calls[call.id] = None
        self.open_calls += self.calls[call.id].answered - call.answered
        self._put(call)

    def _put_result(self, result: ResultRecord) -> None:
        self.results[result.seq, result.place] = result
        if self._places is not None:
            for key in _keys_of(result):
                self._places[key].add((result.seq, result.place))

    def _unfile(self, result: ResultRecord) -> None:
        if self._places is not None:
            for key in _keys_of(result):
                self._places[key].discard((result.seq, result.place))

    def _change_result(self, result: ResultRecord) -> None:
        place = (result.seq, result.place)
        self._unfile(self.results[place])
        if place not in self._new_results:
            self._changed_results[place] = None
        self._put_result(result)

    def _found(self, keys: Iterable[tuple[str, _Name]]) -> list[ResultRecord]:
        """The results under these keys, oldest first."""
        if self._places is None:
            self._places = defaultdict(set)
            for place, result in self.results.items():
                for key in _keys_of(result):
                    self._places[key].add(place)
        places = {place for key in keys for place in self._places.get(key, ())}
        return [self.results[place] for place in sorted(places)]

    def _first(self, queue: _Queue) -> Call | None:
        """The call that is found first, if what was loaded reaches down to it."""
        call = self._top(queue)
        if self._whole or (call.seq if call else 0) >= self._start:
            return call
        if queue != _ANY and self.lacks(queue[2]):
            # Nothing that is stored has the name: whatever has it was entered here.
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
        entries = self._entries(queue[:2], queue[-1])
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


def names_of(calls: Iterable[Call], provider_ids: Iterable[ProviderId]) -> Iterator[str]:
    """Every name under which the rules may look for these calls."""
    for call in calls:
        yield call.id
        yield call.name
        if call.raw_id:
            yield call.raw_id
            yield ids.normalized(call.raw_id)
    for one in provider_ids:
        yield one.provider_id


def _names_of(call: Call, sort: _Queue) -> Collection[_Name]:
    """Under which names a call stands in the queues of a sort."""
    match sort[-1]:
        case "made":
            return (call.seq,)
        case "raw":
            return (call.raw_id,) if call.raw_id else ()
        case "provider_id":
            return set(call.provider_ids.values())
        case "normalized":
            core = ids.normalized(call.raw_id or "")
            return (core,) if core else ()
        case "name":
            return (call.name,)
    return _ANY


def _keys_of(result: ResultRecord) -> Iterator[tuple[str, _Name]]:
    """Its turn, and its call or the names of one under which it waits."""
    yield "turn", result.seq
    if result.call_id is not None:
        yield "call", result.call_id
    elif result.raw_id:
        yield "raw", result.raw_id
        yield "normalized", ids.normalized(result.raw_id)


def whole_book(calls: Iterable[Call]) -> Book:
    """A book of all calls of a conversation, for matching alone."""
    book = Book()
    book.load(LedgerRows(NO_KEYS, {call.id: call for call in calls}))
    return book
