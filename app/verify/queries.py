"""Verifying a conversation: every id, hash and mapping is computed again from the stored turns."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from ..conversations.commands import known, known_form
from ..database.damage import Fault, may_be_damage
from ..database.store import ReadStore
from ..formats.registry import ID_RULES
from ..ledger.append import complete, enter, with_canonical_ids
from ..ledger.book import Book
from ..ledger.records import ConversationRecord, ResultRecord, RevisionRecord, TurnRecord
from ..model import ids
from ..model.conversation import ToolCall, Turn
from ..model.errors import ConversationNotFound, Damaged
from ..model.json_values import JsonObject
from ..turns.receipts import note
from ..turns.turnform import is_linked, read_turn
from . import rowchecks


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
        # One by one: what was found before something cannot be read stays found.
        problems.extend(_recomputed(store, cid, checked))
    except Exception as error:
        if not may_be_damage(error):
            raise
        why = f"the rest cannot be computed again ({type(error).__name__})"
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


def _recomputed(store: ReadStore, cid: str, checked: JsonObject) -> Iterator[JsonObject]:
    """What is wrong; `checked` is told how much there is."""
    head = known(store, cid)
    records = store.turns.posted(cid)
    revisions = store.turns.revisions(cid, records)
    versions = [*records, *(revision.turn for revision in revisions)]
    checked["turns"] = len(records)
    yield from _chain(head, records, revisions)
    for record in versions:
        if read_turn(record).blocks is None:
            yield note("TURN_UNREADABLE", record.turn_id, "the stored blocks cannot be read")
    book = Book()
    yield from _entered(store, cid, book, records, revisions)
    checked["tool_calls"] = len(book.calls)
    checked["provider_ids"] = len(book.provider_ids())
    waiting = sum(result.call_id is None for result in book.results.values())
    if waiting != head.orphans:
        detail = f"{waiting} results wait for a call, the conversation says {head.orphans}"
        yield note("ORPHANS_MISMATCH", None, detail)
    unanswered = sum(not call.answered for call in book.calls.values())
    if unanswered != head.open_calls:
        detail = f"{unanswered} calls have no result, the conversation says {head.open_calls}"
        yield note("OPEN_CALLS_MISMATCH", None, detail)
    yield from rowchecks.calls(store, cid, book)
    yield from rowchecks.results(store, cid, book)
    yield from rowchecks.provider_ids(store, cid, book)
    yield from rowchecks.contents(store, cid, records, revisions)
    yield from rowchecks.pieces(store, cid)
    yield from rowchecks.seals(store, head)
    yield from rowchecks.found_by(store, head, versions, book)


def _entered(
    store: ReadStore,
    cid: str,
    book: Book,
    records: list[TurnRecord],
    revisions: list[RevisionRecord],
) -> Iterator[JsonObject]:
    """Enters everything as it came, turn by turn, revisions when they came; tells of calls with ids
    that they would not have been given then."""
    newest: dict[int, Turn] = {}
    later = _by_version(revisions)
    rows = {(row.seq, row.place): row for row in store.ledger.results(cid)}
    for record in records:
        turn = newest[record.seq] = read_turn(record)
        yield from _identities(turn, record.format, book)
        enter(turn, book, ID_RULES, _by_position(turn, rows, book))
        for revision in later[record.seq]:
            seq = revision.turn.seq
            before, after = newest[seq], read_turn(revision.turn)
            mine = {*(call.id for call in before.calls()), *book.aside(seq)}
            yield from _identities(after, revision.turn.format, book, mine)
            complete(before, after, book, ID_RULES)
            newest[seq] = after


def _by_position(
    turn: Turn, rows: Mapping[tuple[int, int], ResultRecord], book: Book
) -> dict[int, ResultRecord]:
    """The results that went to the newest turn with an open call although they name another tool.
    Up to version 0.1 they did so even if an older call of that tool was open."""
    found: dict[int, ResultRecord] = {}
    newest = book.newest_open()
    for place, result in turn.results():
        row = rows.get((turn.seq, place))
        if newest is None or row is None or row.matched_by != "position" or result.raw_id:
            continue
        call = book.by_canonical(row.call_id or "")
        if call and not call.answered and call.seq == newest.seq:
            found[place] = row
    return found


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


def _identities(
    turn: Turn, wire: str, book: Book, mine: Collection[str] = ()
) -> Iterator[JsonObject]:
    """`mine`: ids of calls that the turn made in an earlier version."""
    if wire == "neutral":
        # Canonical ids come in with the calls, as in an import.
        expected = [call.id if ids.is_canonical(call.id) else "" for call in turn.calls()]
    else:
        bare = (replace(call, id="") for call in turn.calls())
        given = with_canonical_ids(bare, turn.provider, turn.turn_id, book, mine)
        expected = [call.id for call in given if isinstance(call, ToolCall)]
    for index, (call, call_id) in enumerate(zip(turn.calls(), expected, strict=True)):
        if call.id != call_id:
            detail = f"call {index} should not be named {call.id}"
            yield note("CALL_ID_MISMATCH", turn.turn_id, detail)
