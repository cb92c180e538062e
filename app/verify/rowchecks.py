"""Verifying rows beside the chain: each is computed again and compared with what is stored.

A row that differs, that is missing, or that nobody wrote is a problem.
"""

from collections.abc import Iterator, Mapping, Sequence

from ..database.packing import unpacked_piece
from ..database.rows import (
    NEW_CALL,
    NEW_KEY,
    NEW_PROVIDER_ID,
    NEW_RESULT,
    call_values,
    provider_id_values,
    result_values,
)
from ..database.store import ReadStore
from ..jsontext.plain import read_object
from ..ledger.book import Book
from ..ledger.records import ConversationRecord, RevisionRecord, TurnRecord
from ..ledger.seals import head_seal, key_seal, tool_set_hash
from ..ledger.wanted import ID_PART, METADATA_PART, TITLE_PART, Facet, metadata_facets, turn_facets
from ..model import ids
from ..model.conversation import Turn
from ..model.json_values import JsonObject
from ..model.large import PIECE
from ..search.texts import conversation_words, metadata_words, title_words, turn_words
from ..turns.receipts import note
from ..turns.turnform import content_hashes, read_turn, response_id


def calls(store: ReadStore, cid: str, book: Book) -> Iterator[JsonObject]:
    """Every call with the keys under which it is looked up."""
    stored = {row[0]: row for row in store.stored.rows("tool_calls", NEW_CALL, cid)}
    for call in book.calls.values():
        found = stored.pop(call.id, None)
        if found is None:
            yield note("CALL_MISSING", call.turn_id, f"{call.id} is not in the ledger")
        elif found != call_values(call):
            yield note("CALL_DIFFERS", call.turn_id, f"the ledger's row of {call.id} differs")
    for call_id, row in stored.items():
        turn_id = row[NEW_CALL.index("turn_id")]
        yield note("CALL_UNKNOWN", turn_id, f"no turn makes the call {call_id}")


def results(store: ReadStore, cid: str, book: Book) -> Iterator[JsonObject]:
    stored = {row[:2]: row for row in store.stored.rows("tool_results", NEW_RESULT, cid)}
    for place, result in book.results.items():
        if stored.pop(place, None) != result_values(result):
            detail = f"the ledger's row of the result at block {result.place} differs"
            yield note("RESULT_DIFFERS", result.turn_id, detail)
    for row in stored.values():
        yield note("RESULT_UNKNOWN", row[2], "no turn holds this result")


def provider_ids(store: ReadStore, cid: str, book: Book) -> Iterator[JsonObject]:
    rows = store.stored.rows("provider_ids", NEW_PROVIDER_ID, cid)
    stored = {(target, call_id): tuple(row) for row in rows for target, _, call_id, *_ in [row]}
    for given in book.provider_ids():
        if stored.pop((given.target, given.call_id), None) != provider_id_values(given):
            call = book.calls.get(given.call_id)
            detail = f"the {given.target} id of {given.call_id} should be {given.provider_id}"
            yield note("PROVIDER_ID_MISMATCH", call.turn_id if call else None, detail)
    for target, call_id in stored:
        yield note("PROVIDER_ID_UNKNOWN", None, f"nobody gave {call_id} a {target} id")


def contents(
    store: ReadStore, cid: str, records: Sequence[TurnRecord], revisions: Sequence[RevisionRecord]
) -> Iterator[JsonObject]:
    """The hashes by which retries and responses are known, of turns and of later versions."""
    found = dict(store.stored.rows("turns", ("seq", "response_sha256"), cid))
    for record in records:
        yield from _content(record, found.get(record.seq))
    found = dict(store.stored.rows("turn_revisions", ("number", "response_sha256"), cid))
    for revision in revisions:
        yield from _content(revision.turn, found.pop(revision.number, None))
    for number in found:
        yield note("REVISION_UNKNOWN", None, f"revision {number} belongs to no interrupted turn")
    numbers = [revision.number for revision in revisions]
    if numbers != list(range(1, len(numbers) + 1)):
        yield note("REVISION_UNKNOWN", None, "the revisions are not numbered one by one")
    for revision in revisions:
        if not revision.turn.seq <= revision.at_version <= len(records):
            detail = f"revision {revision.number} came at a version that there never was"
            yield note("REVISION_UNKNOWN", revision.turn.turn_id, detail)


def _content(record: TurnRecord, response_sha256: bytes | None) -> Iterator[JsonObject]:
    turn = read_turn(record)
    if turn.blocks is None:
        return
    if record.content_hash not in content_hashes(record):
        detail = "a retry of the turn would not be known: its content hash is another one"
        yield note("CONTENT_HASH_MISMATCH", turn.turn_id, detail)
    given = response_id(turn)
    if response_sha256 != (ids.fingerprint(given) if given else None):
        detail = "the key under which the response is looked up is another one"
        yield note("RESPONSE_ID_MISMATCH", turn.turn_id, detail)


def pieces(store: ReadStore, cid: str) -> Iterator[JsonObject]:
    """Long values stand in pieces: without gaps, all but the last of one size; others have none."""
    posted = store.stored.rows("turns", ("seq", "blocks"), cid)
    revised = store.stored.rows("turn_revisions", ("seq", "number", "blocks"), cid)
    in_pieces = {(seq, 0) for seq, blocks in posted if not blocks}
    in_pieces |= {(seq, number) for seq, number, blocks in revised if not blocks}
    names = ("seq", "revision", "part", "place", "data")
    found: dict[tuple[int, int, str], dict[int, int]] = {}
    for seq, revision, part, place, data in store.stored.rows("turn_pieces", names, cid):
        found.setdefault((seq, revision, part), {})[place] = len(unpacked_piece(data))
    for (seq, revision, part), sizes in found.items():
        known = (seq, revision) in in_pieces and part in ("payload", "blocks", "originals")
        lengths = [sizes[place] for place in sorted(sizes)]
        whole = sorted(sizes) == list(range(len(sizes))) and set(lengths[:-1]) <= {PIECE}
        if not (known and whole and lengths[-1]):
            yield note("PIECE_UNKNOWN", None, f"turn {seq} has pieces that nobody wrote")


def seals(store: ReadStore, head: ConversationRecord) -> Iterator[JsonObject]:
    """The head, the tool sets and the receipts that are kept under keys."""
    tenant_id, cid = store.tenant_id, head.id
    [(seal,)] = store.stored.rows("conversations", ("seal",), cid)
    if seal != head_seal(tenant_id, head):
        detail = "title, metadata, a time or a number of the conversation was changed"
        yield note("SEAL_MISMATCH", None, detail)
    links = dict(store.stored.rows("tool_sets", ("number", "hash"), cid))
    last = b""
    for number, one in enumerate(store.tools.every(cid), 1):
        last = tool_set_hash(last, one)
        if (one.number, links[one.number]) != (number, last):
            yield note(
                "TOOLS_MISMATCH", None, f"tool set {one.number} or one before it was changed"
            )
    if last != head.tools_hash:
        yield note("TOOLS_MISMATCH", None, "the last tool set is not the one that was kept last")
    for *values, mine in store.stored.rows("idempotency_keys", NEW_KEY[:-1], cid):
        if key_seal(tenant_id, cid, *values) != mine:
            yield note("KEY_MISMATCH", None, "the receipt under an idempotency key was changed")


def found_by(
    store: ReadStore, head: ConversationRecord, versions: Sequence[TurnRecord], book: Book
) -> Iterator[JsonObject]:
    """Facets and words. Conversations that wait for the index have perhaps not all of them yet."""
    cid, turns = head.id, [read_turn(record) for record in versions]
    facets = {
        *metadata_facets(read_object(head.metadata)),
        *turn_facets(turns),
        *(Facet("tool", call.name) for call in book.calls.values()),
    }
    expected = {(facet.kind, facet.fingerprint) for facet in facets}
    stored = set(store.stored.rows("conversation_facets", ("kind", "value_sha256"), cid))
    if stored - expected or (head.indexed == head.version and expected - stored):
        detail = "it is found by other providers, tools or metadata than it has"
        yield note("FACETS_MISMATCH", None, detail)
    newest = {turn.seq: turn for turn in turns}
    for part, words in store.stored.words(cid).items():
        if part in newest and newest[part].blocks is None:
            continue
        if part <= head.indexed and set(words) != _words(head, newest, book, part):
            yield note("WORDS_MISMATCH", None, f"part {part} is found by other words than it has")
        elif part > head.version:
            yield note(
                "WORDS_MISMATCH", None, f"there are words of a turn {part}, which is not there"
            )


def _words(
    head: ConversationRecord, newest: Mapping[int, Turn], book: Book, part: int
) -> set[str] | None:
    if part == ID_PART:
        return set(conversation_words(head.id))
    if part == METADATA_PART:
        return set(metadata_words(read_object(head.metadata)))
    if part == TITLE_PART:
        return set(title_words(head.title))
    return set(turn_words(newest[part], book.calls_of(part))) if part in newest else None
