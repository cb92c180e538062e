"""Appending turns: identity, chain and ledger in one transaction, or nothing at all."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from app.codecs import ASSIGNED, PREFIXES
from app.core import ids
from app.core.bookkeeping import Entered, complete, enter
from app.core.chunks import Chunks
from app.core.conversation import Block, Draft, ToolResult, Turn
from app.core.errors import KeyReused, StaleVersion, TurnIdTaken
from app.core.jsontext import Json, JsonObject, dumps, dumps_utf8
from app.core.ledger import Call, with_canonical_ids
from app.core.records import ConversationRecord, ResultRecord, RevisionRecord, TurnRecord
from app.service.conversations import locked
from app.service.posting import Post
from app.service.storeledger import StoreLedger
from app.service.tooldefs import KeepTools, keep_tools
from app.service.turnform import blocks_bytes, chain_hash, content_hash, read_turn
from app.storage.store import Store, TurnIdCollision


@dataclass(frozen=True, slots=True)
class Append:
    """The order to append: what, where, and under which conditions."""

    conversation_id: str
    post: Post
    body_hash: bytes = b""
    key: str | None = None
    expected_version: int | None = None
    tools: KeepTools | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer as bytes; `replayed` when it was given before."""

    answer: bytes
    version: int | None = None
    replayed: bool = False
    status: int = 201


def ingest(store: Store, order: Append) -> Appended:
    head = locked(store, order.conversation_id)
    if order.key is None:
        return _append(store, head, order)
    if not store.claim_key(head.id, order.key, order.body_hash):
        return _first_answer(store, order, order.key)
    done = _append(store, head, order)
    store.save_answer(head.id, order.key, 200 if done.replayed else done.status, done.answer)
    return done


def _append(store: Store, head: ConversationRecord, order: Append) -> Appended:
    cid = head.id
    if order.expected_version is not None and order.expected_version != head.version:
        # A retry of a write that succeeded is stale by its own success.
        if (stored := _stored(store, cid, order.post)) is not None:
            return Appended(dumps_utf8(stored_answer(store, cid, stored)), replayed=True)
        raise StaleVersion(cid, str(order.expected_version), head.version)
    taken: set[str] = set()
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
    version = records[-1].seq
    store.advance(cid, version=version, head_hash=records[-1].hash, orphans=ledger.orphans)
    answer = _answer(cid, version, turns, entered)
    tool_notes = _tool_notes(order.tools) if order.tools else ()
    drafts = _draft_notes(order.post, turns)
    answer["notes"] = [*tool_notes, *drafts, *_listed(answer["notes"])]
    return Appended(dumps_utf8(answer), version)


def _tool_notes(order: KeepTools) -> Iterator[JsonObject]:
    for index, refused in order.offered.prepared.dropped:
        named = refused.name or f"tool {index}"
        yield {"code": "TOOL_DROPPED", "turn_id": None, "detail": f"{named}: {refused.reason}"}


def _draft_notes(post: Post, turns: Sequence[Turn]) -> Iterator[JsonObject]:
    for draft, turn in zip(post.drafts, turns, strict=True):
        for note in draft.notes:
            yield _note(note.code, turn.turn_id, note.detail)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _first_answer(store: Store, order: Append, key: str) -> Appended:
    known = store.idempotent_answer(order.conversation_id, key)
    assert known is not None
    body_hash, _, answer = known
    if body_hash != order.body_hash:
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
        blocks_bytes(turn.blocks or (), long=isinstance(draft.raw, Chunks)),
        dumps(turn.metadata).encode(),
        content_hash(draft, wire),
        b"",
        datetime.now(UTC),
        turn.status,
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
        turn = _placed(draft, seq, name, blocks)
        given.update(call.id for call in turn.calls())
        turns.append(turn)
    return turns


def _placed(draft: Draft, seq: int, name: str, blocks: tuple[Block, ...]) -> Turn:
    return Turn(
        seq,
        name,
        draft.speaker,
        blocks,
        draft.provider or "",
        draft.model,
        draft.all_metadata,
        draft.status,
    )


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
    mine = {call.id for call in before.calls()}
    blocks = with_canonical_ids(
        draft.blocks,
        before.provider,
        before.turn_id,
        lambda one: one not in mine and bool(store.used_canonical(cid, {one})),
    )
    after = _placed(draft, before.seq, before.turn_id, blocks)
    _check_places(before, after)
    number = store.revision_count(cid) + 1
    later = _record(after, draft, order.post.format)
    later = replace(later, hash=chain_hash(head.head_hash, later, number))
    store.insert_revision(cid, RevisionRecord(number, head.version, later))
    ledger = StoreLedger(store, cid, head.orphans)
    entered = complete(before, after, ledger, ASSIGNED, PREFIXES)
    store.advance(cid, version=head.version, head_hash=later.hash, orphans=ledger.orphans)
    calls = _stored_calls(store, cid, after)
    answer = _answer(cid, head.version, [after], [Entered(calls, [], entered.adopted)])
    completed = _note("TURN_COMPLETED", after.turn_id, "it had been interrupted; both are kept")
    notes = [] if draft.status == "interrupted" else [completed]
    answer["notes"] = [*notes, *_draft_notes(order.post, [after]), *_listed(answer["notes"])]
    return Appended(dumps_utf8(answer), head.version, status=200)


def _check_places(before: Turn, after: Turn) -> None:
    """A call that both versions make stands at the same place in both: its id says so."""
    places = {call.id: index for index, call in enumerate(before.calls())}
    for index, call in enumerate(after.calls()):
        if places.get(call.id, index) != index:
            raise TurnIdTaken("The turn is stored with its calls in another order.")


def _repeated(store: Store, order: Append) -> Appended:
    """Turns under ids that are stored: the same ones again, or a contradiction."""
    cid, post = order.conversation_id, order.post
    stored = _stored(store, cid, post)
    if stored is not None:
        return Appended(dumps_utf8(stored_answer(store, cid, stored)), replayed=True)
    known = [
        (draft, record)
        for draft in post.drafts
        if draft.turn_id and (record := store.turn(cid, draft.turn_id))
    ]
    other = [
        draft.turn_id or ""
        for draft, record in known
        if record.content_hash != content_hash(draft, post.format)
    ]
    if other:
        raise TurnIdTaken("These turn ids are stored with other content.", turn_ids=other)
    raise TurnIdTaken(
        "Some of these turns are stored already; post only the others.",
        turn_ids=[draft.turn_id or "" for draft, _ in known],
    )


def _stored(store: Store, cid: str, post: Post) -> list[TurnRecord] | None:
    """The turns of a post, if every one of them is stored under its own id already."""
    found: list[TurnRecord] = []
    for draft in post.drafts:
        record = store.turn(cid, draft.turn_id) if draft.turn_id else None
        if record is None or record.content_hash != content_hash(draft, post.format):
            return None
        found.append(record)
    return found


def stored_answer(store: Store, cid: str, records: Sequence[TurnRecord]) -> JsonObject:
    """The answer that was given for turns that are stored."""
    turns = [read_turn(record) for record in records]
    entered = [
        Entered(_stored_calls(store, cid, turn), _stored_results(store, cid, turn), [])
        for turn in turns
    ]
    return _answer(cid, turns[-1].seq, turns, entered)


def _stored_calls(store: Store, cid: str, turn: Turn) -> list[Call]:
    count = sum(1 for _ in turn.calls())
    if not count:
        return []
    return [one.call for one in store.calls(cid, after=(turn.seq, -1), limit=count)]


def _stored_results(store: Store, cid: str, turn: Turn) -> list[ResultRecord]:
    return store.results_of(cid, turn.seq)


def _answer(
    cid: str, version: int, turns: Sequence[Turn], entered: Sequence[Entered]
) -> JsonObject:
    notes: list[Json] = []
    shown: list[Json] = []
    for turn, what in zip(turns, entered, strict=True):
        shown.append(
            {
                "turn_id": turn.turn_id,
                "seq": turn.seq,
                "speaker": turn.speaker,
                "tool_calls": [
                    {
                        "id": call.id,
                        "raw_id": call.raw_id,
                        "name": call.name,
                        "call_index": call.call_index,
                    }
                    for call in what.calls
                ],
                "tool_results": [_result_json(result) for result in what.results],
                **({} if turn.status == "complete" else {"status": turn.status}),
            }
        )
        notes.extend(_notes(what))
    return {"conversation_id": cid, "version": version, "turns": shown, "notes": notes}


def _result_json(result: ResultRecord) -> JsonObject:
    shown: JsonObject = {
        "call_id": result.call_id,
        "raw_id": result.raw_id,
        "matched_by": result.matched_by,
    }
    return shown | {"repeat": True} if result.repeat else shown


def _notes(what: Entered) -> Iterator[JsonObject]:
    for call in what.calls:
        if not call.raw_id:
            yield _note("ID_SYNTHESIZED", call.turn_id, "the call came without an id")
    for result in what.results:
        match result.matched_by:
            case "none":
                yield _note("ORPHAN_RESULT", result.turn_id, "no call is known for this result yet")
            case "normalized" | "name" | "position" as rule:
                yield _note("MATCHED_BY_FALLBACK", result.turn_id, f"matched by {rule}")
            case _:
                pass
    for result in what.adopted:
        yield _note("EARLY_RESULT_MATCHED", result.turn_id, "the result's call has arrived")


def _note(code: str, turn_id: str, detail: str) -> JsonObject:
    return {"code": code, "turn_id": turn_id, "detail": detail}
