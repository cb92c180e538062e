"""Saving: the changes of a group, a statement for each table.

Rows that refer to others come after them. A call that leaves its place in a turn leaves before
another takes it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import TypeAlias, TypeVar

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update
from sqlalchemy.sql.functions import coalesce
from sqlalchemy.sql.functions import max as highest

from ..ledger.records import TurnRecord
from ..ledger.seals import head_seal, key_seal, tool_set_hash
from ..ledger.slice import Change, Slice
from ..model import ids
from .driver import Inserts, Many, Values
from .packing import packed_piece
from .rows import (
    NEW_CALL,
    NEW_CONVERSATION,
    NEW_KEY,
    NEW_PROVIDER_ID,
    NEW_RESULT,
    NEW_REVISION,
    NEW_TOOL_SET,
    NEW_TURN,
    call_values,
    conversation_values,
    provider_id_values,
    result_values,
    revision_values,
    tool_set_values,
    turn_values,
)
from .scope import owned
from .sweeping import mend_numbers
from .tables import (
    OWNER,
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

T = TypeVar("T")
# The changes of one conversation as one, and what was there before.
Saved: TypeAlias = tuple[Slice, Change[object]]

# The names of the owner where rows are looked for.
_WHERE = ("tenant", "conversation")
_DESCRIBED = [name for name in NEW_CONVERSATION if name not in ("created_at", "seal")]
_ADVANCED = [name for name in _DESCRIBED if name not in ("title", "metadata", "expires_after")]
_advanced_values = attrgetter(*_ADVANCED)
_described_values = attrgetter(*_DESCRIBED)
_changed_call = attrgetter("id", "answered", "call_index")
_changed_result = attrgetter("seq", "place", "call_id", "matched_by", "repeat")


def _insert(table: Table, names: Iterable[str]) -> Many:
    return Many(insert(table), [*OWNER, *names])


def _set(table: Table, key: Iterable[str], names: Iterable[str]) -> Many:
    """UPDATE … SET name = :new_name WHERE it is the conversation's row with this key."""
    key = {name: f"the_{name}" for name in key}
    new = {name: f"new_{name}" for name in names}
    statement = (
        update(table)
        .where(owned(table), *(table.c[name] == bindparam(given) for name, given in key.items()))
        .values({name: bindparam(given) for name, given in new.items()})
    )
    return Many(statement, [*_WHERE, *key.values(), *new.values()])


_ADD_CONVERSATION = _insert(conversations, NEW_CONVERSATION)
_ADVANCE = _set(conversations, (), (*_ADVANCED, "seal"))
_DESCRIBE = _set(conversations, (), (*_DESCRIBED, "seal"))
_ERASE = Many(delete(conversations).where(owned(conversations)), _WHERE)
_ADD_TURN = _insert(turns, NEW_TURN)
_ADD_REVISION = _insert(turn_revisions, NEW_REVISION)
_ADD_PIECE = _insert(turn_pieces, ("seq", "revision", "part", "place", "data"))
_ADD_CALL = Inserts(tool_calls, [*OWNER, *NEW_CALL])
_CHANGE_CALL = _set(tool_calls, ("call_id",), ("answered", "call_index"))
_ADD_PROVIDER_ID = Inserts(provider_ids, [*OWNER, *NEW_PROVIDER_ID])
_REMOVE_RESULT = Many(
    delete(tool_results).where(
        owned(tool_results),
        tool_results.c.seq == bindparam("the_seq"),
        tool_results.c.place == bindparam("the_place"),
    ),
    [*_WHERE, "the_seq", "the_place"],
)
_ADD_RESULT = Inserts(tool_results, [*OWNER, *NEW_RESULT])
_CHANGE_RESULT = _set(tool_results, ("seq", "place"), ("call_id", "matched_by", "repeat"))
_ADD_TOOL_SET = _insert(tool_sets, NEW_TOOL_SET)
_ADD_KEY = _insert(idempotency_keys, NEW_KEY)
_ADD_FACET = Inserts(conversation_facets, [*OWNER, "kind", "value_sha256"], once=True)
_REMOVE_METADATA = Many(
    delete(conversation_facets).where(
        owned(conversation_facets), conversation_facets.c.kind == "metadata"
    ),
    _WHERE,
)
_REMOVE_WORDS = Many(
    delete(search_texts).where(owned(search_texts), search_texts.c.part == bindparam("the_part")),
    [*_WHERE, "the_part"],
)
_WORDS = [*OWNER, "part", "words"]
_ADD_WORDS = {
    # One writer at a time, so the next number is nobody else's.
    "sqlite": Many(
        insert(search_texts).values(
            number=select(coalesce(highest(search_texts.c.number), 0) + 1).scalar_subquery()
        ),
        _WORDS,
    ),
    "postgresql": Many(insert(search_texts), _WORDS),
}


class Saving:
    """The changes of several conversations, to be written."""

    def __init__(
        self, connection: Connection, tenant_id: str, changes: Mapping[str, Saved]
    ) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._changes = changes
        self._seals: dict[str, bytes] = {}

    def everything(self) -> dict[str, bytes]:
        """Writes all of it. The seals of the heads that were written."""
        chains = {cid: _chained(*saved) for cid, saved in self._changes.items()}
        self._heads({cid: chain[-1][-1] for cid, chain in chains.items() if chain})
        self._all(_ADD_TURN, turn_values, lambda one: one.turns)
        self._all(_ADD_REVISION, revision_values, lambda one: one.revisions)
        self._pieces()
        self._calls()
        self._all(_ADD_PROVIDER_ID, provider_id_values, lambda one: one.entries.provider_ids)
        self._all(_REMOVE_RESULT, tuple, lambda one: one.entries.removed_results)
        self._all(_ADD_RESULT, result_values, lambda one: one.entries.results.values())
        self._all(_CHANGE_RESULT, _changed_result, lambda one: one.entries.changed_results.values())
        owned_by = ((self._tenant_id, cid, one) for cid, chain in chains.items() for one in chain)
        _ADD_TOOL_SET.run(self._connection, [(tenant, cid, *one) for tenant, cid, one in owned_by])
        self._keys()
        self._facets()
        self._words()
        return self._seals

    def _all(
        self,
        statement: Many,
        values: Callable[[T], Values],
        of: Callable[[Change[object]], Iterable[T]],
    ) -> None:
        """Runs a statement for what the changes hold of one kind."""
        rows = [
            (self._tenant_id, cid, *values(one))
            for cid, (_, change) in self._changes.items()
            for one in of(change)
        ]
        statement.run(self._connection, rows)

    def _heads(self, tools: Mapping[str, bytes]) -> None:
        """`tools`: where the chains of tool sets end that have become longer."""
        erased: list[Values] = []
        rows: dict[Many, list[Values]] = {_ADD_CONVERSATION: [], _DESCRIBE: [], _ADVANCE: []}
        for cid, (known, change) in self._changes.items():
            owner = (self._tenant_id, cid)
            if change.erased and known.head:
                erased.append(owner)
            head = change.head or (known.head if cid in tools else None)
            if head is None:
                continue
            if cid in tools:
                head = replace(head, tools_hash=tools[cid])
            seal = self._seals[cid] = head_seal(self._tenant_id, head)
            if known.head is None or change.erased:
                rows[_ADD_CONVERSATION].append((*owner, *conversation_values(head), seal))
            elif change.described:
                rows[_DESCRIBE].append((*owner, *_described_values(head), seal))
            else:
                rows[_ADVANCE].append((*owner, *_advanced_values(head), seal))
        for _, cid in erased:
            self._mend_numbers(cid)
        _ERASE.run(self._connection, erased)
        for statement, heads in rows.items():
            statement.run(self._connection, heads)

    def _mend_numbers(self, cid: str) -> None:
        mend_numbers(self._connection, {"tenant": self._tenant_id, "conversation": cid})

    def _keys(self) -> None:
        rows: list[Values] = []
        for cid, (_, change) in self._changes.items():
            for one in change.keys:
                values = (ids.fingerprint(one.key), one.body_sha256, one.status, one.receipt)
                seal = key_seal(self._tenant_id, cid, *values)
                rows.append((self._tenant_id, cid, *values, seal, one.created_at))
        _ADD_KEY.run(self._connection, rows)

    def _pieces(self) -> None:
        """What is long is written piece by piece, so that it is never held as a whole."""
        for cid, (_, change) in self._changes.items():
            later = ((revision.turn, revision.number) for revision in change.revisions)
            for turn, revision in (*((turn, 0) for turn in change.turns), *later):
                self._pieces_of(cid, turn, revision)

    def _pieces_of(self, cid: str, turn: TurnRecord, revision: int) -> None:
        long = {"payload": turn.payload, "blocks": turn.blocks, "originals": turn.originals}
        for part, value in long.items():
            if isinstance(value, bytes):
                continue
            where = (self._tenant_id, cid, turn.seq, revision, part)
            for place, piece in enumerate(value):
                _ADD_PIECE.run(self._connection, [(*where, place, packed_piece(piece))])

    def _calls(self) -> None:
        changed = [
            (call.call_index < 0, (self._tenant_id, cid, *_changed_call(call)))
            for cid, (_, change) in self._changes.items()
            for call in change.entries.changed_calls.values()
        ]
        _CHANGE_CALL.run(self._connection, [row for leaves, row in changed if leaves])
        self._all(_ADD_CALL, call_values, lambda one: one.entries.calls.values())
        _CHANGE_CALL.run(self._connection, [row for leaves, row in changed if not leaves])

    def _facets(self) -> None:
        described = [
            (self._tenant_id, cid)
            for cid, (known, change) in self._changes.items()
            if change.described and known.head
        ]
        _REMOVE_METADATA.run(self._connection, described)
        rows = [
            (self._tenant_id, cid, facet.kind, facet.fingerprint)
            for cid, (_, change) in self._changes.items()
            for facet in change.facets | (change.described.facets if change.described else set())
        ]
        _ADD_FACET.run(self._connection, rows)

    def _words(self) -> None:
        old: list[Values] = []
        new: list[Values] = []
        for cid, (known, change) in self._changes.items():
            words = {**change.words, **(change.described.words if change.described else {})}
            if known.head and not change.erased:
                there = (part for part in words if part <= known.head.version)
                old += ((self._tenant_id, cid, part) for part in there)
            new += (
                (self._tenant_id, cid, part, list(said)) for part, said in words.items() if said
            )
        for cid in {cid for _, cid, _ in old}:
            self._mend_numbers(cid)
        _REMOVE_WORDS.run(self._connection, old)
        _ADD_WORDS[self._connection.dialect.name].run(self._connection, new)


def _chained(known: Slice, change: Change[object]) -> list[Values]:
    """The new tool sets of a conversation as rows, each with its link in their chain."""
    last = known.head.tools_hash if known.head and not change.erased else b""
    rows: list[Values] = []
    for one in change.tool_sets:
        last = tool_set_hash(last, one)
        rows.append((*tool_set_values(one), last))
    return rows
