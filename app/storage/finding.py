"""Finding conversations: by index, whatever is asked for.

The rarest thing that is asked for comes first, by the best guess there is (words, then metadata,
then tools, then providers); only what it finds is held against the rest.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, assert_never

from sqlalchemy import (
    ColumnElement,
    Text,
    TextClause,
    and_,
    bindparam,
    exists,
    literal_column,
    select,
    text,
    tuple_,
)

from app.core.ledger.records import ConversationRecord
from app.core.search.wanted import TITLE_PART, Facet, Questions, Wanted
from app.storage.conversations import KEPT
from app.storage.damage import sound
from app.storage.fulltext import CONDITIONS, written
from app.storage.rows import CONVERSATION, conversation
from app.storage.scope import ALL, LIMIT, TENANT, AnySelect, Scope, beginning_with, begins
from app.storage.tables import conversation_facets, conversations
from app.storage.types import UtcTime

_RANK = ("metadata", "tool", "provider")
_ID = conversations.c.conversation_id
_KEYS: tuple[ColumnElement[Any], ...] = (_ID, conversations.c.updated_at)
_AFTER_ID = bindparam("after_id", type_=Text)
_AFTER_UPDATED = bindparam("after_updated", type_=UtcTime)


class Finder(Scope):
    """The part of a store that finds conversations."""

    def find(self, wanted: Wanted, limit: int) -> list[ConversationRecord]:
        """A page of what is wanted. A question without words finds nothing."""
        if () in (wanted.text, wanted.title):
            return []
        statement, values = self._statement(wanted)
        rows = self._run(statement, None, **values, most=limit)
        return [conversation(row) for row in rows]

    def find_sound(self, wanted: Wanted, limit: int) -> tuple[list[ConversationRecord], list[str]]:
        """The same, where some of them are damaged: those are named beside the others."""
        statement, values = self._statement(wanted)
        values["tenant"] = self._tenant_id
        most = limit
        while True:
            rows, damaged = sound(self._connection, statement, values | {"most": most})
            if len(rows) >= limit or len(rows) + len(damaged) < most:
                return [conversation(row) for row in rows[:limit]], damaged
            most = limit + 2 * len(damaged)

    def _statement(self, wanted: Wanted) -> tuple[AnySelect, dict[str, object]]:
        values: dict[str, object] = {"now": datetime.now(UTC)}
        conditions = list(self._conditions(wanted, values))
        mine = (conversations.c.tenant_id == TENANT, KEPT)
        statement = select(*CONVERSATION).where(*mine, *conditions)
        # SQLite would rather walk through all conversations in order than sort a few.
        hidden = bool(conditions) and self._connection.dialect.name == "sqlite"
        return _page(statement, wanted, values, hidden=hidden), values

    def _conditions(
        self, wanted: Wanted, values: dict[str, object]
    ) -> Iterator[ColumnElement[bool] | TextClause]:
        """What must hold. Values are parameters: statements of one shape are prepared once."""
        if wanted.prefix:
            values |= beginning_with(wanted.prefix)
            yield begins(_ID)
        if wanted.text is not None:
            yield self._said("text", wanted.text, values, -ALL, ALL)
        if wanted.title is not None:
            yield self._said("title", wanted.title, values, TITLE_PART, TITLE_PART)
        leads = wanted.text is None and wanted.title is None
        for number, facet in enumerate(sorted(wanted.facets, key=_rank)):
            yield _has(facet, number, values, leads=leads and number == 0)

    def _said(
        self, name: str, questions: Questions, values: dict[str, object], *parts: int
    ) -> TextClause:
        """The words stand in one of the parts from the first to the last."""
        dialect = self._connection.dialect.name
        values[name] = written(questions, dialect)
        values[f"{name}_first"], values[f"{name}_last"] = parts
        return text(CONDITIONS[dialect].format(name=name))


def _rank(facet: Facet) -> int:
    return _RANK.index(facet.kind)


def _has(
    facet: Facet, number: int, values: dict[str, object], *, leads: bool
) -> ColumnElement[bool]:
    """The first facet gives conversations; the others are looked up for each of them."""
    values |= {f"kind_{number}": facet.kind, f"value_{number}": facet.fingerprint}
    rows = conversation_facets.alias(f"facet_{number}").c
    same = and_(
        rows.tenant_id == TENANT,
        rows.kind == bindparam(f"kind_{number}"),
        rows.value_sha256 == bindparam(f"value_{number}"),
    )
    if leads:
        return _ID.in_(select(rows.conversation_id).where(same))
    return exists().where(same, rows.conversation_id == _ID)


def _page(
    statement: AnySelect, wanted: Wanted, values: dict[str, object], *, hidden: bool
) -> AnySelect:
    """What comes after a place; `hidden`: not by an index of the order."""
    cid, updated_at = map(_hidden, _KEYS) if hidden else _KEYS
    match wanted.order:
        case "id":
            order: tuple[ColumnElement[Any], ...] = (_ID,)
            later = cid > _AFTER_ID
        case "updated":
            order = (updated_at.desc(), cid.desc())
            later = tuple_(updated_at, cid) < tuple_(_AFTER_UPDATED, _AFTER_ID)
        case _:
            assert_never(wanted.order)
    if wanted.after is not None:
        values["after_id"] = wanted.after.conversation_id
        values["after_updated"] = wanted.after.updated_at
        statement = statement.where(later)
    return statement.order_by(*order).limit(LIMIT)


def _hidden(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """With a plus before it, SQLite does not see that a column has an index."""
    return literal_column(f"+conversations.{column.key}", column.type)
