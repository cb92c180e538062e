"""Finding conversations: by index, whatever is asked for.

What few conversations have comes first: words, or the first of metadata, tools, states and
providers that few have; only what it finds is held against the rest. Where many conversations have
all that is asked for, they are gone through in order until the page is full.
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
    func,
    literal_column,
    select,
    text,
    tuple_,
)

from ..conversations.sql import KEPT
from ..database.damage import sound
from ..database.fulltext import CONDITIONS, written
from ..database.rows import CONVERSATION, conversation
from ..database.scope import ALL, LIMIT, TENANT, AnySelect, Scope, beginning_with, begins
from ..database.tables import conversation_facets, conversations, turn_revisions, turns
from ..database.types import UtcTime
from ..ledger.records import ConversationRecord
from ..ledger.wanted import TITLE_PART, Facet, Questions, State, Wanted

_RANK = ("metadata", "tool", "state", "provider")
# So many conversations are sorted rather than looked for among all others.
_FEW = 1_000
_ID = conversations.c.conversation_id
_KEYS: tuple[ColumnElement[Any], ...] = (_ID, conversations.c.updated_at)
_AFTER_ID = bindparam("after_id", type_=Text)
_AFTER_UPDATED = bindparam("after_updated", type_=UtcTime)
# Not parameters: the indexes hold these alone, and must be recognised.
_waiting = conversations.alias("waiting").c
_WAITING = and_(_waiting.tenant_id == TENANT, _waiting.open_calls > literal_column("0"))
_BROKEN = and_(
    turns.c.tenant_id == TENANT,
    turns.c.status == literal_column("'interrupted'"),
    ~exists().where(
        turn_revisions.c.tenant_id == TENANT,
        turn_revisions.c.conversation_id == turns.c.conversation_id,
        turn_revisions.c.seq == turns.c.seq,
        turn_revisions.c.status == literal_column("'complete'"),
    ),
)
_OF_STATE: dict[State, tuple[ColumnElement[str], ColumnElement[bool]]] = {
    "open": (_waiting.conversation_id, _WAITING),
    "interrupted": (turns.c.conversation_id, _BROKEN),
}


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
        had, leads = self._had(wanted, values)
        mine = (conversations.c.tenant_id == TENANT, KEPT)
        statement = select(*CONVERSATION).where(*mine, *conditions, *had)
        # SQLite would rather walk through all conversations in order than sort a few.
        hidden = (bool(conditions) or leads) and self._connection.dialect.name == "sqlite"
        return _page(statement, wanted, values, hidden=hidden), values

    def _conditions(
        self, wanted: Wanted, values: dict[str, object]
    ) -> Iterator[ColumnElement[bool] | TextClause]:
        """Prefix and words. Values are parameters: statements of one shape are prepared once."""
        if wanted.prefix:
            values |= beginning_with(wanted.prefix)
            yield begins(_ID)
        if wanted.text is not None:
            yield self._said("text", wanted.text, values, -ALL, ALL)
        if wanted.title is not None:
            yield self._said("title", wanted.title, values, TITLE_PART, TITLE_PART)

    def _had(
        self, wanted: Wanted, values: dict[str, object]
    ) -> tuple[list[ColumnElement[bool]], bool]:
        """What conversations must have, and whether one of it leads. The first that few have gives
        conversations; the others are looked up for each of them."""
        conditions: list[ColumnElement[bool]] = []
        has_words = wanted.text is not None or wanted.title is not None
        leads = False
        for cid, condition in _asked(wanted, values):
            if not (has_words or leads) and self._is_rare(cid, condition, values):
                leads = True
                conditions.append(_ID.in_(select(cid).where(condition)))
            else:
                # Not EXISTS: PostgreSQL would rather join with all that have it.
                one = select(cid).where(condition, cid == _ID).limit(1)
                conditions.append(one.scalar_subquery().is_not(None))
        return conditions, leads

    def _is_rare(
        self, cid: ColumnElement[str], condition: ColumnElement[bool], values: dict[str, object]
    ) -> bool:
        some = select(cid).where(condition).distinct().limit(LIMIT).subquery()
        counted = self._run(select(func.count()).select_from(some), None, **values, most=_FEW)
        return int(counted.scalar_one()) < _FEW

    def _said(
        self, name: str, questions: Questions, values: dict[str, object], *parts: int
    ) -> TextClause:
        """The words stand in one of the parts from the first to the last."""
        dialect = self._connection.dialect.name
        values[name] = written(questions, dialect)
        values[f"{name}_first"], values[f"{name}_last"] = parts
        return text(CONDITIONS[dialect].format(name=name))


def _asked(
    wanted: Wanted, values: dict[str, object]
) -> Iterator[tuple[ColumnElement[str], ColumnElement[bool]]]:
    """Facets and the state: where the conversations stand that have them, the rarest first by the
    best guess there is."""
    found: list[Facet | State] = [*wanted.facets, *([wanted.state] if wanted.state else [])]
    for number, one in enumerate(sorted(found, key=_rank)):
        if not isinstance(one, Facet):
            yield _OF_STATE[one]
            continue
        values |= {f"kind_{number}": one.kind, f"value_{number}": one.fingerprint}
        rows = conversation_facets.alias(f"facet_{number}").c
        same = and_(
            rows.tenant_id == TENANT,
            rows.kind == bindparam(f"kind_{number}"),
            rows.value_sha256 == bindparam(f"value_{number}"),
        )
        yield rows.conversation_id, same


def _rank(asked: Facet | State) -> int:
    return _RANK.index(asked.kind if isinstance(asked, Facet) else "state")


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
