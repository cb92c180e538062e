"""Appending turns: identity, chain and ledger in one change, or nothing at all."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import replace

from ..conversations.commands import ensured
from ..formats.registry import ID_RULES
from ..ledger.append import (
    Entered,
    complete,
    enter,
    keys_of,
    names_waited_for,
    place,
    with_canonical_ids,
)
from ..ledger.book import Book
from ..ledger.load_request import NO_KEYS, Keys
from ..ledger.records import ConversationRecord, KeyRecord, RevisionRecord, TurnRecord
from ..ledger.slice import Change, Slice
from ..ledger.wanted import turn_facets
from ..model import ids
from ..model.conversation import Draft, Remark, Turn
from ..model.errors import KeyReused, StaleVersion, TurnIdTaken
from ..model.json_values import Json, JsonObject
from ..model.usage import Usage
from ..model.value import dataclass
from ..tools.commands import KeepTools, kept_tools
from .receipts import (
    completed_note,
    post_notes,
    receipt_bytes,
    receipt_of,
    stored_receipt,
    tool_notes,
)
from .retries import contradiction, stored_turns
from .turnform import NewTurn, chain_hash, read_turn, usage_of


@dataclass(frozen=True, slots=True)
class Synced:
    """What the receipt of a synced list says beside its new turns. `turns`: completed ones."""

    known: int
    notes: tuple[Json, ...] = ()
    turns: tuple[Json, ...] = ()

    def beside(self, receipt: JsonObject) -> JsonObject:
        """The receipt of the whole list; `receipt` is that of what is new."""
        more = self.with_receipt(receipt)
        return receipt | {"turns": [*more.turns], "notes": [*more.notes], "known": self.known}

    def with_receipt(self, receipt: JsonObject) -> "Synced":
        turns, notes = receipt["turns"], receipt["notes"]
        assert isinstance(turns, list)
        assert isinstance(notes, list)
        return Synced(self.known, (*self.notes, *notes), (*self.turns, *turns))


@dataclass(frozen=True, slots=True)
class Appended:
    """The receipt as bytes; `replayed` when it was given before.

    `overtaken` names the turn that was stored although its version had passed. `members`: those of
    the receipt, where an interrupted turn was completed.
    """

    receipt: bytes
    version: int | None = None
    replayed: bool = False
    status: int = 201
    overtaken: str | None = None
    members: JsonObject | None = None


class Once(ABC):
    """What is common to commands that append: they make the conversation where it is absent, and a
    key that was used before gives its first receipt again."""

    __slots__ = ()
    body_hash: bytes
    key: str | None

    def decide(self, known: Slice) -> Change[Appended]:
        key, body_hash = self.key, self.body_hash
        if key is not None and (used := known.used_key(key)):
            if used.body_sha256 != body_hash:
                raise KeyReused(key)
            return Change(Appended(used.receipt, replayed=True))
        there, made = ensured(known)
        change = self.append(there) if there is known else made.then(self.append(there))
        if key is None:
            return change
        done = change.receipt
        status = 200 if done.replayed else done.status
        return replace(change, keys=(KeyRecord(key, body_hash, status, done.receipt, known.now),))

    @abstractmethod
    def append(self, known: Slice) -> Change[Appended]:
        """Appends to a conversation that is there."""


@dataclass(frozen=True, slots=True)
class Append(Once):
    """The command to append: what, where, and under which conditions.

    `arrived`: a stream that has come and cannot be had again; it is stored at any version.
    `texts`: the receipt is to say what each turn says. `notes`: remarks on the body as a whole.
    """

    conversation_id: str
    turns: tuple[NewTurn, ...]
    body_hash: bytes = b""
    key: str | None = None
    expected_version: int | None = None
    tools: KeepTools | None = None
    arrived: bool = False
    texts: bool = False
    synced: Synced | None = None
    size: int = 0
    notes: tuple[Remark, ...] = ()

    @property
    def adds(self) -> int:
        return len(self.turns)

    @property
    def drafts(self) -> list[Draft]:
        return [new.draft for new in self.turns]

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        asked = NO_KEYS
        if self.key is not None or self.tools:
            key = frozenset() if self.key is None else frozenset({self.key})
            asked = Keys(idempotency=key, tools=self.tools is not None)
        if not ledger:
            return asked
        drafts, cid = self.drafts, self.conversation_id
        return asked | keys_of(drafts, cid, version, ID_RULES, waiting=waiting)

    def append(self, known: Slice) -> Change[Appended]:
        if self.expected_version is None or self.expected_version == known.version:
            return _append_now(known, self)
        # A retry of a write that succeeded is stale by its own success.
        if (stored := stored_turns(known, self.turns)) is not None:
            return _replayed(known, self, stored)
        # One that was erased while the stream came has nothing that this could stand behind.
        if not (self.arrived and known.version):
            raise StaleVersion(known.conversation_id, str(self.expected_version), known.version)
        change = _append_now(known, self)
        overtaken = self.turns[0].draft.turn_id or change.turns[0].turn_id
        return replace(change, receipt=replace(change.receipt, overtaken=overtaken))


def _append_now(known: Slice, order: Append) -> Change[Appended]:
    minted = [new.draft.turn_id for new in order.turns if new.draft.turn_id]
    if len(set(minted)) < len(minted) or any(known.place(one) for one in minted):
        broken = _interrupted(known, order.turns)
        return _complete(known, order, broken) if broken else _repeated(known, order)
    head = known.head
    assert head is not None
    book = known.book.copy()
    turns: list[Turn] = []
    records: list[TurnRecord] = []
    entered: list[Entered] = []
    before = head.head_hash
    ids_of = [
        new.draft.turn_id or _derived_id(known, seq, minted)
        for seq, new in enumerate(order.turns, head.version + 1)
    ]
    if book.orphans:
        known.demand(names_waited_for(order.drafts, ids_of, known.version, known.book, ID_RULES))
    for seq, (new, turn_id) in enumerate(zip(order.turns, ids_of, strict=True), head.version + 1):
        turn = place(new.draft, seq, turn_id, book)
        record = new.record(turn, known.now)
        before = chain_hash(before, record)
        records.append(replace(record, hash=before))
        entered.append(enter(turn, book, ID_RULES))
        turns.append(turn)
    used = [usage_of(new.draft.format, turn) for new, turn in zip(order.turns, turns, strict=True)]
    notes = [*tool_notes(order.tools), *post_notes(order.notes, order.drafts, turns)]
    version = head.version + len(turns)
    receipt = receipt_of(head.id, version, turns, entered, used, notes, texts=order.texts)
    if order.synced:
        receipt = order.synced.beside(receipt)
    return Change(
        Appended(receipt_bytes(receipt), version),
        head=_advanced(known, book, version, before, sum(filter(None, used), head.usage)),
        turns=tuple(records),
        book=book,
        entries=book.entries(),
        tool_sets=kept_tools(known, order.tools, riding=True),
        facets=turn_facets(turns) - book.facets,
    )


def _advanced(
    known: Slice, book: Book, version: int, head_hash: bytes, usage: Usage
) -> ConversationRecord:
    """The new head. `usage`: what all responses took."""
    assert known.head is not None
    return replace(
        known.head,
        version=version,
        head_hash=head_hash,
        orphans=book.orphans,
        open_calls=book.open_calls,
        updated_at=known.now,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    ).renewed(known.now)


def _derived_id(known: Slice, seq: int, minted: Collection[str]) -> str:
    """Turn ids of an imported history may be those that this conversation would derive."""
    key = known.conversation_id
    while (derived := ids.turn_id(key, seq)) in minted or known.place(derived):
        key += "~"
    return derived


def _interrupted(known: Slice, turns: tuple[NewTurn, ...]) -> TurnRecord | None:
    """The interrupted turn that this post completes, if it does."""
    if len(turns) != 1:
        return None
    (new,) = turns
    draft = new.draft
    record = known.turn(draft.turn_id or "")
    if record is None or record.status == "complete" or draft.speaker != record.speaker:
        return None
    if record.content_hash == new.content_hash or draft.provider != record.provider:
        return None
    return record


def _complete(known: Slice, order: Append, record: TurnRecord) -> Change[Appended]:
    """A later version of an interrupted turn, in its place. Both stay stored."""
    head = known.head
    assert head is not None
    book = known.book.copy()
    before = read_turn(record)
    (new,) = order.turns
    after = later_version(new.draft, before, book)
    number = known.next_revision()
    later = new.record(after, known.now)
    later = replace(later, hash=chain_hash(head.head_hash, later, number))
    entered = complete(before, after, book, ID_RULES)
    used = [usage_of(new.draft.format, after)]
    # The conversation took what its turns say, each in its newest version. A turn of an earlier
    # release may not have been counted: no more is taken off than the sum holds.
    counted = (usage_of(record.format, before) or Usage()).at_most(head.usage)
    notes = list(post_notes(order.notes, order.drafts, [after]))
    if new.draft.status == "complete":
        notes.insert(0, completed_note(after.turn_id))
    calls = book.calls_of(after.seq)
    made = replace(entered, calls=[call for call in calls if call.call_index >= 0])
    receipt = receipt_of(head.id, head.version, [after], [made], used, notes, texts=order.texts)
    if order.synced:
        receipt = order.synced.beside(receipt)
    revised = replace(later, completed_at=head.version)
    usage = head.usage + (used[0] or Usage()) - counted
    advanced = _advanced(known, book, head.version, later.hash, usage)
    return Change(
        Appended(receipt_bytes(receipt), head.version, status=200, members=receipt),
        # Its words are others now.
        head=replace(advanced, indexed=min(head.indexed, after.seq - 1)),
        revisions=(RevisionRecord(number, head.version, revised),),
        book=book,
        entries=book.entries(),
        facets=turn_facets([after]) - book.facets,
    )


def later_version(draft: Draft, before: Turn, book: Book) -> Turn:
    """The turn that takes the place of an interrupted one; calls of both keep their ids."""
    mine = {*(call.id for call in before.calls()), *book.aside(before.seq)}
    blocks = with_canonical_ids(draft.blocks, before.provider, before.turn_id, book, mine)
    after = draft.placed(before.seq, before.turn_id, blocks)
    # A call that both versions make stands at the same place in both: its id says so.
    places = {call.id: index for index, call in enumerate(before.calls())}
    for index, call in enumerate(after.calls()):
        if places.get(call.id, index) != index:
            raise TurnIdTaken(
                "The turn is stored with its calls in another order; choose another `turn_id`."
            )
    return after


def _repeated(known: Slice, order: Append) -> Change[Appended]:
    """Turns under ids that are stored: the same ones again, or a contradiction."""
    stored = stored_turns(known, order.turns)
    if stored is None:
        raise contradiction(known, order.turns)
    if order.synced:
        raise TurnIdTaken(
            "A new message of the list has the `turn_id` of a stored turn; it must have another.",
            turn_ids=[new.draft.turn_id for new in order.turns if new.draft.turn_id],
        )
    return _replayed(known, order, stored)


def _replayed(known: Slice, order: Append, stored: list[TurnRecord]) -> Change[Appended]:
    receipt = stored_receipt(known, stored, texts=order.texts)
    return Change(Appended(receipt_bytes(receipt), replayed=True))
