"""What a command sees and what it gives: a slice of one conversation, and a change of it.

Both are values. A command says which keys it needs, the writer loads them, and `decide` turns the
slice into a change without touching anything; what it raises leaves nothing to undo.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from operator import add
from typing import Generic, Protocol, TypeVar

from ..model.value import dataclass
from .book import NO_ENTRIES, Book, Entries
from .load_request import NO_KEYS, Keys, Unasked
from .pairing import Links
from .records import PARTS, ConversationRecord, KeyRecord, RevisionRecord, ToolSetRecord, TurnRecord
from .wanted import Facet

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class TurnPlace:
    """Where a turn stands, and the content hash with which it was posted."""

    seq: int
    content_hash: bytes


@dataclass(frozen=True, slots=True)
class History:
    """A whole conversation: its turns without payloads, which results answer which calls, and all
    calls. `head_hash`: the head of the chain for which this is true."""

    head_hash: bytes
    turns: Sequence[TurnRecord]
    links: Links
    book: Book


@dataclass(frozen=True, slots=True)
class Custom:
    """What holds for all conversations. `searches`: words are kept and can be asked;
    `expires_after`: after how many seconds one expires that is made without saying it."""

    searches: bool = True
    expires_after: int | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """What is known of a conversation. What was not loaded is `Unasked`, never absent.

    `whole`: there is nothing that was not loaded; `all_places`: no turn id.
    """

    conversation_id: str
    now: datetime
    custom: Custom
    head: ConversationRecord | None
    book: Book
    asked: Keys = NO_KEYS
    keys: Mapping[str, KeyRecord] = field(default_factory=dict)
    places: Mapping[str, TurnPlace] = field(default_factory=dict)
    turns: Mapping[int, TurnRecord] = field(default_factory=dict)
    tool_sets: tuple[ToolSetRecord, ...] = ()
    revisions: int = 0
    history: History | None = None
    parts: tuple[int, ...] | None = None
    whole: bool = False
    all_places: bool = False

    @classmethod
    def absent(cls, conversation_id: str, now: datetime, custom: Custom) -> "Slice":
        """A conversation of which there is nothing."""
        return cls(conversation_id, now, custom, None, Book(), parts=(0,) * len(PARTS), whole=True)

    @property
    def version(self) -> int:
        return self.head.version if self.head else 0

    def demand(self, keys: Keys) -> None:
        """Asks for several things at once, which are then answered one by one."""
        if not self.whole and (missing := keys - self.asked):
            raise Unasked(missing)

    def used_key(self, key: str) -> KeyRecord | None:
        if key not in self.keys:
            self.demand(Keys(idempotency=frozenset({key})))
        return self.keys.get(key)

    def place(self, turn_id: str) -> TurnPlace | None:
        if not (self.all_places or turn_id in self.places or self.book.lacks(turn_id)):
            self.demand(Keys(turn_ids=frozenset({turn_id})))
        return self.places.get(turn_id)

    def turn(self, turn_id: str) -> TurnRecord | None:
        """A turn, whole, in its newest version."""
        place = self.place(turn_id)
        return self.turn_at(place.seq) if place else None

    def turn_at(self, seq: int) -> TurnRecord | None:
        if seq not in self.turns:
            self.demand(Keys(seqs=frozenset({seq})))
        return self.turns.get(seq)

    def newest_tools(self) -> ToolSetRecord | None:
        if not (self.whole or self.asked.tools or self.asked.all_tools):
            raise Unasked(Keys(tools=True))
        return self.tool_sets[-1] if self.tool_sets else None

    def tools_at(self, version: int) -> ToolSetRecord | None:
        """The tool definitions in force at a version."""
        self.demand(Keys(all_tools=True))
        there = (one for one in reversed(self.tool_sets) if one.at_version <= version)
        return next(there, None)

    def next_revision(self) -> int:
        self.demand(Keys(revisions=True))
        return self.revisions + 1

    def whole_history(self) -> History:
        """The whole conversation as it is now."""
        if self.whole and not self.version:
            return History(self.head.head_hash if self.head else b"", (), {}, Book())
        if self.history is None:
            raise Unasked(Keys(history=True))
        return self.history

    def counted(self) -> dict[str, int]:
        """How many of the `PARTS` there are."""
        if self.parts is None:
            raise Unasked(Keys(parts=True))
        return dict(zip(PARTS, self.parts, strict=True))

    def after(self, change: "Change[T]") -> "Slice":
        """What is known once the change is made."""
        if change.erased:
            return Slice.absent(self.conversation_id, self.now, self.custom)
        places, turns = {**self.places}, {**self.turns}
        for one in change.turns:
            places[one.turn_id] = TurnPlace(one.seq, one.content_hash)
            turns[one.seq] = one
        for revision in change.revisions:
            turns[revision.turn.seq] = revision.turn
        return Slice(
            self.conversation_id,
            self.now,
            self.custom,
            change.head or self.head,
            # Whoever enters something makes a copy first.
            change.book or self.book,
            self.asked,
            {**self.keys, **{one.key: one for one in change.keys}},
            places,
            turns,
            (*self.tool_sets, *change.tool_sets),
            self.revisions + len(change.revisions),
            # What was read of the whole is not the whole any more.
            None if change.head else self.history,
            None if self.parts is None else tuple(map(add, self.parts, change.parts())),
            self.whole,
            self.all_places,
        )


@dataclass(frozen=True, slots=True)
class Description:
    """What a conversation is found by through its title and metadata, which the head holds."""

    facets: frozenset[Facet]
    words: Mapping[int, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Change(Generic[T_co]):
    """What a command does to its conversation, and its `receipt`, what the caller is told.

    `head`: the new head; None where it stays. `book`: the ledger afterwards, `entries` what of it
    is new. `words`: of turns, by seq. `erased`: everything goes.
    """

    receipt: T_co
    head: ConversationRecord | None = None
    turns: tuple[TurnRecord, ...] = ()
    revisions: tuple[RevisionRecord, ...] = ()
    book: Book | None = None
    entries: Entries = NO_ENTRIES
    tool_sets: tuple[ToolSetRecord, ...] = ()
    keys: tuple[KeyRecord, ...] = ()
    described: Description | None = None
    facets: frozenset[Facet] = frozenset()
    words: Mapping[int, Sequence[str]] = field(default_factory=dict)
    erased: bool = False

    def parts(self) -> Iterator[int]:
        """How many of the `PARTS` it adds."""
        new = self.entries
        results = len(new.results) - len(new.removed_results)
        rows = (new.provider_ids, self.tool_sets, self.keys)
        yield from map(len, (self.turns, self.revisions, new.calls))
        yield results
        yield from map(len, rows)

    def then(self, later: "Change[T]") -> "Change[T]":
        """Both as one, with the receipt of the later one."""
        if later.erased:
            return later
        return Change(
            later.receipt,
            later.head or self.head,
            (*self.turns, *later.turns),
            (*self.revisions, *later.revisions),
            later.book or self.book,
            self.entries.then(later.entries),
            (*self.tool_sets, *later.tool_sets),
            (*self.keys, *later.keys),
            later.described or self.described,
            self.facets | later.facets,
            {**self.words, **later.words},
            self.erased,
        )


class Command(Protocol[T_co]):
    """Something to be done to one conversation. `adds`: how many turns it is expected to add;
    `size`: the bytes that it holds, roughly, where they may be many."""

    @property
    def conversation_id(self) -> str: ...

    @property
    def adds(self) -> int: ...

    @property
    def size(self) -> int: ...

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        """What it must know, if the conversation has this version by then.

        `waiting`: there are results that wait for a call. Without `ledger`: beside calls, results
        and turn ids, most of which are remembered. What cannot be foreseen is asked for by
        `Unasked`, and loaded then.
        """

    def decide(self, known: Slice) -> Change[T_co]:
        """The change. It may be called again, so it does nothing but decide."""


class Plain:
    """What is common to commands that add no turn, and ask for the head alone unless they say."""

    __slots__ = ()
    adds = 0

    @property
    def size(self) -> int:
        return 0

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        return Keys()


class Removal(Plain):
    """What is common to commands that remove a conversation: they do so in whatever state it is."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sweep(Removal):
    """The command to erase a conversation that has expired; the only one that sees such a one.

    Its receipt says whether it was there.
    """

    conversation_id: str

    def decide(self, known: Slice) -> Change[bool]:
        expired = known.head is not None and known.head.has_expired(known.now)
        return Change(expired, erased=expired)
