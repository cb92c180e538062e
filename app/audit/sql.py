"""Where an id is known, in whatever conversation: by index, the newest first.

Each question goes to an index that leads with the tenant and the id, so what it costs grows with
the places where the id is known, not with the conversations. Places are put in order by the time of
their turn; of those of one time the order is that of conversation and place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    FromClause,
    Integer,
    and_,
    bindparam,
    literal_column,
    select,
    tuple_,
)

from ..database.damage import readable, sound
from ..database.scope import LIMIT, TENANT, AnySelect, Scope, beginning_with, begins
from ..database.sweeping import EXPIRED
from ..database.tables import (
    conversations,
    provider_ids,
    tool_calls,
    tool_results,
    turn_revisions,
    turns,
)
from ..database.types import IdText, UtcTime
from ..model import ids

IdKind: TypeAlias = Literal["turn", "response", "canonical", "raw", "provider_id", "orphan_result"]
# Of what is known at one time in one turn, the highest comes first. Names of one call are alike.
RANKS: Mapping[IdKind, int] = {
    "turn": 3,
    "response": 2,
    "canonical": 1,
    "raw": 1,
    "provider_id": 1,
    "orphan_result": 0,
}


@dataclass(frozen=True, order=True, slots=True)
class Spot:
    """A place where an id is known; in the order of these fields, the highest is the newest."""

    at: datetime
    conversation_id: str
    seq: int
    rank: int
    # The index of a call, the block of a result, the number of a revision.
    place: int


NEWEST = Spot(datetime(9999, 1, 1, tzinfo=UTC), "", 0, 0, 0)
_KEY: BindParameter[Any] = bindparam("key")


def _when(*sources: FromClause, having: ColumnElement[bool], of: FromClause) -> ColumnElement[Any]:
    """The time of a turn, looked up row by row: in a join, PostgreSQL might begin at its wrong
    end and read all turns."""
    found = select(turns.c.created_at).select_from(turns, *sources).where(having)
    return found.correlate(of).scalar_subquery()


_EXPIRED = select(conversations.c.conversation_id).where(*EXPIRED)


def _same(table: FromClause, other: FromClause, *names: str) -> ColumnElement[bool]:
    return and_(*(table.c[name] == other.c[name] for name in ("tenant_id", *names)))


def _question(
    table: FromClause,
    rank: int,
    key: ColumnElement[bool],
    *,
    when: ColumnElement[Any],
    seq: ColumnElement[Any],
    place: ColumnElement[Any],
) -> AnySelect:
    """The spots before another one, newest first."""
    known = (
        select(
            when.label("at"),
            table.c.conversation_id,
            seq.label("seq"),
            literal_column(str(rank), Integer).label("rank"),
            place.label("place"),
        )
        .where(table.c.tenant_id == TENANT, key, table.c.conversation_id.not_in(_EXPIRED))
        .subquery()
    )
    before = tuple_(
        bindparam("at", type_=UtcTime),
        bindparam("cid", type_=IdText),
        bindparam("seq", type_=BigInteger),
        bindparam("rank", type_=Integer),
        bindparam("place", type_=BigInteger),
    )
    newest_first = (column.desc() for column in known.c)
    # Not the column itself: an index that begins with the conversation must not be taken.
    cid = known.c.conversation_id.concat("")
    found = select(*known.c).where(tuple_(*known.c) < before, begins(cid))
    return found.order_by(*newest_first).limit(LIMIT)


def _of_turn(table: FromClause, rank: int, key: ColumnElement[bool], place: str) -> AnySelect:
    """Rows that name their turn by its seq."""
    when = _when(having=_same(turns, table, "conversation_id", "seq"), of=table)
    return _question(table, rank, key, when=when, seq=table.c.seq, place=table.c[place])


def _of_version(table: FromClause, rank: int, key: ColumnElement[bool], place: Any) -> AnySelect:
    """Turns, and later versions of them: they have their own time."""
    return _question(table, rank, key, when=table.c.created_at, seq=table.c.seq, place=place)


def _of_provider_id() -> AnySelect:
    call = _same(tool_calls, provider_ids, "call_id", "conversation_id")

    def told(column: ColumnElement[Any]) -> ColumnElement[Any]:
        return select(column).where(call).correlate(provider_ids).scalar_subquery()

    here = and_(call, _same(turns, tool_calls, "conversation_id", "seq"))
    return _question(
        provider_ids,
        RANKS["provider_id"],
        provider_ids.c.provider_sha256 == _KEY,
        when=_when(tool_calls, having=here, of=provider_ids),
        seq=told(tool_calls.c.seq),
        place=told(tool_calls.c.call_index),
    )


_CALL, _RESPONSE = RANKS["canonical"], RANKS["response"]
_WAITS = and_(tool_results.c.call_id.is_(None), tool_results.c.raw_sha256 == _KEY)
_NO_PLACE = literal_column("0", Integer)
_QUESTIONS: Mapping[IdKind, Sequence[AnySelect]] = {
    "turn": [_of_version(turns, RANKS["turn"], turns.c.turn_id == _KEY, _NO_PLACE)],
    "response": [
        _of_version(turns, _RESPONSE, turns.c.response_sha256 == _KEY, _NO_PLACE),
        _of_version(
            turn_revisions,
            _RESPONSE,
            turn_revisions.c.response_sha256 == _KEY,
            turn_revisions.c.number,
        ),
    ],
    "canonical": [_of_turn(tool_calls, _CALL, tool_calls.c.call_id == _KEY, "call_index")],
    "raw": [_of_turn(tool_calls, _CALL, tool_calls.c.raw_sha256 == _KEY, "call_index")],
    "provider_id": [_of_provider_id()],
    "orphan_result": [_of_turn(tool_results, RANKS["orphan_result"], _WAITS, "place")],
}


class Lookup(Scope):
    """The part of a store that finds ids."""

    def spots(
        self, kind: IdKind, known_as: str, *, before: Spot, limit: int, prefix: str = ""
    ) -> list[Spot]:
        """Where an id is known as this, before a spot, newest first, in conversations with this
        prefix."""
        statements, values = self._asked(kind, known_as, before, limit, prefix)
        found = [Spot(*row) for one in statements for row in self._run(one, **values)]
        return sorted(found, reverse=True)[:limit]

    def sound_spots(
        self, kind: IdKind, known_as: str, *, before: Spot, limit: int, prefix: str = ""
    ) -> tuple[list[Spot], set[str]]:
        """The same, where some conversations are damaged: those are named beside the others."""
        statements, values = self._asked(kind, known_as, before, limit, prefix)
        values["tenant"] = self._tenant_id
        found: list[Spot] = []
        damaged: set[str] = set()
        for one in statements:
            rows, bad = sound(self._connection, one, values, name=1)
            damaged.update(bad)
            # Where the row is gone that a place should be in, there is no time either.
            damaged.update(readable(row[1]) for row in rows if None in row)
            found += (Spot(*row) for row in rows if None not in row)
        return sorted(found, reverse=True)[:limit], damaged

    def _asked(
        self, kind: IdKind, known_as: str, before: Spot, limit: int, prefix: str
    ) -> tuple[Sequence[AnySelect], dict[str, Any]]:
        exact = kind in ("turn", "canonical")
        key = known_as if exact else ids.fingerprint(known_as)
        values: dict[str, Any] = {
            "now": datetime.now(UTC),
            "at": before.at,
            "cid": before.conversation_id,
            "seq": before.seq,
            "rank": before.rank,
            "place": before.place,
        } | beginning_with(prefix)
        return _QUESTIONS[kind], {**values, "key": key, "most": limit}
