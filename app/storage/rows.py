"""Rows as the values of `core.ledger.records`, and back; columns in the order of the fields."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import ColumnElement

from app.core.identity import ids
from app.core.json.large import Chunks
from app.core.ledger.records import (
    Call,
    ConversationRecord,
    ProviderId,
    ResultRecord,
    RevisionRecord,
    TurnRecord,
)
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
    " input_tokens output_tokens cached_tokens reasoning_tokens indexed",
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
_CONVERSATION_FIELDS = [column.name for column in CONVERSATION[1:]]
_NOT_COLUMNS = ("completed_at", "response_id")
_TURN_FIELDS = [field.name for field in fields(TurnRecord) if field.name not in _NOT_COLUMNS]
_REVISED = ("seq", "format", "model", "payload", "blocks", "metadata", "content_hash", "hash")


def conversation_row(record: ConversationRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _CONVERSATION_FIELDS}


def turn_without_payload(row: AnyRow) -> TurnRecord:
    seq, turn_id, speaker, provider, form, model, *rest = row
    return TurnRecord(seq, turn_id, speaker, provider, form, model, b"", *rest)


def revision(row: AnyRow, turn: TurnRecord) -> RevisionRecord:
    """A later version of a turn."""
    number, at_version, _, form, model, payload, blocks, metadata, content, mine, when, status = row
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


def revision_row(record: RevisionRecord) -> dict[str, Any]:
    turn = record.turn
    kept = {name: _in_row(getattr(turn, name)) for name in (*_REVISED, "created_at", "status")}
    where = {"number": record.number, "at_version": record.at_version}
    return {**where, **kept, "response_sha256": _response_key(turn)}


def turn_row(turn: TurnRecord) -> dict[str, Any]:
    kept = {name: _in_row(getattr(turn, name)) for name in _TURN_FIELDS}
    return {**kept, "response_sha256": _response_key(turn)}


def _response_key(turn: TurnRecord) -> bytes | None:
    return ids.fingerprint(turn.response_id) if turn.response_id else None


def _in_row(value: Any) -> Any:
    """A long value stands in pieces of its own; the row has nothing then, which no value is."""
    return b"" if isinstance(value, Chunks) else value


def call_row(call: Call) -> dict[str, Any]:
    return {
        "call_id": call.id,
        "raw_id": call.raw_id,
        "name": call.name,
        "provider": call.provider,
        "model": call.model,
        "turn_id": call.turn_id,
        "seq": call.seq,
        "call_index": call.call_index,
        "answered": call.answered,
        **_fingerprints(call.raw_id),
    }


def result_row(result: ResultRecord) -> dict[str, Any]:
    return {
        "seq": result.seq,
        "place": result.place,
        "turn_id": result.turn_id,
        "raw_id": result.raw_id,
        "name": result.name,
        "status": result.status,
        "call_id": result.call_id,
        "matched_by": result.matched_by,
        "repeat": result.repeat,
        **_fingerprints(result.raw_id),
    }


def provider_id_row(given: ProviderId) -> dict[str, Any]:
    return {
        "call_id": given.call_id,
        "target": given.target,
        "provider_id": given.provider_id,
        "provider_sha256": ids.fingerprint(given.provider_id),
        "ordinal": given.ordinal,
    }


def _fingerprints(raw_id: str | None) -> dict[str, bytes | None]:
    """The keys under which a raw id is found; none for one that says nothing."""
    normalized = ids.normalized(raw_id) if raw_id else ""
    return {
        "raw_sha256": ids.fingerprint(raw_id) if raw_id else None,
        "normalized_sha256": ids.fingerprint(normalized) if normalized else None,
    }
