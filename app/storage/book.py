"""The ledger in the database: the questions of `core.ledger.CallBook`, each one index probe.

Statements that look for the newest turn ask for its number first (`max(seq)`, the end of an index
range) and then for its oldest call; no question reads more than it answers.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    and_,
    bindparam,
    false,
    func,
    select,
    true,
)

from app.core import ids
from app.core.ledger import Call, KeyKind
from app.storage.rows import CALL, SHOWN, calls_with_shown
from app.storage.scope import CONVERSATION, TENANT, AnySelect, Scope, owned, together
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
    newest = select(func.max(tool_calls.c.seq)).where(owned(tool_calls), *having).correlate(None)
    return (
        select(*CALL)
        .where(owned(tool_calls), *having, tool_calls.c.seq == newest.scalar_subquery())
        .order_by(tool_calls.c.call_index)
    )


def _newest(*having: ColumnElement[bool]) -> AnySelect:
    newest_first = (tool_calls.c.seq.desc(), tool_calls.c.call_index.desc())
    return select(*CALL).where(owned(tool_calls), *having).order_by(*newest_first).limit(1)


def _shown_as(*having: ColumnElement[bool]) -> AnySelect:
    """Calls that a replay showed under the key: at most one for each target."""
    named = provider_ids.alias("named")
    return (
        select(*CALL)
        .join_from(named, tool_calls, and_(together(named, tool_calls), _same_call(named)))
        .where(owned(named), named.c.provider_sha256 == _KEY, *having)
        .limit(1)
    )


def _same_call(named: FromClause) -> ColumnElement[bool]:
    return named.c.call_id == tool_calls.c.call_id


_SEQ, _INDEX = tool_calls.c.seq, tool_calls.c.call_index
_BY_CANONICAL = _with_shown(
    select(*CALL).where(owned(tool_calls), tool_calls.c.call_id == bindparam("call_id"))
)
_NEWEST_OPEN = _with_shown(_newest_turn(_OPEN))
_OPEN_BY: Mapping[KeyKind, AnySelect] = {
    "raw": _with_shown(_newest_turn(_OPEN, _RAW).limit(1)),
    "normalized": _with_shown(_newest_turn(_OPEN, _NORMALIZED).limit(1)),
    "provider_id": _with_shown(_shown_as(_OPEN).order_by(_SEQ.desc(), _INDEX)),
}
_ANSWERED_BY: Mapping[KeyKind, AnySelect] = {
    "raw": _with_shown(_newest(_ANSWERED, _RAW)),
    "normalized": _with_shown(_newest(_ANSWERED, _NORMALIZED)),
    "provider_id": _with_shown(_shown_as(_ANSWERED).order_by(_SEQ.desc(), _INDEX.desc())),
}


class DatabaseBook(Scope):
    """A call book over the stored calls of one conversation."""

    def __init__(self, connection: Connection, tenant_id: str, conversation_id: str) -> None:
        super().__init__(connection, tenant_id)
        self._conversation_id = conversation_id

    def by_canonical(self, canonical: str) -> Call | None:
        return self._one(_BY_CANONICAL, call_id=canonical)

    def open(self, kind: KeyKind, key: str) -> Call | None:
        return self._one(_OPEN_BY[kind], key=ids.fingerprint(key))

    def answered(self, kind: KeyKind, key: str) -> Call | None:
        return self._one(_ANSWERED_BY[kind], key=ids.fingerprint(key))

    def newest_open(self) -> Sequence[Call]:
        return calls_with_shown(self._run(_NEWEST_OPEN, self._conversation_id))

    def _one(self, statement: AnySelect, **values: object) -> Call | None:
        found = calls_with_shown(self._run(statement, self._conversation_id, **values))
        return found[0] if found else None
