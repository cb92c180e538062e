"""The ledger in the database: the questions of `core.ledger.CallBook`, each one index probe.

Statements that look for the newest turn ask for its number first (the end of an index range) and
then for its oldest call; no question reads more than it answers.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    false,
    select,
    true,
)

from app.core import ids
from app.core.ledger import Call, KeyKind
from app.storage.rows import CALL, SHOWN, calls_with_shown
from app.storage.scope import CONVERSATION, IDS, TENANT, AnySelect, Scope, owned
from app.storage.tables import provider_ids, tool_calls

_KEY: BindParameter[bytes] = bindparam("key")
_RAW = tool_calls.c.raw_sha256 == _KEY
_NORMALIZED = tool_calls.c.normalized_sha256 == _KEY
_OPEN = tool_calls.c.answered == false()
_ANSWERED = tool_calls.c.answered == true()


def _with_shown(chosen: AnySelect) -> AnySelect:
    """The chosen calls, one row for each id they are shown under."""
    call = chosen.subquery("call")
    shown_of = and_(
        provider_ids.c.tenant_id == TENANT,
        provider_ids.c.conversation_id == CONVERSATION,
        provider_ids.c.call_id == call.c.call_id,
    )
    return (
        select(*call.c, *SHOWN)
        .select_from(call.outerjoin(provider_ids, shown_of))
        .order_by(call.c.seq, call.c.call_index)
    )


def _newest_turn(*having: ColumnElement[bool]) -> AnySelect:
    """Of the calls for which this holds: those of the newest turn, oldest first."""
    newest = (
        select(tool_calls.c.seq)
        .where(owned(tool_calls), *having)
        .order_by(tool_calls.c.seq.desc())
        .limit(1)
        .correlate(None)
    )
    return (
        select(*CALL)
        .where(owned(tool_calls), *having, tool_calls.c.seq == newest.scalar_subquery())
        .order_by(tool_calls.c.call_index)
    )


def _newest(*having: ColumnElement[bool]) -> AnySelect:
    newest_first = (tool_calls.c.seq.desc(), tool_calls.c.call_index.desc())
    return select(*CALL).where(owned(tool_calls), *having).order_by(*newest_first).limit(1)


# Two small questions instead of a join: PostgreSQL, as long as it knows nothing of the tables,
# joins in an order that reads the whole conversation.
_NAMED = select(provider_ids.c.call_id).where(
    owned(provider_ids), provider_ids.c.provider_sha256 == _KEY
)
_CALLED = _with_shown(select(*CALL).where(owned(tool_calls), tool_calls.c.call_id.in_(IDS)))
_BY_CANONICAL = _with_shown(
    select(*CALL).where(owned(tool_calls), tool_calls.c.call_id == bindparam("call_id"))
)
_NEWEST_OPEN = _with_shown(_newest_turn(_OPEN))
_OPEN_BY: Mapping[KeyKind, AnySelect] = {
    "raw": _with_shown(_newest_turn(_OPEN, _RAW).limit(1)),
    "normalized": _with_shown(_newest_turn(_OPEN, _NORMALIZED).limit(1)),
}
_ANSWERED_BY: Mapping[KeyKind, AnySelect] = {
    "raw": _with_shown(_newest(_ANSWERED, _RAW)),
    "normalized": _with_shown(_newest(_ANSWERED, _NORMALIZED)),
}


class DatabaseBook(Scope):
    """A call book over the stored calls of one conversation."""

    def __init__(self, connection: Connection, tenant_id: str, conversation_id: str) -> None:
        super().__init__(connection, tenant_id)
        self._conversation_id = conversation_id

    def by_canonical(self, canonical: str) -> Call | None:
        return self._one(_BY_CANONICAL, call_id=canonical)

    def open(self, kind: KeyKind, key: str) -> Call | None:
        if kind == "provider_id":
            calls = [call for call in self._shown_as(key) if not call.answered]
            return next((call for call in calls if call.seq == calls[-1].seq), None)
        return self._one(_OPEN_BY[kind], key=ids.fingerprint(key))

    def answered(self, kind: KeyKind, key: str) -> Call | None:
        if kind == "provider_id":
            calls = [call for call in self._shown_as(key) if call.answered]
            return calls[-1] if calls else None
        return self._one(_ANSWERED_BY[kind], key=ids.fingerprint(key))

    def newest_open(self) -> Sequence[Call]:
        return calls_with_shown(self._run(_NEWEST_OPEN, self._conversation_id))

    def _shown_as(self, provider_id: str) -> list[Call]:
        """The calls that a replay showed under this id, at most one for each target."""
        key = ids.fingerprint(provider_id)
        found = self._run(_NAMED, self._conversation_id, key=key).scalars().all()
        if not found:
            return []
        return calls_with_shown(self._run(_CALLED, self._conversation_id, ids=found))

    def _one(self, statement: AnySelect, **values: object) -> Call | None:
        found = calls_with_shown(self._run(statement, self._conversation_id, **values))
        return found[0] if found else None
