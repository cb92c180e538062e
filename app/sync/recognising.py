"""Recognising: what of a list of messages is stored already, what is new, where the two differ.

The list is read as a history of its own, so that its results have found its calls. Texts, media and
calls are held against the stored history in order; results against those of the same call. Thinking
and blocks that only their issuer understands are not compared, because renders leave them out.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf

from ..formats.shared.placeholders import orphan_text
from ..ledger.pairing import Links, Placed, Role, is_real, steps
from ..model.conversation import Block, Text, ToolCall, ToolResult, Turn, last_real
from . import likeness
from .interruptions import Interruption
from .list_ids import Naming
from .retelling import Difference, Differs, Part, Walk, parts_of, spoken

# How often a history may be walked along to find where a list without its beginning begins.
_PATIENCE = 20


@dataclass(frozen=True)
class Told:
    """A history: turns, and which result belongs to which call."""

    turns: Sequence[Turn]
    links: Links

    @cached_property
    def results(self) -> dict[str, list[ToolResult]]:
        """The results of each call."""
        found: dict[str, list[ToolResult]] = defaultdict(list)
        for turn in self.turns:
            for place, result in turn.results():
                if link := self.links.get((turn.seq, place)):
                    found[link.call_id].append(result)
        return found


@dataclass(slots=True)
class Recognised:
    """Blocks of the list, by the seq of their turn there and their places.

    `calls`: the stored calls by the ids that the list's have. `completed`: the interrupted turns
    that turns of the list make whole. `bare`: new turns of which nothing is compared. `begins`: the
    stored turn with which a cut list begins. `is_old`: the list ends before the history does, and
    does not hold the stored turns `after_end`; `ends` is the last one of which it tells something.
    """

    known: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    new: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    calls: dict[str, str] = field(default_factory=dict)
    completed: dict[int, Turn] = field(default_factory=dict)
    bare: set[int] = field(default_factory=set)
    begins: Turn | None = None
    is_old: bool = False
    ends: int = 0
    after_end: Sequence[Turn] = ()


@dataclass(frozen=True)
class Recognising:
    """What the list is held against.

    names      the tool names that the list's format takes
    rendered   the results that a replay in that format shows for each call; asked for only where
               a result differs from the stored one
    shown      the stored calls by the ids under which such a replay shows them
    find       the stored call that a result names whose call is not in the list
    completes  whether a turn of the list may take the place of an interrupted one
    """

    stored: Told
    told: Told
    names: re.Pattern[str]
    rendered: Callable[[], Mapping[str, Sequence[ToolResult]]]
    shown: Mapping[str, str]
    find: Callable[[ToolResult], str | None]
    completes: Callable[[int, Turn], bool]

    def outcome(self) -> Recognised | Difference:
        found = self._outcome()
        if isinstance(found, Recognised) and found.is_old:
            found.after_end = self._after_end(found)
        return found

    def _outcome(self) -> Recognised | Difference:
        """From the beginning, or from the place further on where more of the list is known. What
        is brought to old turns, and may be known at another place, is refused."""
        walk, whole = self._walk(), Recognised()
        differs = self._attempt(walk, whole)
        doubt = differs or self._doubt(whole, ended=walk.ended)
        if doubt is None and self._naming.agrees(whole.calls) is not False:
            return whole
        rank = self._rank(whole, differs)
        # Where ids are wrong is seen at the first call, however often the same is said.
        ways = (self._cut(named=True) if self._naming.names_any else None) or self._cut()
        best = self._best(ways or [])
        if best and self._rank(best) > rank:
            return best
        others = [way for way in ways or [] if not _is_same(way, whole)]
        is_clear = ways is not None and all(self._rank(way) < rank for way in others)
        if is_clear and not differs:
            doubt = self._doubt(whole, ended=True)
        return doubt or whole

    def _best(self, ways: Sequence[Recognised]) -> Recognised | None:
        """The one way that is better than all others, if it is one by which a list may be cut."""
        top = max(map(self._rank, ways), default=None)
        best = [way for way in ways if way.begins and self._rank(way) == top]
        return best[0] if len(best) == 1 else None

    def _rank(self, found: Recognised, differs: Difference | None = None) -> tuple[bool, int]:
        """How well the list is explained: whether by the ids of its calls, and how much of it is
        known before it differs."""
        return self._naming.agrees(found.calls) is True, _size(found, differs)

    def _doubt(self, found: Recognised, *, ended: bool) -> Difference | None:
        """The first that is taken for something stored, and may be something else.

        A call must not be shown under the id of another one, nor bring a result under it. If the
        list has not `ended` where the history does, whatever it brings to old turns is in doubt.
        """
        for turn in self.told.turns:
            if turn.seq in found.completed and not ended:
                return Difference(turn.seq, found.completed[turn.seq], "text")
            for call in turn.calls():
                stored = found.calls.get(call.id)
                if stored and not self._naming.is_possible(call.id, stored):
                    return Difference(turn.seq, self._stored_calls[stored][0], "call")
            for told, stored in self._brought(found, turn):
                if not ended or not self._naming.is_likely(told, stored):
                    return Difference(turn.seq, self._stored_calls[stored][0], "result")
        return None

    def _brought(self, found: Recognised, turn: Turn) -> Iterator[tuple[str, str]]:
        """The calls, told and stored, to which a turn of the list brings results."""
        for place in found.new.get(turn.seq, ()):
            link = self.told.links.get((turn.seq, place))
            if link and link.call_id in found.calls:
                yield link.call_id, found.calls[link.call_id]

    def _cut(self, *, named: bool = False) -> list[Recognised] | None:
        """The ways in which the list tells a later part of the history; if `named`, only those by
        the ids of its calls. Those that have no beginning know a single message, which may as well
        be a new one. None, where looking for them would take too long: then the same things are
        said over and over again."""
        fitting: list[Recognised] = []
        left = _PATIENCE * (len(self._parts) + len(self._items) + len(self.told.turns))
        for start in range(len(self._parts) - 1, 0, -1):
            part = self._parts[start]
            if part.leads or not (part.pieces or part.calls):
                continue
            walk, found = self._walk(start), Recognised()
            differs = self._spoken(walk, found, named=named)
            left -= walk.taken + (0 if differs else len(self.told.turns))
            if left < 0:
                return None
            # A part that was left out is no beginning; the one behind it is looked at by itself.
            if differs or walk.began != start or self._compare_results(found, None):
                continue
            if self._doubt(found, ended=True) or (named and not self._naming.agrees(found.calls)):
                continue
            fitting.append(found)
            # One message that the history goes on behind may be a new one that says the same.
            if walk.place.part - start < 2 and walk.place.part < len(self._parts):
                continue
            self._unspoken(walk, found)
            self._find_end(walk, found)
            found.begins = min((part.turn, *self._answering(found)), key=lambda turn: turn.seq)
        return fitting

    @cached_property
    def _parts(self) -> list[Part]:
        return parts_of(steps(self.stored.turns, self.stored.links))

    @cached_property
    def _items(self) -> list[tuple[Role, Placed]]:
        named = self._named
        return [
            (role, self._as_stored(item))
            for role, item in spoken(steps(self.told.turns, self.told.links))
            if (item.turn.seq, item.place) not in named
        ]

    def _as_stored(self, item: Placed) -> Placed:
        """A result without a call is told as a text. Where stored ones gave the same value, all
        with one text, it is theirs: numbers may have been spelled in another way since."""
        told = (item.turn.blocks or ())[item.place or 0]
        if not isinstance(told, ToolResult) or (value := likeness.given_value(told)) is None:
            return item
        texts = self._orphans.get((told.name, value), {item.block})
        return replace(item, block=next(iter(texts))) if len(texts) == 1 else item

    @cached_property
    def _orphans(self) -> dict[tuple[str | None, str], set[Block]]:
        """The texts of stored results without a call, by name and value."""
        texts: dict[tuple[str | None, str], set[Block]] = defaultdict(set)
        for turn in self.stored.turns:
            for place, result in turn.results():
                value = likeness.given_value(result)
                if (turn.seq, place) not in self.stored.links and value is not None:
                    texts[result.name, value].add(Text(orphan_text(result)))
        return texts

    @cached_property
    def _named(self) -> dict[tuple[int, int], str]:
        """Results whose calls the list does not have, but the history does."""
        named: dict[tuple[int, int], str] = {}
        told: set[str] = set()
        for turn in self.told.turns:
            for place, result in turn.results():
                link = self.told.links.get((turn.seq, place))
                canonical = result.call_id or result.raw_id
                if canonical and canonical in self._stored_calls:
                    # In the list another call may have that for its raw id.
                    if link is None or link.call_id != canonical:
                        named[turn.seq, place] = canonical
                    continue
                if link:
                    continue
                # A replay may show a call under a name that a later one came with. What it showed
                # is told again once; the same once more is the later one's.
                shown = self.shown.get(result.raw_id or "")
                if shown and shown not in told and self._is_known(shown, result):
                    told.add(shown)
                    named[turn.seq, place] = shown
                elif call_id := self.find(result):
                    named[turn.seq, place] = call_id
        return named

    @cached_property
    def _stored_calls(self) -> dict[str, tuple[Turn, ToolCall]]:
        """Each with its turn."""
        return {call.id: (turn, call) for turn in self.stored.turns for call in turn.calls()}

    @cached_property
    def _naming(self) -> Naming:
        told = {call.id: call for turn in self.told.turns for call in turn.calls()}
        return Naming(self._stored_calls, told, self.shown)

    @cached_property
    def _shown(self) -> Mapping[str, Sequence[ToolResult]]:
        return self.rendered()

    @cached_property
    def _owed(self) -> dict[int, Counter[object]]:
        """Media of results whose calls the list does not have, by their turn there."""
        owed: dict[int, Counter[object]] = {}
        for turn in self.told.turns:
            for place, result in turn.results():
                if call_id := self._named.get((turn.seq, place)):
                    owed.setdefault(turn.seq, Counter()).update(self._moved(call_id, result))
        return owed

    def _walk(self, start: int = 0) -> Walk:
        return Walk(self._parts, self.names, start)

    def _owe(self, walk: Walk, told: ToolCall, stored: ToolCall) -> None:
        results = self.told.results.get(told.id)
        walk.owe(self._moved(stored.id, results[-1] if results else None))

    def _owe_between(self, walk: Walk, at: int) -> None:
        """What is owed for the results between an item and the next one."""
        first = self._items[at][1].turn.seq if at >= 0 else 0
        last = self._items[at + 1][1].turn.seq if at + 1 < len(self._items) else first
        for seq in range(first, last):
            if seq in self._owed:
                walk.owe(self._owed[seq])

    def _moved(self, call_id: str, told: ToolResult | None) -> Counter[object]:
        """Media of a stored call's result that the list shows behind its own, or may show where its
        own was left out."""
        shown = last_real(self.stored.results.get(call_id, ()), is_real)
        return likeness.moved_media(told, shown) if shown else Counter()

    def _attempt(self, walk: Walk, found: Recognised) -> Difference | None:
        differs = self._spoken(walk, found)
        until = differs.seq if differs else None
        differs = self._compare_results(found, until) or differs
        if differs is None:
            self._unspoken(walk, found)
            self._find_end(walk, found)
        return differs

    def _spoken(self, walk: Walk, found: Recognised, *, named: bool = False) -> Difference | None:
        """Walks along all that is spoken; up to the first call under another id if `named`."""
        items, at = self._items, 0
        last: Placed | None = None
        self._owe_between(walk, -1)
        interruption = Interruption(self.completes)
        while at < len(items):
            role, item = items[at]
            interruption.consider(walk, at, item.turn.seq)
            try:
                taken = walk.take(role, item.block)
                if at == len(items) - 1 and (missing := walk.missing()):
                    raise missing
            except Differs as differs:
                match interruption.another(walk, self._blamed(walk, last, item, differs)):
                    case "leave out":
                        at = interruption.at
                    case "complete":
                        at = self._complete(walk, interruption, found)
                    case None:
                        return interruption.first
                continue
            _record(found, item, taken)
            if isinstance(item.block, ToolCall) and isinstance(taken, ToolCall):
                if named and not self._naming.is_likely(item.block.id, taken.id):
                    return Difference(item.turn.seq, self._stored_calls[taken.id][0], "call")
                self._owe(walk, item.block, taken)
            self._owe_between(walk, at)
            last = item if taken else last
            at += 1
        return None

    def _blamed(
        self, walk: Walk, last: Placed | None, item: Placed, differs: Differs
    ) -> Difference:
        """Where the list differs: at this item, or at the one before, which says too little."""
        missing, seq = walk.missing(), item.turn.seq
        here = Difference(seq, differs.turn, differs.what)
        if missing is None or last is None or last.turn.seq == seq:
            return here
        is_other = (missing.what == "call") != isinstance(item.block, ToolCall)
        between = self.told.turns[last.turn.seq : seq - 1]
        if (
            is_other
            or item.turn.speaker != last.turn.speaker
            or any(one.speaker != "ai" for one in between)
        ):
            return Difference(last.turn.seq, missing.turn, missing.what)
        return here

    def _complete(self, walk: Walk, interruption: Interruption, found: Recognised) -> int:
        """Notes that a turn of the list makes an interrupted one whole; gives the next item."""
        at, seq, turn = interruption.at, interruption.seq, interruption.turn
        assert turn
        found.completed[seq] = turn
        found.known.pop(seq, None)
        found.new.pop(seq, None)
        calls = list(turn.calls())
        told = 0
        while at < len(self._items) and self._items[at][1].turn.seq == seq:
            block = self._items[at][1].block
            if isinstance(block, ToolCall):
                if told < len(calls) and likeness.same_call(block, calls[told], self.names):
                    found.calls[block.id] = calls[told].id
                    self._owe(walk, block, calls[told])
                told += 1
            at += 1
        return at

    def _compare_results(self, found: Recognised, until: int | None) -> Difference | None:
        """Results of calls that are stored, and of new ones. All others are spoken."""
        for turn in self.told.turns:
            if until is not None and turn.seq >= until:
                break
            for place, result in turn.results():
                call_id = self._call_of(found, turn, place)
                if call_id is None and (turn.seq, place) not in self.told.links:
                    continue
                if call_id and self._is_known(call_id, result):
                    found.known[turn.seq].add(place)
                elif call_id and any(is_real(one) for one in self.stored.results.get(call_id, ())):
                    return Difference(turn.seq, self._turn_of(call_id), "result")
                else:
                    found.new[turn.seq].add(place)
        return None

    def _is_known(self, call_id: str, result: ToolResult) -> bool:
        stored = self.stored.results.get(call_id, ())
        is_same = partial(likeness.same_result, result)
        if likeness.says_nothing(result) or any(map(is_same, stored)):
            return True
        return bool(stored) and any(map(is_same, self._shown.get(call_id, ())))

    def _turn_of(self, call_id: str) -> Turn:
        """The turn with the newest result of a call that says something."""
        return next(
            turn
            for turn in reversed(self.stored.turns)
            for place, result in turn.results()
            if is_real(result)
            and (link := self.stored.links.get((turn.seq, place)))
            and link.call_id == call_id
        )

    def _answering(self, found: Recognised) -> Iterator[Turn]:
        """The stored turns of known results whose calls the list does not have."""
        known = {call_id for (seq, at), call_id in self._named.items() if at in found.known[seq]}
        for turn in self.stored.turns if known else ():
            links = (self.stored.links.get((turn.seq, place)) for place, _ in turn.results())
            if any(link and link.call_id in known for link in links):
                yield turn

    def _unspoken(self, walk: Walk, found: Recognised) -> None:
        """Turns at the end of which nothing is compared: new, unless the end of the history has
        the same."""
        last = max((seq for seq, places in found.known.items() if places), default=0)
        reached = self._parts[walk.reached].turn.seq if walk.began is not None else 0
        left = Counter(_keys(turn for turn in self.stored.turns if turn.seq >= reached))
        for turn in self.told.turns:
            if turn.seq <= last or found.new.get(turn.seq) or turn.seq in found.completed:
                continue
            keys = Counter(_keys([turn]))
            if keys <= left:
                left -= keys
            else:
                found.bare.add(turn.seq)

    def _find_end(self, walk: Walk, found: Recognised) -> None:
        """Notes where the list ends, and whether it lacks the newest turn that it must tell."""
        newest = next(filter(_must_be_told, reversed(self.stored.turns)), None)
        found.ends = self._parts[walk.place.part - 1].turn.seq if walk.place.part else 0
        found.is_old = not walk.ended
        if walk.ended and newest and not any(map(_is_walked, newest.blocks or ())):
            found.is_old = self._lacks_results(newest, set(self._calls_with_results(found)))

    def _after_end(self, found: Recognised) -> list[Turn]:
        """The stored turns after the end of the list, but for results that it holds."""
        held = set(self._calls_with_results(found))
        return [
            turn
            for turn in self.stored.turns
            if turn.seq > found.ends
            and _must_be_told(turn)
            and (any(map(_is_walked, turn.blocks or ())) or self._lacks_results(turn, held))
        ]

    def _lacks_results(self, turn: Turn, held: Collection[str]) -> bool:
        """True if a turn has results, and none of them is of a call in `held`."""
        results = ((place, result) for place, result in turn.results() if is_real(result))
        links = (self.stored.links.get((turn.seq, place)) for place, _ in results)
        answered = {link.call_id for link in links if link}
        return bool(answered) and answered.isdisjoint(held)

    def _calls_with_results(self, found: Recognised) -> Iterator[str]:
        """The stored calls of which the list has results that say something."""
        for turn in self.told.turns:
            for place, result in turn.results():
                call_id = self._call_of(found, turn, place)
                if call_id and not likeness.says_nothing(result):
                    yield call_id

    def _call_of(self, found: Recognised, told: Turn, place: int) -> str | None:
        """The stored call that a result of the list belongs to."""
        link = self.told.links.get((told.seq, place))
        named = self._named.get((told.seq, place))
        return named or (found.calls.get(link.call_id) if link else None)


def _must_be_told(turn: Turn) -> bool:
    """Whether a list has the turn, or ends before it."""
    if turn.speaker == "note" or turn.status == "interrupted":
        return False
    return not all(map(likeness.is_unspoken, turn.blocks or ()))


def _is_walked(block: Block) -> bool:
    return not (isinstance(block, ToolResult) or likeness.is_unspoken(block))


def _record(found: Recognised, item: Placed, taken: ToolCall | bool) -> None:
    seq, place = item.turn.seq, item.place or 0
    chosen, other = (found.known, found.new) if taken else (found.new, found.known)
    chosen[seq].add(place)
    other[seq].discard(place)
    if isinstance(item.block, ToolCall):
        found.calls.pop(item.block.id, None)
        if isinstance(taken, ToolCall):
            found.calls[item.block.id] = taken.id


def _is_same(one: Recognised, other: Recognised) -> bool:
    """Whether two readings are one. A system prompt at the beginning may be left out, so what
    begins behind it is read from the beginning, too."""
    return (one.calls, one.known, one.new) == (other.calls, other.known, other.new)


def _size(found: Recognised, differs: Difference | None = None) -> int:
    """How much is known, in front of what differs."""
    until = differs.seq if differs else inf
    return sum(len(places) for seq, places in found.known.items() if seq < until)


def _keys(turns: Iterable[Turn]) -> Iterator[str]:
    """What turns hold beside what is spoken."""
    for turn in turns:
        if turn.blocks is not None:
            yield from (
                likeness.unspoken_key(block) for block in turn.blocks if likeness.is_unspoken(block)
            )
            if not turn.blocks:
                yield "empty"
