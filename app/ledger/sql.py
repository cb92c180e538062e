"""Calls and results as they are stored, with all that is known of them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Table,
    and_,
    bindparam,
    func,
    literal_column,
    select,
    tuple_,
    union_all,
)

from ..database.driver import Query
from ..database.keyed import Keyed
from ..database.rows import CALL, RESULT, Columns
from ..database.scope import ALL, IDS, LIMIT, AnyRow, AnySelect, Scope, or_all, owned, ranges
from ..database.tables import provider_ids, tool_calls, tool_results, turn_revisions
from .pairing import Link
from .records import Call, CallRecord, ResultRecord

_PLACE = (tool_calls.c.seq, tool_calls.c.call_index)


def _page(*having: ColumnElement[bool], newest_first: bool) -> AnySelect:
    place, at = tuple_(*_PLACE), tuple_(bindparam("seq"), bindparam("call_index"))
    order = [column.desc() for column in _PLACE] if newest_first else list(_PLACE)
    return (
        select(*CALL)
        .where(owned(tool_calls), *having, place < at if newest_first else place > at)
        .order_by(*order)
        .limit(LIMIT)
    )


def _of_calls(table: Table, columns: Columns) -> Keyed:
    """Rows of a conversation, by the ids of calls."""

    def build(keys: CTE, _: str) -> AnySelect:
        on = and_(owned(table), table.c.call_id == keys.c.id)
        return select(*columns).select_from(keys.join(table, on))

    return Keyed("id", build=build, more=["conversation"])


_MADE_IN = select(*CALL).where(
    owned(tool_calls),
    tool_calls.c.seq > bindparam("after"),
    tool_calls.c.seq <= bindparam("until"),
)
_ANSWERED = tool_calls.c.answered == bindparam("answered")
_PAGES = {first: _page(newest_first=first) for first in (False, True)}
_ANSWERED_PAGES = {first: _page(_ANSWERED, newest_first=first) for first in (False, True)}
_PROVIDER_IDS = select(
    provider_ids.c.call_id, provider_ids.c.target, provider_ids.c.provider_id
).where(owned(provider_ids))
# Sorted by us: to save the sorting, SQLite would rather read the whole conversation in order.
_RESULTS = select(*RESULT).where(owned(tool_results))
_PROVIDER_IDS_OF = _PROVIDER_IDS.where(provider_ids.c.call_id.in_(IDS))
_RESULTS_OF = _RESULTS.where(tool_results.c.call_id.in_(IDS))
_TARGET = provider_ids.c.target == bindparam("target")
_LINK = [tool_results.c[name] for name in ("seq", "place", "call_id", "matched_by")]
_LINKS = Query(
    select(*_LINK).where(
        owned(tool_results),
        tool_results.c.call_id.is_not(None),
        tool_results.c.seq > bindparam("after"),
        tool_results.c.seq <= bindparam("until"),
    ),
    "after",
    "until",
)
# Nothing but the ids: asked for a range too, SQLite would rather read the whole conversation.
_LINKS_OF = _of_calls(tool_results, _LINK)
_CALL_SEQS = _of_calls(tool_calls, [tool_calls.c.call_id, tool_calls.c.seq])
_CALLS_NAMED = select(*CALL).where(owned(tool_calls), tool_calls.c.call_id.in_(IDS))
_RESULTS_OF_TURN = select(*RESULT).where(
    owned(tool_results), tool_results.c.seq == bindparam("seq")
)
_GIVEN = select(provider_ids.c.call_id, provider_ids.c.provider_id).where(
    owned(provider_ids), _TARGET
)
_GIVEN_TO = _GIVEN.where(provider_ids.c.call_id.in_(IDS))
_CALL_AT = select(*CALL).where(
    owned(tool_calls),
    tool_calls.c.seq == bindparam("seq"),
    tool_calls.c.call_index == bindparam("call_index"),
)


# Calls that were made, and turns that were completed, behind a version.
_BEHIND = Query(
    union_all(
        select(tool_calls.c.call_id, literal_column("0")).where(
            owned(tool_calls), tool_calls.c.seq > bindparam("version")
        ),
        select(literal_column("''"), turn_revisions.c.seq).where(
            owned(turn_revisions), turn_revisions.c.at_version >= bindparam("version")
        ),
    ),
    "version",
)
_CALLS_OF_TURN = select(tool_calls.c.call_id).where(
    owned(tool_calls), tool_calls.c.seq == bindparam("seq")
)
_FIRST_ORPHAN = select(func.min(tool_results.c.seq)).where(
    owned(tool_results), tool_results.c.call_id.is_(None)
)


class Ledger(Scope):
    """The stored ledger: calls, their provider ids, results and which calls they answer."""

    def calls(
        self,
        cid: str,
        *,
        limit: int | None = None,
        after: tuple[int, int] | None = None,
        answered: bool | None = None,
        newest_first: bool = False,
    ) -> list[CallRecord]:
        """The calls from either end of the conversation; `after` is the seq and call index of the
        last one seen. `answered`: only those with a result, or only those without."""
        seq, index = after or ((ALL, 0) if newest_first else (0, -1))
        statement = (_PAGES if answered is None else _ANSWERED_PAGES)[newest_first]
        only = {} if answered is None else {"answered": answered}
        rows = self._run(statement, cid, seq=seq, call_index=index, most=or_all(limit), **only)
        return self.call_records(cid, [Call(*row) for row in rows], whole=limit is None)

    def made_in(self, cid: str, *, after: int, until: int) -> list[Call]:
        """The calls that turns with after < seq <= until make, or made once, with their ids."""
        rows = self._run(_MADE_IN, cid, after=after, until=until)
        calls = {call.id: call for call in (Call(*row) for row in rows)}
        for call_id, target, provider_id in self._among(_PROVIDER_IDS_OF, cid, calls):
            calls[call_id].provider_ids[target] = provider_id
        return list(calls.values())

    def results(self, cid: str) -> list[ResultRecord]:
        return _results(self._run(_RESULTS, cid))

    def call_records(
        self, cid: str, calls: Sequence[Call], *, whole: bool = False
    ) -> list[CallRecord]:
        """The calls, completed from the rows of the whole conversation or only from their own."""
        records = {call.id: CallRecord(call) for call in calls}
        given: Iterable[AnyRow]
        if whole:
            given, results = self._run(_PROVIDER_IDS, cid), self.results(cid)
        else:
            given = self._among(_PROVIDER_IDS_OF, cid, records)
            results = _results(self._among(_RESULTS_OF, cid, records))
        for call_id, target, provider_id in given:
            if call_id in records:
                records[call_id].call.provider_ids[target] = provider_id
        for result in results:
            if result.call_id in records:
                records[result.call_id].results.append(result)
        return list(records.values())

    def links(
        self, cid: str, *, after: int = 0, until: int | None = None
    ) -> dict[tuple[int, int], Link]:
        """The matched results of the turns with after < seq <= until, by seq and place."""
        rows = self._found(_LINKS, cid, after, or_all(until))
        return {(seq, place): Link(call_id, rule) for seq, place, call_id, rule in rows}

    def links_at(self, cid: str, seqs: Collection[int]) -> dict[tuple[int, int], Link]:
        """The matched results of these turns."""
        found: dict[tuple[int, int], Link] = {}
        for after, until in ranges(seqs):
            found |= self.links(cid, after=after, until=until)
        return found

    def links_of(
        self, cid: str, call_ids: Collection[str], until: int
    ) -> dict[tuple[int, int], Link]:
        """The results of these calls up to a turn."""
        rows = self._keyed(_LINKS_OF, cid, call_ids)
        return {
            (seq, place): Link(call_id, rule) for seq, place, call_id, rule in rows if seq <= until
        }

    def call_seqs(self, cid: str, call_ids: Collection[str]) -> dict[str, int]:
        """The turns that made these calls, or made them once."""
        rows = self._keyed(_CALL_SEQS, cid, call_ids)
        return {call_id: seq for call_id, seq in rows}  # noqa: C416

    def _keyed(
        self, statement: Keyed, cid: str, call_ids: Iterable[object]
    ) -> Iterator[Sequence[Any]]:
        # A damaged one may be anything, which cannot be sorted among the others.
        keys = {(one,) for one in call_ids if isinstance(one, str)}
        return statement.rows(self._connection, self._tenant_id, keys, cid)

    def first_changed(self, cid: str, version: int) -> tuple[int, set[int]]:
        """The first turn that reads in another way than at a version; the next one, if all up to
        there read the same. And the turns that were completed, of which the results that they hold,
        or held, are not looked at.

        A call got a result, an orphan got its call, or a turn was completed. With that, results of
        its calls change, and orphans: the call that they answered may not be made any more.
        """
        answered = {link.call_id for link in self.links(cid, after=version).values()}
        changed = [version + 1, *self.call_seqs(cid, answered).values()]
        behind = list(self._found(_BEHIND, cid, version))
        made = {call_id for call_id, _ in behind if call_id}
        completed = {seq for _, seq in behind if seq}
        for seq in completed:
            made.update(self._run(_CALLS_OF_TURN, cid, seq=seq).scalars())
        changed += (seq for seq, _ in self.links_of(cid, made, version))
        if completed:
            orphan = self._run(_FIRST_ORPHAN, cid).scalar()
            changed += completed if orphan is None else (*completed, orphan)
        return min(changed), completed

    def results_of(self, cid: str, seq: int) -> list[ResultRecord]:
        """The results of one turn."""
        return _results(self._run(_RESULTS_OF_TURN, cid, seq=seq))

    def provider_ids(
        self, cid: str, target: str, call_ids: Collection[str] | None = None
    ) -> dict[str, str]:
        """The ids that this target assigned to these calls, or to all, by canonical id."""
        rows: Iterable[AnyRow] = (
            self._run(_GIVEN, cid, target=target)
            if call_ids is None
            else self._among(_GIVEN_TO, cid, call_ids, target=target)
        )
        return {row.call_id: row.provider_id for row in rows}

    def calls_named(self, cid: str, call_ids: Collection[str]) -> list[Call]:
        """These calls, without what targets call them."""
        return [Call(*row) for row in self._among(_CALLS_NAMED, cid, call_ids)]

    def calls_at(self, cid: str, seq: int, call_index: int) -> list[Call]:
        """The call at this place, if it is still there."""
        rows = self._run(_CALL_AT, cid, seq=seq, call_index=call_index)
        return [Call(*row) for row in rows]


def _results(rows: Iterable[AnyRow]) -> list[ResultRecord]:
    found = (ResultRecord(*row) for row in rows)
    return sorted(found, key=lambda result: (result.seq, result.place))
