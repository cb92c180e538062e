"""Verifying a conversation: every id, hash and mapping is computed again from the stored turns."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from app.codecs import ID_RULES
from app.core.conversation import ToolCall, Turn
from app.core.errors import ConversationNotFound, Damaged
from app.core.identity import ids
from app.core.json.text import JsonObject
from app.core.ledger.append import complete, enter
from app.core.ledger.book import Book
from app.core.ledger.records import CallRecord, ConversationRecord, RevisionRecord, TurnRecord
from app.service.conversations import known, known_form
from app.service.receipts import note
from app.service.turnform import is_linked, read_turn
from app.storage.damage import Fault, may_be_damage
from app.storage.store import ReadStore


def verify(store: ReadStore, cid: str) -> JsonObject:
    """Whatever is damaged is named; nothing of it is an error."""
    known_form(cid)
    checked: JsonObject = {"turns": 0, "tool_calls": 0, "provider_ids": 0}
    if not store.damage.has_head(cid):
        if not (left := store.damage.headless(cid)):
            raise ConversationNotFound(cid)
        detail = f"the conversation is gone, but there are rows of it in {', '.join(left)}"
        return {"ok": False, "checked": checked, "problems": [note("HEAD_MISSING", None, detail)]}
    problems = [_fault(one) for one in store.damage.faults(cid)]
    try:
        checked, found = _recomputed(store, cid)
        problems += found
    except Exception as error:
        if not may_be_damage(error):
            raise
        if not problems:
            why = f"what is stored cannot be computed again ({type(error).__name__})"
            problems.append(note("UNREADABLE", None, why))
    return {"ok": not problems, "checked": checked, "problems": [*problems]}


def demand_sound(store: ReadStore, cid: str) -> None:
    """Raises `Damaged` for a conversation that does not verify."""
    if store.damage.has_head(cid) and not verify(store, cid)["ok"]:
        raise Damaged(cid)


def demand_head(store: ReadStore, cid: str) -> None:
    """Raises `Damaged` for a conversation of which rows are left without a head: there is no room
    for new ones."""
    if store.damage.headless(cid):
        raise Damaged(cid)


def _fault(fault: Fault) -> JsonObject:
    where = f"{fault.table}.{fault.column}"
    place = f" at {', '.join(map(str, fault.place))}" if fault.place else ""
    detail = f"{where}{place} holds what cannot stand there"
    return note("VALUE_DAMAGED", None, detail.encode("ascii", "backslashreplace").decode())


def _recomputed(store: ReadStore, cid: str) -> tuple[JsonObject, list[JsonObject]]:
    """How much there is, and what is wrong with it."""
    head = known(store, cid)
    records = store.turns.posted(cid)
    revisions = store.turns.revisions(cid, records)
    stored_calls = store.ledger.calls(cid)
    versions = [*records, *(revision.turn for revision in revisions)]
    problems: list[JsonObject] = [*_chain(head, records, revisions), *_identities(versions)]
    book = _entered(records, revisions)
    problems += [
        *_calls(book, stored_calls),
        *_results(store, cid, book),
        *_mapping(book, stored_calls),
    ]
    waiting = sum(result.call_id is None for result in book.results.values())
    if waiting != head.orphans:
        detail = f"{waiting} results wait for a call, the conversation says {head.orphans}"
        problems.append(note("ORPHANS_MISMATCH", None, detail))
    checked: JsonObject = {
        "turns": len(records),
        "tool_calls": len(stored_calls),
        "provider_ids": sum(len(record.call.provider_ids) for record in stored_calls),
    }
    return checked, problems


def _entered(records: list[TurnRecord], revisions: list[RevisionRecord]) -> Book:
    """The ledger as it must have become, turn by turn, revisions when they came."""
    book = Book()
    newest: dict[int, Turn] = {}
    later = _by_version(revisions)
    for record in records:
        newest[record.seq] = read_turn(record)
        enter(newest[record.seq], book, ID_RULES)
        for revision in later[record.seq]:
            seq = revision.turn.seq
            after = read_turn(revision.turn)
            complete(newest[seq], after, book, ID_RULES)
            newest[seq] = after
    return book


def _by_version(revisions: list[RevisionRecord]) -> dict[int, list[RevisionRecord]]:
    """The revisions by the version of the conversation at which they came."""
    found: dict[int, list[RevisionRecord]] = defaultdict(list)
    for revision in revisions:
        found[revision.at_version].append(revision)
    return found


def _chain(
    head: ConversationRecord, records: list[TurnRecord], revisions: list[RevisionRecord]
) -> Iterator[JsonObject]:
    before = b""
    expected_seq = 1
    later = _by_version(revisions)
    for record in records:
        if record.seq != expected_seq:
            detail = f"seq {record.seq} stands where {expected_seq} is due"
            yield note("SEQ_GAP", record.turn_id, detail)
        if not is_linked(before, record):
            yield note(
                "HASH_MISMATCH", record.turn_id, "the turn, or the one before it, was changed"
            )
        before = record.hash
        expected_seq = record.seq + 1
        for revision in later[record.seq]:
            if not is_linked(before, revision.turn, revision.number):
                detail = f"revision {revision.number}, or what was stored before it, was changed"
                yield note("HASH_MISMATCH", revision.turn.turn_id, detail)
            before = revision.turn.hash
    if head.version != len(records) or head.head_hash != before:
        detail = f"the conversation says version {head.version}, {len(records)} turns are stored"
        yield note("HEAD_MISMATCH", None, detail)


def _identities(records: list[TurnRecord]) -> Iterator[JsonObject]:
    for record in records:
        turn = read_turn(record)
        if turn.blocks is None:
            yield note("TURN_UNREADABLE", turn.turn_id, "the stored blocks cannot be read")
        for index, call in enumerate(turn.calls()):
            if not _is_own_id(call, turn, index, record.format):
                detail = f"call {index} should not be named {call.id}"
                yield note("CALL_ID_MISMATCH", turn.turn_id, detail)


def _is_own_id(call: ToolCall, turn: Turn, index: int, wire: str) -> bool:
    """A hashed id, or one that came in as a canonical id, as imports do."""
    if not ids.is_canonical(call.id):
        return False
    # A tilde salts the hash where a caller had posted the id before it was due.
    hashed = (
        ids.canonical_id(turn.provider, call.raw_id, call.name, turn.turn_id + "~" * salt, index)
        for salt in range(8)
    )
    return call.id == call.raw_id or wire == "neutral" or call.id in hashed


def _calls(book: Book, stored: list[CallRecord]) -> Iterator[JsonObject]:
    known_calls = {record.call.id: record.call for record in stored}
    for call in book.calls.values():
        found = known_calls.pop(call.id, None)
        if found is None:
            yield note("CALL_MISSING", call.turn_id, f"{call.id} is not in the ledger")
        elif replace(found, provider_ids=call.provider_ids) != call:
            yield note("CALL_DIFFERS", call.turn_id, f"the ledger's row of {call.id} differs")
    for call in known_calls.values():
        yield note("CALL_UNKNOWN", call.turn_id, f"no turn makes the call {call.id}")


def _results(store: ReadStore, cid: str, book: Book) -> Iterator[JsonObject]:
    stored = {(result.seq, result.place): result for result in store.ledger.results(cid)}
    for place, result in book.results.items():
        if stored.pop(place, None) != result:
            detail = f"the ledger's row of the result at block {result.place} differs"
            yield note("RESULT_DIFFERS", result.turn_id, detail)
    for result in stored.values():
        yield note("RESULT_UNKNOWN", result.turn_id, "no turn holds this result")


def _mapping(book: Book, stored: list[CallRecord]) -> Iterator[JsonObject]:
    for record in stored:
        expected = book.calls.get(record.call.id)
        if expected is None or expected.provider_ids == record.call.provider_ids:
            continue
        for target, provider_id in expected.provider_ids.items():
            if record.call.provider_ids.get(target) != provider_id:
                detail = f"the {target} id of {record.call.id} should be {provider_id}"
                yield note("PROVIDER_ID_MISMATCH", record.call.turn_id, detail)
