"""Appending turns: identity, chain and ledger in one transaction, or nothing at all."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from app.codecs import ASSIGNED, PREFIXES
from app.core.conversation import Draft, ToolResult, Turn
from app.core.errors import KeyReused, StaleVersion, TurnIdTaken
from app.core.identity import ids
from app.core.json.large import Chunks
from app.core.json.text import Json, JsonObject, dumps, dumps_utf8
from app.core.ledger.entering import Entered, complete, enter
from app.core.ledger.matching import with_canonical_ids
from app.core.ledger.records import ConversationRecord, RevisionRecord, TurnRecord
from app.core.wire.usage import Usage
from app.service.appended import answer, note, post_notes, stored_answer, stored_calls, tool_notes
from app.service.conversations import locked
from app.service.indexing import index_turns
from app.service.posting import Post
from app.service.retries import contradiction, stored_turns
from app.service.storeledger import StoreLedger
from app.service.tooldefs import KeepTools, keep_tools
from app.service.turnform import blocks_bytes, chain_hash, content_hash, read_turn, response_id
from app.service.usage import usage_of
from app.storage.store import Store, TurnIdCollision


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
class Append:
    """The order to append: what, where, and under which conditions.

    `arrived`: a stream that has come and cannot be had again; it is stored at any version.
    `texts`: the receipt is to say what each turn says.
    """

    conversation_id: str
    post: Post
    body_hash: bytes = b""
    key: str | None = None
    expected_version: int | None = None
    tools: KeepTools | None = None
    arrived: bool = False
    texts: bool = False
    synced: Synced | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer as bytes; `replayed` when it was given before.

    `overtaken` names the turn that was stored although its version had passed. `receipt`: the
    answer as a value, where an interrupted turn was completed.
    """

    answer: bytes
    version: int | None = None
    replayed: bool = False
    status: int = 201
    overtaken: str | None = None
    receipt: JsonObject | None = None


def ingest(store: Store, order: Append) -> Appended:
    head = locked(store, order.conversation_id)
    return once(store, head, order.key, order.body_hash, lambda: append(store, head, order))


def once(
    store: Store,
    head: ConversationRecord,
    key: str | None,
    body_hash: bytes,
    deed: Callable[[], Appended],
) -> Appended:
    """Does it, unless the key says that it was done: then the first answer is given again."""
    if key is None:
        return deed()
    if not store.claim_key(head.id, key, body_hash):
        return _first_answer(store, head.id, key, body_hash)
    done = deed()
    store.save_answer(head.id, key, 200 if done.replayed else done.status, done.answer)
    return done


def append(store: Store, head: ConversationRecord, order: Append) -> Appended:
    if order.expected_version is None or order.expected_version == head.version:
        return _append_now(store, head, order)
    # A retry of a write that succeeded is stale by its own success.
    if (stored := stored_turns(store, head.id, order.post)) is not None:
        return Appended(_stored_receipt(store, order, stored), replayed=True)
    if not order.arrived:
        raise StaleVersion(head.id, str(order.expected_version), head.version)
    done = _append_now(store, head, order)
    (draft,) = order.post.drafts
    if draft.turn_id is not None:
        return replace(done, overtaken=draft.turn_id)
    (added,) = store.turns(head.id, after=head.version, payloads=False)
    return replace(done, overtaken=added.turn_id)


def _append_now(store: Store, head: ConversationRecord, order: Append) -> Appended:
    cid = head.id
    # No derived id may be one that the post itself gives to another turn.
    taken = {draft.turn_id for draft in order.post.drafts if draft.turn_id}
    while True:
        turns, records = _records(store, head, order.post, taken)
        try:
            store.insert_turns(cid, records)
            break
        except TurnIdCollision as collision:
            if any(draft.turn_id == collision.turn_id for draft in order.post.drafts):
                broken = _interrupted(store, cid, order.post)
                return _complete(store, head, order, broken) if broken else _repeated(store, order)
            # Turn ids of an imported history may be those this conversation would derive.
            taken.add(collision.turn_id)
    if order.tools is not None:
        keep_tools(store, head, order.tools, riding=True)
    ledger = StoreLedger(store, cid, head.orphans)
    entered = [enter(turn, ledger, ASSIGNED, PREFIXES) for turn in turns]
    index_turns(store, cid, turns, (call for one in entered for call in one.calls), new=True)
    version = records[-1].seq
    used = [usage_of(order.post.format, turn) for turn in turns]
    store.advance(
        cid,
        version=version,
        head_hash=records[-1].hash,
        orphans=ledger.orphans,
        used=sum(filter(None, used), Usage()),
    )
    notes = [*tool_notes(order.tools), *post_notes(order.post, turns)]
    receipt = answer(cid, version, turns, entered, used, notes, texts=order.texts)
    if order.synced:
        receipt = order.synced.beside(receipt)
    return Appended(dumps_utf8(receipt), version)


def _first_answer(store: Store, cid: str, key: str, body_hash: bytes) -> Appended:
    known = store.idempotent_answer(cid, key)
    assert known is not None
    first_hash, _, answer = known
    if first_hash != body_hash:
        raise KeyReused(key)
    assert answer is not None
    return Appended(answer, replayed=True)


def _records(
    store: Store, head: ConversationRecord, post: Post, taken: Collection[str]
) -> tuple[list[Turn], list[TurnRecord]]:
    before = head.head_hash
    records: list[TurnRecord] = []
    turns = _turns(store, head, post, taken)
    for turn, draft in zip(turns, post.drafts, strict=True):
        record = _record(turn, draft, post.format)
        before = chain_hash(before, record)
        records.append(replace(record, hash=before))
    return turns, records


def _record(turn: Turn, draft: Draft, wire: str) -> TurnRecord:
    """The turn as it is stored, but for its link in the chain."""
    return TurnRecord(
        turn.seq,
        turn.turn_id,
        turn.speaker,
        turn.provider,
        wire,
        turn.model,
        draft.raw,
        blocks_bytes(turn.blocks or (), long=isinstance(draft.stream, Chunks)),
        dumps(turn.metadata).encode(),
        content_hash(draft, wire),
        b"",
        datetime.now(UTC),
        turn.status,
        response_id=response_id(turn),
    )


def _turns(
    store: Store, head: ConversationRecord, post: Post, taken: Collection[str]
) -> list[Turn]:
    """The drafts in their places, every call under its canonical id."""
    turns = _identified(head, post, taken, lambda _: False)
    wanted = {call.id for turn in turns for call in turn.calls()}
    if not wanted or not store.used_canonical(head.id, wanted):
        return turns
    return _identified(head, post, taken, lambda one: bool(store.used_canonical(head.id, {one})))


def _identified(
    head: ConversationRecord, post: Post, taken: Collection[str], used: Callable[[str], bool]
) -> list[Turn]:
    turns: list[Turn] = []
    given: set[str] = set()

    def is_used(canonical: str) -> bool:
        return canonical in given or used(canonical)

    for seq, draft in enumerate(post.drafts, head.version + 1):
        name = draft.turn_id or _derived_id(head.id, seq, taken)
        provider = draft.provider or ""
        blocks = with_canonical_ids(draft.blocks, provider, name, is_used)
        turn = draft.placed(seq, name, blocks)
        given.update(call.id for call in turn.calls())
        turns.append(turn)
    return turns


def _derived_id(conversation_id: str, seq: int, taken: Collection[str]) -> str:
    key = conversation_id
    while (derived := ids.turn_id(key, seq)) in taken:
        key += "~"
    return derived


def _interrupted(store: Store, cid: str, post: Post) -> TurnRecord | None:
    """The interrupted turn that this post completes, if it does."""
    if len(post.drafts) != 1:
        return None
    (draft,) = post.drafts
    record = store.turn(cid, draft.turn_id or "")
    if record is None or record.status == "complete" or draft.speaker != record.speaker:
        return None
    same_content = record.content_hash == content_hash(draft, post.format)
    has_results = any(isinstance(block, ToolResult) for block in draft.blocks)
    if same_content or has_results or draft.provider != record.provider:
        return None
    return record


def _complete(
    store: Store, head: ConversationRecord, order: Append, record: TurnRecord
) -> Appended:
    """A later version of an interrupted turn, in its place. Both stay stored."""
    cid = head.id
    before = read_turn(record)
    (draft,) = order.post.drafts
    mine = {*(call.id for call in before.calls()), *store.aside(cid, before.seq)}
    blocks = with_canonical_ids(
        draft.blocks,
        before.provider,
        before.turn_id,
        lambda one: one not in mine and bool(store.used_canonical(cid, {one})),
    )
    after = draft.placed(before.seq, before.turn_id, blocks)
    _check_places(before, after)
    number = store.revision_count(cid) + 1
    later = _record(after, draft, order.post.format)
    later = replace(later, hash=chain_hash(head.head_hash, later, number))
    store.insert_revision(cid, RevisionRecord(number, head.version, later))
    ledger = StoreLedger(store, cid, head.orphans)
    entered = complete(before, after, ledger, ASSIGNED, PREFIXES)
    used = [usage_of(order.post.format, after)]
    # The conversation took what its turns say, each in its newest version. A turn of an earlier
    # release may not have been counted: no more is taken off than the sum holds.
    counted = (usage_of(record.format, before) or Usage()).at_most(head.usage)
    store.advance(
        cid,
        version=head.version,
        head_hash=later.hash,
        orphans=ledger.orphans,
        used=(used[0] or Usage()) - counted,
    )
    notes = list(post_notes(order.post, [after]))
    if draft.status == "complete":
        detail = "it had been interrupted; both are kept"
        notes.insert(0, note("TURN_COMPLETED", after.turn_id, detail))
    made = Entered(stored_calls(store, cid, after), [], entered.adopted)
    index_turns(store, cid, [after], store.index.calls(cid, after.seq - 1, after.seq))
    shown = answer(cid, head.version, [after], [made], used, notes, texts=order.texts)
    if order.synced:
        shown = order.synced.beside(shown)
    return Appended(dumps_utf8(shown), head.version, status=200, receipt=shown)


def _check_places(before: Turn, after: Turn) -> None:
    """A call that both versions make stands at the same place in both: its id says so."""
    places = {call.id: index for index, call in enumerate(before.calls())}
    for index, call in enumerate(after.calls()):
        if places.get(call.id, index) != index:
            raise TurnIdTaken(
                "The turn is stored with its calls in another order; choose another `turn_id`."
            )


def _repeated(store: Store, order: Append) -> Appended:
    """Turns under ids that are stored: the same ones again, or a contradiction."""
    cid, post = order.conversation_id, order.post
    stored = stored_turns(store, cid, post)
    if stored is None:
        raise contradiction(store, cid, post)
    if order.synced:
        raise TurnIdTaken(
            "A new message of the list has the `turn_id` of a stored turn; it must have another.",
            turn_ids=[draft.turn_id for draft in post.drafts if draft.turn_id],
        )
    return Appended(_stored_receipt(store, order, stored), replayed=True)


def _stored_receipt(store: Store, order: Append, records: list[TurnRecord]) -> bytes:
    return dumps_utf8(stored_answer(store, order.conversation_id, records, texts=order.texts))
