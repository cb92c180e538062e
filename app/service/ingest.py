"""Appending turns: identity, chain and ledger in one transaction, or nothing at all."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from app.codecs import ASSIGNED, PREFIXES
from app.core import ids
from app.core.bookkeeping import Entered, enter
from app.core.conversation import Turn
from app.core.errors import KeyReused, StaleVersion, TurnIdTaken
from app.core.jsontext import Json, JsonObject, dumps, dumps_utf8
from app.core.ledger import Call, with_canonical_ids
from app.core.records import ConversationRecord, ResultRecord, TurnRecord
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


def ingest(store: Store, order: Append) -> Appended:
    head = locked(store, order.conversation_id)
    if order.key is None:
        return _append(store, head, order)
    if not store.claim_key(head.id, order.key, order.body_hash):
        return _first_answer(store, order, order.key)
    done = _append(store, head, order)
    store.save_answer(head.id, order.key, 200 if done.replayed else 201, done.answer)
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
                return _repeated(store, cid, order.post)
            # Turn ids of an imported history may be those this conversation would derive.
            taken.add(collision.turn_id)
    if order.tools is not None:
        keep_tools(store, head, order.tools, riding=True)
    ledger = StoreLedger(store, cid, head.orphans)
    entered = [enter(turn, ledger, ASSIGNED, PREFIXES) for turn in turns]
    version = records[-1].seq
    store.advance(cid, version=version, head_hash=records[-1].hash, orphans=ledger.orphans)
    answer = _answer(cid, version, turns, entered)
    if order.tools is not None:
        answer["notes"] = [*_tool_notes(order.tools), *_listed(answer["notes"])]
    return Appended(dumps_utf8(answer), version)


def _tool_notes(order: KeepTools) -> Iterator[JsonObject]:
    for index, refused in order.offered.prepared.dropped:
        named = refused.name or f"tool {index}"
        yield {"code": "TOOL_DROPPED", "turn_id": None, "detail": f"{named}: {refused.reason}"}


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
    now = datetime.now(UTC)
    before = head.head_hash
    records: list[TurnRecord] = []
    turns = _turns(store, head, post, taken)
    for turn, draft in zip(turns, post.drafts, strict=True):
        record = TurnRecord(
            turn.seq,
            turn.turn_id,
            turn.speaker,
            turn.provider,
            post.format,
            turn.model,
            draft.payload.encode("utf-8", "surrogatepass"),
            blocks_bytes(turn.blocks or ()),
            dumps(draft.metadata).encode(),
            content_hash(draft, post.format),
            b"",
            now,
        )
        before = chain_hash(before, record)
        records.append(replace(record, hash=before))
    return turns, records


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
        turn = Turn(seq, name, draft.speaker, blocks, provider, draft.model, draft.metadata)
        given.update(call.id for call in turn.calls())
        turns.append(turn)
    return turns


def _derived_id(conversation_id: str, seq: int, taken: Collection[str]) -> str:
    key = conversation_id
    while (derived := ids.turn_id(key, seq)) in taken:
        key += "~"
    return derived


def _repeated(store: Store, cid: str, post: Post) -> Appended:
    """Turns under ids that are stored: the same ones again, or a contradiction."""
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
