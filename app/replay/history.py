"""Loading what a replay shows: all turns up to a version, or those of a window.

A window reads the system turns that lead and the newest turns. What these answer, and what answers
them, is found by index and read too, so that the same steps come out as of the whole conversation:
a step is kept or cut as a whole, and only steps that are cut may be read in part.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..database.store import ReadStore
from ..formats.registry import CODECS
from ..formats.shared.codec import Prefixed
from ..ledger.pairing import Link, Links, steps
from ..model.conversation import ToolResult, Turn
from ..turns.turnform import read_turn
from . import window as windows
from .options import ReplayOptions
from .rendering import Loaded
from .window import spoken

# Turns that are read at a time where it is not known how many are needed.
_BATCH = 16


def load(
    store: ReadStore,
    cid: str,
    until: int,
    options: ReplayOptions,
    *,
    first: int = 1,
    as_of: int | None = None,
) -> Loaded:
    """The turns that a render shows: those of the window, or all from turn `first` on, and of the
    earlier ones those that made calls which they answer, or answer calls of theirs.

    `as_of`: turns as they were before anything was completed at that version.
    """
    if options.is_window:
        window = _Window(store, cid, until, as_of)
        window.load(options)
        turns = [window.turns[seq] for seq in sorted(window.turns)]
        return Loaded(turns, window.links, _assigned(store, cid, options, turns))
    records = store.turns.page(cid, after=first - 1, until=until, payloads=False, as_of=as_of)
    turns = [read_turn(record) for record in records]
    links = store.ledger.links(cid, after=first - 1, until=until)
    if first > 1:
        earlier = _partners(store, cid, turns, links, first)
        partners = store.turns.at(cid, earlier, as_of=as_of)
        turns = [*(read_turn(record) for record in partners), *turns]
        links |= store.ledger.links_at(cid, earlier)
    given = _assigned(store, cid, options, turns if first > 1 else None)
    return Loaded(turns, links, given, {record.seq: record.hash for record in records})


def _partners(store: ReadStore, cid: str, turns: list[Turn], links: Links, first: int) -> set[int]:
    """The turns before `first` with calls or results of these turns."""
    made = {call.id for turn in turns for call in turn.calls()}
    answered = {link.call_id for link in links.values()} - made
    callers = store.ledger.call_seqs(cid, answered).values()
    answering = store.ledger.links_of(cid, made, first - 1)
    return {seq for seq in (*callers, *(seq for seq, _ in answering)) if seq < first}


def _assigned(
    store: ReadStore, cid: str, options: ReplayOptions, turns: list[Turn] | None
) -> Mapping[str, str]:
    """What the mapping table says of the calls of these turns, or of all: for targets that name
    calls by a rule of their own."""
    if isinstance(CODECS[options.provider].ids, Prefixed):
        return {}
    call_ids = None if turns is None else {call.id for turn in turns for call in turn.calls()}
    return store.ledger.provider_ids(cid, options.provider, call_ids)


@dataclass(slots=True)
class _Window:
    """The turns that are read, by seq. From `first` on none is missing."""

    store: ReadStore
    cid: str
    until: int
    as_of: int | None
    turns: dict[int, Turn] = field(default_factory=dict)
    links: dict[tuple[int, int], Link] = field(default_factory=dict)
    first: int = 0

    def load(self, options: ReplayOptions) -> None:
        verbatim = CODECS[options.provider].profile.verbatim
        self._read_leading()
        self.first = self.until + 1
        count = _BATCH if options.last is None else options.last
        self._read_newest(count)
        self._read_partners(verbatim=verbatim)
        while options.last is None and self.first > 1:
            if self._is_enough(options.max_tokens or 0):
                break
            count *= 2
            self._read_newest(count)
            self._read_partners(verbatim=verbatim)

    def _is_enough(self, budget: int) -> bool:
        """Whether the budget is used up by what has been read."""
        turns = spoken(self.turns[seq] for seq in sorted(self.turns))
        found = steps(turns, self.links)
        lead = len(windows.leading(found))
        shown = found[:lead] + [step for step in found[lead:] if step.seq >= self.first]
        return len(windows.within_tokens(shown, budget)) < len(shown)

    def _read_leading(self) -> None:
        """From the beginning to the first turn that is surely shown and not the system's."""
        after = 0
        while batch := self._batch(after, self.until):
            self._keep(batch)
            if any(map(_is_spoken, batch)):
                return
            after = batch[-1].seq

    def _read_newest(self, count: int) -> None:
        """So many more turns before those that are read, without counting notes."""
        while count and self.first > 1:
            batch = self._batch(0, self.first - 1, count + _BATCH, newest_first=True)
            if not batch:
                self.first = 1
            kept = []
            for turn in batch:
                kept.append(turn)
                self.first = turn.seq
                count -= turn.speaker != "note"
                if not count:
                    break
            self._keep(kept)

    def _read_partners(self, *, verbatim: bool) -> None:
        """Calls that are answered in the window, with all their results, and results of its own."""
        newest = [turn for turn in self.turns.values() if turn.seq >= self.first]
        callers = self._callers(newest)
        # Whether the results of these turns are orphans is a question to the calls.
        self._callers([turn for turn in self.turns.values() if turn.seq < self.first])
        call_ids = {call.id for turn in (*newest, *callers) for call in turn.calls()}
        results = self.store.ledger.links_of(self.cid, call_ids, self.until)
        self.links |= results
        self._read({seq for seq, _ in results})
        for turn in callers:
            self._read_behind(turn, results)
        if verbatim:
            # Notes go with the turn that they follow.
            for seq in {seq for seq, _ in results}:
                self._read_behind(self.turns[seq], {})

    def _callers(self, turns: list[Turn]) -> list[Turn]:
        """The turns before the window that made the calls which these turns answer."""
        places = [(turn.seq, place) for turn in turns for place, _ in turn.results()]
        call_ids = {self.links[place].call_id for place in places if place in self.links}
        seqs = {
            seq
            for seq in self.store.ledger.call_seqs(self.cid, call_ids).values()
            if seq <= self.until and seq < self.first
        }
        self._read(seqs)
        return [self.turns[seq] for seq in seqs]

    def _read_behind(self, turn: Turn, results: Links) -> None:
        """On to the first turn behind that is no note and holds no result of its calls.

        And the next turn of a model, if there is one before the last result: it saw a placeholder.
        """
        call_ids = {call.id for call in turn.calls()}
        answering = {seq for (seq, _), link in results.items() if link.call_id in call_ids}
        after = turn.seq
        while after + 1 < self.first:
            if after + 1 not in self.turns:
                self._keep(self._batch(after, self.first - 1))
            after += 1
            following = self.turns.get(after)
            if following and following.speaker != "note" and after not in answering:
                break
        last = max(answering, default=0)
        if after < last and (seq := self.store.turns.next_by_model(self.cid, turn.seq, last - 1)):
            self._read({seq})

    def _batch(
        self, after: int, until: int, limit: int = 0, *, newest_first: bool = False
    ) -> list[Turn]:
        records = self.store.turns.page(
            self.cid,
            after=after,
            until=until,
            limit=limit or _BATCH,
            payloads=False,
            as_of=self.as_of,
            newest_first=newest_first,
        )
        return [read_turn(record) for record in records]

    def _read(self, seqs: set[int]) -> None:
        missing = seqs - self.turns.keys()
        records = self.store.turns.at(self.cid, missing, as_of=self.as_of)
        self._keep([read_turn(record) for record in records])

    def _keep(self, turns: list[Turn]) -> None:
        new = {turn.seq: turn for turn in turns if turn.seq not in self.turns}
        self.turns |= new
        self.links |= self.store.ledger.links_at(self.cid, new)


def _is_spoken(turn: Turn) -> bool:
    """Whether it is shown, and not as the system's; results alone may be shown elsewhere."""
    only_results = turn.blocks and all(isinstance(block, ToolResult) for block in turn.blocks)
    return turn.speaker not in ("system", "note") and not only_results
