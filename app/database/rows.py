"""Rows as the values of `ledger.records`, and back; columns in the order of the fields."""

from collections.abc import Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, ColumnElement, Table

from ..ledger.records import (
    Call,
    ConversationRecord,
    ProviderId,
    ResultRecord,
    RevisionRecord,
    ToolSetRecord,
    TurnRecord,
)
from ..model import ids
from ..model.large import Bytes, Chunks
from .driver import Values
from .packing import packed, unpacked
from .tables import (
    conversations,
    provider_ids,
    tool_calls,
    tool_results,
    tool_sets,
    turn_revisions,
    turns,
)

Columns = Sequence[ColumnElement[Any]]


def _columns(table: Table, record: type[Any], id_name: str = "") -> list[Column[Any]]:
    """The columns of a record's fields. What it has beside them stands behind the others."""
    names = [id_name if one.name == "id" else one.name for one in fields(record)]
    found = [name for name in names if name in table.c]
    assert found == names[: len(found)]
    return [table.c[name] for name in found]


CONVERSATION = _columns(conversations, ConversationRecord, "conversation_id")
TURN = _columns(turns, TurnRecord)
# What a later version may have changed.
_REVISED = [column.name for column in TURN if column.name in turn_revisions.c]
REVISION = [turn_revisions.c[name] for name in ("number", "at_version", *_REVISED)]
CALL = _columns(tool_calls, Call, "call_id")
RESULT = _columns(tool_results, ResultRecord)
PROVIDER_ID = _columns(provider_ids, ProviderId)
TOOL_SET = _columns(tool_sets, ToolSetRecord)

# The columns of new rows, in the order of their values.
NEW_CONVERSATION = [*(column.name for column in CONVERSATION[1:]), "seal"]
NEW_TURN = [*(column.name for column in TURN), "response_sha256"]
NEW_REVISION = [*(column.name for column in REVISION), "response_sha256"]
NEW_CALL = [*(column.name for column in CALL), "raw_sha256", "normalized_sha256"]
NEW_RESULT = [*(column.name for column in RESULT), "raw_sha256", "normalized_sha256"]
NEW_PROVIDER_ID = [*(column.name for column in PROVIDER_ID), "provider_sha256"]
NEW_TOOL_SET = [*(column.name for column in TOOL_SET), "hash"]
NEW_KEY = ["key_sha256", "body_sha256", "status", "answer", "seal", "created_at"]

# Payload and blocks stand beside each other, and what is behind them is the same in both tables.
_PAYLOAD = NEW_TURN.index("payload")
assert NEW_TURN[_PAYLOAD:] == NEW_REVISION[NEW_REVISION.index("payload") :]
_TURN_HEAD = attrgetter(*NEW_TURN[:_PAYLOAD])
_TURN_REST = attrgetter(*NEW_TURN[_PAYLOAD + 2 : -2])
_ORIGINALS = NEW_TURN.index("originals")
_REVISION_HEAD = attrgetter(*_REVISED[: _REVISED.index("payload")])
_CALL = attrgetter("id", *(column.name for column in CALL[1:]))

conversation_values = attrgetter(*NEW_CONVERSATION[:-1])
_NUMBERS = attrgetter(
    *("version", "orphans", "open_calls", "indexed"),
    *("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"),
)
tool_set_values = attrgetter(*NEW_TOOL_SET[:-1])
_RESULT = attrgetter(*(column.name for column in RESULT))
_PROVIDER_ID = attrgetter(*NEW_PROVIDER_ID[:-1])


def conversation(row: Sequence[Any]) -> ConversationRecord:
    """The head. Everything is built on it, and SQLite keeps whatever a column is given."""
    record = ConversationRecord(*row)
    parts = (record.id, record.metadata, record.head_hash, record.tools_hash)
    numbers = {*map(type, _NUMBERS(record))}
    if tuple(map(type, parts)) != (str, bytes, bytes, bytes) or numbers != {int}:
        raise ValueError("the head is damaged")
    return record


def turn(row: Sequence[Any]) -> TurnRecord:
    payload, both = unpacked(row[_PAYLOAD], row[_PAYLOAD + 1])
    blocks, originals = _parted(both, row[_ORIGINALS])
    rest = row[_PAYLOAD + 2 : _ORIGINALS]
    values: Values = (*row[:_PAYLOAD], payload, blocks, *rest, originals)
    return TurnRecord(*values)


def revision(row: Sequence[Any], turn: TurnRecord) -> RevisionRecord:
    """A later version of a turn."""
    number, at_version, *values = row
    new = dict(zip(_REVISED, values, strict=True))
    new["payload"], both = unpacked(new["payload"], new["blocks"])
    new["blocks"], new["originals"] = _parted(both, new["originals"])
    return RevisionRecord(number, at_version, replace(turn, **new, completed_at=at_version))


def turn_values(turn: TurnRecord) -> Values:
    return (*_TURN_HEAD(turn), *_turn_content(turn))


def revision_values(record: RevisionRecord) -> Values:
    where = (record.number, record.at_version, *_REVISION_HEAD(record.turn))
    return (*where, *_turn_content(record.turn))


def _turn_content(turn: TurnRecord) -> Values:
    response = ids.fingerprint(turn.response_id) if turn.response_id else None
    originals = _in_row(turn.originals)
    content = packed(_in_row(turn.payload), _in_row(turn.blocks) + originals)
    return (*content, *_TURN_REST(turn), len(originals) or None, response)


def _parted(blocks: bytes, originals: int | None) -> tuple[bytes, bytes]:
    """The blocks, and the originals, which have so many bytes."""
    return (blocks[:-originals], blocks[-originals:]) if originals else (blocks, b"")


def _in_row(value: Bytes) -> bytes:
    """A long value stands in pieces of its own; the row has nothing then, which no value is."""
    return b"" if isinstance(value, Chunks) else value


def call_values(call: Call) -> Values:
    return (*_CALL(call), *_fingerprints(call.raw_id))


def result_values(result: ResultRecord) -> Values:
    return (*_RESULT(result), *_fingerprints(result.raw_id))


def provider_id_values(given: ProviderId) -> Values:
    return (*_PROVIDER_ID(given), ids.fingerprint(given.provider_id))


def _fingerprints(raw_id: str | None) -> tuple[bytes | None, bytes | None]:
    """The keys under which a raw id is found; none for one that says nothing."""
    normalized = ids.normalized(raw_id) if raw_id else ""
    return (
        ids.fingerprint(raw_id) if raw_id else None,
        ids.fingerprint(normalized) if normalized else None,
    )
