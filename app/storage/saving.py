"""Saving: the changes of a group, an executemany for each table.

Rows that refer to others come after them. A call that leaves its place in a turn leaves before
another takes it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from sqlalchemy import Connection, Executable, Table, bindparam, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.functions import coalesce
from sqlalchemy.sql.functions import max as highest

from app.core.identity import ids
from app.core.ledger.records import Call, ConversationRecord, KeyRecord, TurnRecord
from app.core.ledger.slice import Change, Slice
from app.storage.rows import (
    call_row,
    conversation_row,
    provider_id_row,
    result_row,
    revision_row,
    turn_row,
)
from app.storage.scope import owned
from app.storage.tables import (
    conversation_facets,
    conversations,
    idempotency_keys,
    provider_ids,
    search_texts,
    tool_calls,
    tool_results,
    tool_sets,
    turn_pieces,
    turn_revisions,
    turns,
)

Row: TypeAlias = dict[str, Any]
# The changes of one conversation as one, and what was there before.
Saved: TypeAlias = tuple[Slice, Change[object]]

_HEAD = ("version", "head_hash", "orphans", "updated_at", "indexed")
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_DESCRIPTION = ("title", "metadata")


def _set(table: Table, key: Sequence[str], names: Iterable[str]) -> Executable:
    """UPDATE … SET name = :new_name WHERE it is the conversation's row with this key."""
    return (
        update(table)
        .where(owned(table), *(table.c[one] == bindparam(f"the_{one}") for one in key))
        .values({name: bindparam(f"new_{name}") for name in names})
    )


_ADVANCE = _set(conversations, (), (*_HEAD, *_USAGE))
_DESCRIBE = _set(conversations, (), (*_HEAD, *_USAGE, *_DESCRIPTION))
_ERASE = delete(conversations).where(owned(conversations))
_CHANGE_CALL = _set(tool_calls, ("call_id",), ("answered", "call_index"))
_CHANGE_RESULT = _set(tool_results, ("seq", "place"), ("call_id", "matched_by", "repeat"))
_FACET_KEY = list(conversation_facets.primary_key.columns)
_ADD_FACET = {
    "sqlite": sqlite.insert(conversation_facets).on_conflict_do_nothing(index_elements=_FACET_KEY),
    "postgresql": postgresql.insert(conversation_facets).on_conflict_do_nothing(
        index_elements=_FACET_KEY
    ),
}
_REMOVE_METADATA = delete(conversation_facets).where(
    owned(conversation_facets), conversation_facets.c.kind == "metadata"
)
_REMOVE_WORDS = delete(search_texts).where(
    owned(search_texts), search_texts.c.part == bindparam("the_part")
)
_ADD_WORDS = {
    # One writer at a time, so the next number is nobody else's.
    "sqlite": insert(search_texts).values(
        number=select(coalesce(highest(search_texts.c.number), 0) + 1).scalar_subquery()
    ),
    "postgresql": insert(search_texts),
}
_INSERT = {
    table.name: insert(table)
    for table in (
        conversations,
        turns,
        turn_revisions,
        turn_pieces,
        tool_calls,
        provider_ids,
        tool_results,
        tool_sets,
        idempotency_keys,
    )
}


def save(connection: Connection, tenant_id: str, changes: Mapping[str, Saved]) -> None:
    """Writes the changes of several conversations."""
    _Saving(connection, tenant_id, changes).everything()


class _Saving:
    def __init__(
        self, connection: Connection, tenant_id: str, changes: Mapping[str, Saved]
    ) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._changes = changes

    def everything(self) -> None:
        self._heads()
        self._turns()
        self._calls()
        self._insert(
            provider_ids, self._rows(lambda one: map(provider_id_row, one.entries.provider_ids))
        )
        self._results()
        self._insert(tool_sets, self._rows(lambda one: map(asdict, one.tool_sets)))
        self._insert(idempotency_keys, self._rows(lambda one: map(_key_row, one.keys)))
        self._facets()
        self._words()

    def _heads(self) -> None:
        new, advanced, described, erased = [], [], [], []
        for cid, (known, change) in self._changes.items():
            if change.erased and known.head:
                erased.append(self._where(cid))
            if change.head is None:
                continue
            if known.head is None or change.erased:
                new.append(self._owner(cid) | conversation_row(change.head))
            elif change.described:
                described.append(self._head(cid, change.head, (*_HEAD, *_USAGE, *_DESCRIPTION)))
            else:
                advanced.append(self._head(cid, change.head, (*_HEAD, *_USAGE)))
        self._many(_ERASE, erased)
        self._many(_INSERT["conversations"], new)
        self._many(_DESCRIBE, described)
        self._many(_ADVANCE, advanced)

    def _head(self, cid: str, head: ConversationRecord, names: Sequence[str]) -> Row:
        return self._where(cid) | {f"new_{name}": getattr(head, name) for name in names}

    def _turns(self) -> None:
        self._insert(turns, self._rows(lambda one: map(turn_row, one.turns)))
        self._insert(turn_revisions, self._rows(lambda one: map(revision_row, one.revisions)))
        for cid, (_, change) in self._changes.items():
            for turn in change.turns:
                self._pieces(cid, turn, 0)
            for revision in change.revisions:
                self._pieces(cid, revision.turn, revision.number)

    def _pieces(self, cid: str, turn: TurnRecord, revision: int) -> None:
        """What is long is written piece by piece, so that it is never held as a whole."""
        for part, value in (("payload", turn.payload), ("blocks", turn.blocks)):
            if isinstance(value, bytes):
                continue
            where = self._owner(cid) | {"seq": turn.seq, "revision": revision, "part": part}
            for place, piece in enumerate(value):
                self._many(_INSERT["turn_pieces"], [{**where, "place": place, "data": piece}])

    def _calls(self) -> None:
        changed = [
            (self._where(cid) | _changed_call(call), call.call_index < 0)
            for cid, (_, change) in self._changes.items()
            for call in change.entries.changed_calls.values()
        ]
        self._many(_CHANGE_CALL, [row for row, leaves in changed if leaves])
        self._insert(tool_calls, self._rows(lambda one: map(call_row, one.entries.calls.values())))
        self._many(_CHANGE_CALL, [row for row, leaves in changed if not leaves])

    def _results(self) -> None:
        self._insert(
            tool_results, self._rows(lambda one: map(result_row, one.entries.results.values()))
        )
        changed = [
            self._where(cid)
            | {
                "the_seq": result.seq,
                "the_place": result.place,
                "new_call_id": result.call_id,
                "new_matched_by": result.matched_by,
                "new_repeat": result.repeat,
            }
            for cid, (_, change) in self._changes.items()
            for result in change.entries.changed_results.values()
        ]
        self._many(_CHANGE_RESULT, changed)

    def _facets(self) -> None:
        described = [
            self._where(cid)
            for cid, (known, change) in self._changes.items()
            if change.described and known.head
        ]
        self._many(_REMOVE_METADATA, described)
        rows = [
            self._owner(cid) | {"kind": facet.kind, "value_sha256": facet.fingerprint}
            for cid, (_, change) in self._changes.items()
            for facet in change.facets | (change.described.facets if change.described else set())
        ]
        self._many(_ADD_FACET[self._connection.dialect.name], rows)

    def _words(self) -> None:
        old: list[Row] = []
        new: list[Row] = []
        for cid, (known, change) in self._changes.items():
            words = {**change.words, **(change.described.words if change.described else {})}
            if known.head and not change.erased:
                there = (part for part in words if part <= known.head.version)
                old += (self._where(cid) | {"the_part": part} for part in there)
            new += (
                self._owner(cid) | {"part": part, "words": list(said)}
                for part, said in words.items()
                if said
            )
        self._many(_REMOVE_WORDS, old)
        self._many(_ADD_WORDS[self._connection.dialect.name], new)

    def _rows(self, of: Callable[[Change[object]], Iterable[Row]]) -> Iterator[Row]:
        """The new rows of one table."""
        for cid, (_, change) in self._changes.items():
            owner = self._owner(cid)
            for row in of(change):
                yield owner | row

    def _owner(self, cid: str) -> Row:
        return {"tenant_id": self._tenant_id, "conversation_id": cid}

    def _where(self, cid: str) -> Row:
        return {"tenant": self._tenant_id, "conversation": cid}

    def _insert(self, table: Table, rows: Iterable[Row]) -> None:
        self._many(_INSERT[table.name], list(rows))

    def _many(self, statement: Executable, rows: Sequence[Row]) -> None:
        # An empty list would insert one row of defaults.
        if rows:
            self._connection.execute(statement, rows)


def _changed_call(call: Call) -> Row:
    return {
        "the_call_id": call.id,
        "new_answered": call.answered,
        "new_call_index": call.call_index,
    }


def _key_row(record: KeyRecord) -> Row:
    return {
        "key_sha256": ids.fingerprint(record.key),
        "body_sha256": record.body_sha256,
        "status": record.status,
        "answer": record.receipt,
    }
