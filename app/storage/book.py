"""The ledger in the database: each question of `core.ledger.matching.CallBook` is one index probe.

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

from app.core.identity import ids
from app.core.ledger.matching import Call, KeyKind
from app.storage.rows import CALL
from app.storage.scope import IDS, AnySelect, Scope, owned
from app.storage.tables import provider_ids, tool_calls

_KEY: BindParameter[bytes] = bindparam("key")
_RAW = tool_calls.c.raw_sha256 == _KEY
_NORMALIZED = tool_calls.c.normalized_sha256 == _KEY
_OPEN = tool_calls.c.answered == false()
_ANSWERED = and_(tool_calls.c.answered == true(), tool_calls.c.call_index >= 0)


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


_NEWEST_OPEN = _newest_turn(_OPEN)
_OPEN_BY: Mapping[KeyKind, AnySelect] = {
    "raw": _newest_turn(_OPEN, _RAW).limit(1),
    "normalized": _newest_turn(_OPEN, _NORMALIZED).limit(1),
}
_ANSWERED_BY: Mapping[KeyKind, AnySelect] = {
    "raw": _newest(_ANSWERED, _RAW),
    "normalized": _newest(_ANSWERED, _NORMALIZED),
}
# Two small questions instead of a join, which PostgreSQL might begin at the wrong end.
_NAMED = select(provider_ids.c.call_id).where(
    owned(provider_ids), provider_ids.c.provider_sha256 == _KEY
)
# Calls that their turn does not make any more have places below 0; nobody finds them.
_CALLED = select(*CALL).where(
    owned(tool_calls), tool_calls.c.call_id.in_(IDS), tool_calls.c.call_index >= 0
)


class DatabaseBook(Scope):
    """A call book over the stored calls of one conversation.

    Its calls come without the ids they are shown under: the rules never look at those.
    """

    def __init__(self, connection: Connection, tenant_id: str, conversation_id: str) -> None:
        super().__init__(connection, tenant_id)
        self._conversation_id = conversation_id

    def by_canonical(self, canonical: str) -> Call | None:
        return _first(self._calls(_CALLED, ids=[canonical]))

    def open(self, kind: KeyKind, key: str) -> Call | None:
        if kind == "provider_id":
            calls = [call for call in self._shown_as(key) if not call.answered]
            return next((call for call in calls if call.seq == calls[-1].seq), None)
        return _first(self._calls(_OPEN_BY[kind], key=ids.fingerprint(key)))

    def answered(self, kind: KeyKind, key: str) -> Call | None:
        if kind == "provider_id":
            calls = [call for call in self._shown_as(key) if call.answered]
            return calls[-1] if calls else None
        return _first(self._calls(_ANSWERED_BY[kind], key=ids.fingerprint(key)))

    def newest_open(self) -> Sequence[Call]:
        return self._calls(_NEWEST_OPEN)

    def _shown_as(self, provider_id: str) -> list[Call]:
        """The calls that a replay showed under this id, at most one for each target; in order."""
        key = ids.fingerprint(provider_id)
        found = self._run(_NAMED, self._conversation_id, key=key).scalars().all()
        calls = self._calls(_CALLED, ids=found) if found else []
        return sorted(calls, key=lambda call: (call.seq, call.call_index))

    def _calls(self, statement: AnySelect, **values: object) -> list[Call]:
        return [Call(*row) for row in self._run(statement, self._conversation_id, **values)]


def _first(calls: Sequence[Call]) -> Call | None:
    return calls[0] if calls else None
