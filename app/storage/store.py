"""What deeds write with: rows in batches, and constraints that decide instead of questions.

Everything happens in the caller's transaction; nothing here begins or commits one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Executable, Insert, Table, bindparam, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.core.identity import ids
from app.core.ledger.matching import Call, MatchedBy, places_aside
from app.core.ledger.records import (
    AssignedId,
    ConversationRecord,
    ResultRecord,
    RevisionRecord,
    ToolSetRecord,
    TurnRecord,
)
from app.core.wire.usage import Usage
from app.storage.indexing import Index
from app.storage.reading import HEAD, ReadStore
from app.storage.rows import assigned_row, call_row, result_row, revision_row, turn_row
from app.storage.scope import ALL, IDS, owned, pieces
from app.storage.tables import (
    conversations,
    idempotency_keys,
    provider_ids,
    tool_calls,
    tool_results,
    tool_sets,
    turn_pieces,
    turn_revisions,
    turns,
)

__all__ = ["ALL", "ReadStore", "Store", "TurnIdCollision"]


class TurnIdCollision(Exception):
    """The turn id is taken in this conversation; nothing of the batch was inserted."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(turn_id)
        self.turn_id = turn_id


def _unless_there(table: Table, *key: str) -> Mapping[str, Insert]:
    """INSERT … ON CONFLICT DO NOTHING, by the name of the database. It counts what it inserted."""
    columns = ["tenant_id", "conversation_id", *key]
    statements = {
        "sqlite": sqlite.insert(table).on_conflict_do_nothing(index_elements=columns),
        "postgresql": postgresql.insert(table).on_conflict_do_nothing(index_elements=columns),
    }
    return {
        name: statement.execution_options(preserve_rowcount=True)
        for name, statement in statements.items()
    }


_NOTHING = Usage()
_LOCKED_HEAD = HEAD.with_for_update()
_CREATE = _unless_there(conversations)
_CLAIM = _unless_there(idempotency_keys, "key_sha256")
_INSERT_TURN = _unless_there(turns, "turn_id")
_REMOVE_TURNS = delete(turns).where(
    owned(turns), turns.c.seq.between(bindparam("first"), bindparam("last"))
)
_TAKEN_TURNS = select(turns.c.turn_id).where(owned(turns), turns.c.turn_id.in_(IDS))
_SAVE_ANSWER = (
    update(idempotency_keys)
    .where(owned(idempotency_keys), idempotency_keys.c.key_sha256 == bindparam("key"))
    .values(status=bindparam("new_status"), answer=bindparam("new_answer"))
)
_ADVANCE = (
    update(conversations)
    .where(owned(conversations))
    .values(
        version=bindparam("new_version"),
        head_hash=bindparam("new_head_hash"),
        orphans=bindparam("new_orphans"),
        updated_at=bindparam("now"),
        **{
            field.name: conversations.c[field.name] + bindparam(f"more_{field.name}")
            for field in fields(Usage)
        },
    )
)
_UPDATE = (
    update(conversations)
    .where(owned(conversations))
    .values(
        title=bindparam("new_title"),
        metadata=bindparam("new_metadata"),
        updated_at=bindparam("now"),
    )
)
_DELETE = delete(conversations).where(owned(conversations))
_MARK_ANSWERED = (
    update(tool_calls).where(owned(tool_calls), tool_calls.c.call_id.in_(IDS)).values(answered=True)
)
_PLACE = (
    update(tool_calls)
    .where(owned(tool_calls), tool_calls.c.call_id == bindparam("call"))
    .values(answered=bindparam("now_answered"), call_index=bindparam("place"))
)
_RELEASE = (
    update(tool_results)
    .where(owned(tool_results), tool_results.c.call_id.in_(IDS))
    .values(call_id=None, matched_by="none", repeat=False)
)
_ADOPT = (
    update(tool_results)
    .where(
        owned(tool_results),
        tool_results.c.seq == bindparam("at_seq"),
        tool_results.c.place == bindparam("at_place"),
    )
    .values(
        call_id=bindparam("new_call_id"),
        matched_by=bindparam("new_matched_by"),
        repeat=bindparam("new_repeat"),
    )
)


class Store(ReadStore):
    """One tenant's conversations, in a transaction that writes."""

    @property
    def index(self) -> Index:
        return Index(self._connection, self._tenant_id)

    def lock(self, cid: str) -> ConversationRecord | None:
        """The head, ours until the commit: on PostgreSQL other writers wait for the row."""
        row = self._run(_LOCKED_HEAD, cid).one_or_none()
        return ConversationRecord(*row) if row else None

    def create(self, cid: str, title: str | None, metadata: bytes) -> bool:
        """Make an empty conversation; False when it is there already."""
        now = datetime.now(UTC)
        row = {
            "title": title,
            "metadata": metadata,
            "version": 0,
            "head_hash": b"",
            "orphans": 0,
            "created_at": now,
            "updated_at": now,
        }
        return self._insert_unless_there(_CREATE, cid, row)

    def update(self, cid: str, title: str | None, metadata: bytes) -> bool:
        """Change title and metadata; False when there is no such conversation."""
        now = datetime.now(UTC)
        changed = self._run(_UPDATE, cid, new_title=title, new_metadata=metadata, now=now)
        return changed.rowcount == 1

    def delete(self, cid: str) -> bool:
        """Erase a conversation with all its rows; False when there is no such conversation."""
        return self._run(_DELETE, cid).rowcount == 1

    def advance(
        self, cid: str, *, version: int, head_hash: bytes, orphans: int, used: Usage = _NOTHING
    ) -> None:
        """The new head. `used` is added to what all responses took."""
        more = {f"more_{name}": count for name, count in asdict(used).items()}
        self._run(
            _ADVANCE,
            cid,
            new_version=version,
            new_head_hash=head_hash,
            new_orphans=orphans,
            now=datetime.now(UTC),
            **more,
        )

    def claim_key(self, cid: str, key: str, body_sha256: bytes) -> bool:
        """Take an idempotency key of an existing conversation; False when it was used before."""
        row = {
            "key_sha256": ids.fingerprint(key),
            "body_sha256": body_sha256,
            "status": None,
            "answer": None,
        }
        return self._insert_unless_there(_CLAIM, cid, row)

    def save_answer(self, cid: str, key: str, status: int, answer: bytes) -> None:
        key_sha256 = ids.fingerprint(key)
        self._run(_SAVE_ANSWER, cid, key=key_sha256, new_status=status, new_answer=answer)

    def insert_turns(self, cid: str, records: Sequence[TurnRecord]) -> None:
        """Insert all, or none and raise `TurnIdCollision`; the transaction stays usable."""
        rows = [self._owner(cid) | turn_row(record) for record in records]
        if not rows:
            return
        statement = _INSERT_TURN[self._connection.dialect.name]
        if self._connection.execute(statement, rows).rowcount == len(rows):
            for record in records:
                self._insert_pieces(cid, record)
            return
        # What is at these places is ours: a place that was taken would have been an error.
        seqs = [record.seq for record in records]
        self._run(_REMOVE_TURNS, cid, first=min(seqs), last=max(seqs))
        raise TurnIdCollision(self._colliding(cid, [record.turn_id for record in records]))

    def insert_revision(self, cid: str, record: RevisionRecord) -> None:
        self._insert(turn_revisions, cid, [revision_row(record)])
        self._insert_pieces(cid, record.turn, record.number)

    def _insert_pieces(self, cid: str, record: TurnRecord, revision: int = 0) -> None:
        for part, value in (("payload", record.payload), ("blocks", record.blocks)):
            if isinstance(value, bytes):
                continue
            where = {"seq": record.seq, "revision": revision, "part": part}
            for place, piece in enumerate(value):
                self._insert(turn_pieces, cid, [{**where, "place": place, "data": piece}])

    def insert_tool_set(self, cid: str, record: ToolSetRecord) -> None:
        self._insert(tool_sets, cid, [asdict(record)])

    def insert_calls(self, cid: str, calls: Sequence[Call]) -> None:
        """The calls without `shown`: those are rows of their own."""
        self._insert(tool_calls, cid, [call_row(call) for call in calls])

    def insert_assigned(self, cid: str, assigned: Sequence[AssignedId]) -> None:
        self._insert(provider_ids, cid, [assigned_row(one) for one in assigned])

    def insert_results(self, cid: str, results: Sequence[ResultRecord]) -> None:
        self._insert(tool_results, cid, [result_row(result) for result in results])

    def mark_answered(self, cid: str, call_ids: Collection[str]) -> None:
        for piece in pieces(call_ids):
            self._run(_MARK_ANSWERED, cid, ids=piece)

    def supersede(self, cid: str, seq: int, call_ids: Sequence[str]) -> int:
        """Calls that the newest version of their turn does not make: they keep no place in it.

        Gives the number of their results, which wait for a call again.
        """
        self._place(cid, places_aside(self.aside(cid, seq), call_ids), answered=True)
        return sum(self._run(_RELEASE, cid, ids=piece).rowcount for piece in pieces(call_ids))

    def bring_back(self, cid: str, places: Mapping[str, int]) -> None:
        """Calls that the newest version of their turn makes again; they are open."""
        self._place(cid, places, answered=False)

    def _place(self, cid: str, places: Mapping[str, int], *, answered: bool) -> None:
        owner = {"tenant": self._tenant_id, "conversation": cid, "now_answered": answered}
        rows = [{**owner, "call": call_id, "place": place} for call_id, place in places.items()]
        self._many(_PLACE, rows)

    def adopt(self, cid: str, found: Sequence[tuple[int, int, str, MatchedBy, bool]]) -> None:
        """Orphans that found their calls: seq, place, call id, matched by, repeat."""
        names = ("at_seq", "at_place", "new_call_id", "new_matched_by", "new_repeat")
        owner = {"tenant": self._tenant_id, "conversation": cid}
        self._many(_ADOPT, [{**owner, **dict(zip(names, one, strict=True))} for one in found])

    def _insert_unless_there(
        self, statements: Mapping[str, Insert], cid: str, row: dict[str, Any]
    ) -> bool:
        statement = statements[self._connection.dialect.name]
        return self._connection.execute(statement, self._owner(cid) | row).rowcount == 1

    def _insert(self, table: Table, cid: str, rows: Sequence[dict[str, Any]]) -> None:
        self._many(_INSERT[table.name], [self._owner(cid) | row for row in rows])

    def _many(self, statement: Executable, rows: Sequence[dict[str, Any]]) -> None:
        # An empty list would insert one row of defaults.
        if rows:
            self._connection.execute(statement, rows)

    def _colliding(self, cid: str, turn_ids: Sequence[str]) -> str:
        """The first turn id that is taken, in the database or further up in the batch."""
        taken = {
            turn_id
            for piece in pieces(turn_ids)
            for turn_id in self._run(_TAKEN_TURNS, cid, ids=piece).scalars()
        }
        return next(
            turn_id
            for place, turn_id in enumerate(turn_ids)
            if turn_id in taken or turn_id in turn_ids[:place]
        )


_INSERT: Mapping[str, Insert] = {
    table.name: insert(table)
    for table in (
        tool_calls,
        tool_results,
        provider_ids,
        tool_sets,
        turn_revisions,
        turn_pieces,
    )
}
