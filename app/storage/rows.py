"""Rows as the values of `core.ledger.records`, and back; columns in the order of the fields."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement

from app.core.identity import ids
from app.core.json.large import Bytes, Chunks
from app.core.ledger.records import (
    Call,
    ConversationRecord,
    ProviderId,
    ResultRecord,
    RevisionRecord,
    TurnRecord,
)
from app.storage.driver import Values
from app.storage.packing import packed, unpacked, unpacked_blocks
from app.storage.scope import AnyRow
from app.storage.tables import (
    conversations,
    tool_calls,
    tool_results,
    tool_sets,
    turn_revisions,
    turns,
)

Columns = Sequence[ColumnElement[Any]]


def _named(table: Any, names: str) -> Columns:
    return [table.c[name] for name in names.split()]


CONVERSATION = _named(
    conversations,
    "conversation_id title metadata version head_hash orphans created_at updated_at"
    " input_tokens output_tokens cached_tokens reasoning_tokens indexed tools_hash expires_after"
    " expires_at open_calls",
)
TURN = _named(
    turns,
    "seq turn_id speaker provider format model payload blocks metadata content_hash hash"
    " created_at status",
)
REVISION = _named(
    turn_revisions,
    "number at_version seq format model payload blocks metadata content_hash hash created_at"
    " status",
)
TURN_WITHOUT_PAYLOAD = [column for column in TURN if column is not turns.c.payload]
CALL = _named(tool_calls, "call_id raw_id name provider model turn_id seq call_index answered")
RESULT = _named(tool_results, "seq place turn_id raw_id name status call_id matched_by repeat")
TOOL_SET = _named(tool_sets, "number at_version provider format payload definitions created_at")

# The columns of new rows, in the order of their values.
NEW_CONVERSATION = [*(column.name for column in CONVERSATION[1:]), "seal"]
NEW_TURN = [*(column.name for column in TURN), "response_sha256"]
NEW_REVISION = [*(column.name for column in REVISION), "response_sha256"]
NEW_CALL = [*(column.name for column in CALL), "raw_sha256", "normalized_sha256"]
NEW_RESULT = [*(column.name for column in RESULT), "raw_sha256", "normalized_sha256"]
NEW_PROVIDER_ID = ["target", "provider_id", "call_id", "ordinal", "provider_sha256"]
NEW_TOOL_SET = [*(column.name for column in TOOL_SET), "hash"]
NEW_KEY = ["key_sha256", "body_sha256", "status", "answer", "seal", "created_at"]

_TURN_HEAD = attrgetter("seq", "turn_id", "speaker", "provider", "format", "model")
_TURN_REST = attrgetter("metadata", "content_hash", "hash", "created_at", "status")
_CALL = attrgetter("id", *(column.name for column in CALL[1:]))

conversation_values = attrgetter(*NEW_CONVERSATION[:-1])
_NUMBERS = attrgetter(
    *("version", "orphans", "open_calls", "indexed"),
    *("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"),
)
tool_set_values = attrgetter(*NEW_TOOL_SET[:-1])
_RESULT = attrgetter(*(column.name for column in RESULT))


def conversation(row: Sequence[Any]) -> ConversationRecord:
    """The head. Everything is built on it, and SQLite keeps whatever a column is given."""
    record = ConversationRecord(*row)
    parts = (record.id, record.metadata, record.head_hash, record.tools_hash)
    numbers = {*map(type, _NUMBERS(record))}
    if tuple(map(type, parts)) != (str, bytes, bytes, bytes) or numbers != {int}:
        raise ValueError("the head is damaged")
    return record


def turn(row: Sequence[Any]) -> TurnRecord:
    seq, turn_id, speaker, provider, form, model, payload, blocks, *rest = row
    payload, blocks = unpacked(payload, blocks)
    return TurnRecord(seq, turn_id, speaker, provider, form, model, payload, blocks, *rest)


def turn_without_payload(row: Sequence[Any]) -> TurnRecord:
    seq, turn_id, speaker, provider, form, model, blocks, *rest = row
    blocks = unpacked_blocks(blocks)
    return TurnRecord(seq, turn_id, speaker, provider, form, model, b"", blocks, *rest)


def revision(row: AnyRow, turn: TurnRecord) -> RevisionRecord:
    """A later version of a turn."""
    number, at_version, _, form, model, payload, blocks, metadata, content, mine, when, status = row
    payload, blocks = unpacked(payload, blocks)
    later = replace(
        turn,
        format=form,
        model=model,
        payload=payload,
        blocks=blocks,
        metadata=metadata,
        content_hash=content,
        hash=mine,
        created_at=when,
        status=status,
        completed_at=at_version,
    )
    return RevisionRecord(number, at_version, later)


def turn_values(turn: TurnRecord) -> Values:
    return (*_TURN_HEAD(turn), *_turn_content(turn))


def revision_values(record: RevisionRecord) -> Values:
    turn = record.turn
    where = (record.number, record.at_version, turn.seq, turn.format, turn.model)
    return (*where, *_turn_content(turn))


def _turn_content(turn: TurnRecord) -> Values:
    response = ids.fingerprint(turn.response_id) if turn.response_id else None
    return (*packed(_in_row(turn.payload), _in_row(turn.blocks)), *_TURN_REST(turn), response)


def _in_row(value: Bytes) -> bytes:
    """A long value stands in pieces of its own; the row has nothing then, which no value is."""
    return b"" if isinstance(value, Chunks) else value


def call_values(call: Call) -> Values:
    return (*_CALL(call), *_fingerprints(call.raw_id))


def result_values(result: ResultRecord) -> Values:
    return (*_RESULT(result), *_fingerprints(result.raw_id))


def provider_id_values(given: ProviderId) -> Values:
    known = (given.target, given.provider_id, given.call_id, given.ordinal)
    return (*known, ids.fingerprint(given.provider_id))


def _fingerprints(raw_id: str | None) -> tuple[bytes | None, bytes | None]:
    """The keys under which a raw id is found; none for one that says nothing."""
    normalized = ids.normalized(raw_id) if raw_id else ""
    return (
        ids.fingerprint(raw_id) if raw_id else None,
        ids.fingerprint(normalized) if normalized else None,
    )
