"""Turns as they are read: the newest version of each, whole, wherever its bytes stand.

A turn that was interrupted may have later versions (revisions), and what is long stands in pieces.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from sqlalchemy import (
    Connection,
    LargeBinary,
    bindparam,
    cast,
    literal_column,
    select,
    union_all,
)

from ..database.driver import Query
from ..database.packing import unpacked_piece
from ..database.rows import REVISION, TURN, Columns, revision, turn
from ..database.scope import ALL, IDS, LIMIT, AnySelect, Scope, TooLong, or_all, owned, ranges
from ..database.tables import NAMES_MODEL, turn_pieces, turn_revisions, turns
from ..ledger.records import RevisionRecord, TurnRecord
from ..ledger.slice import TurnPlace
from ..model.large import Bytes, Chunks

# Without payloads, they are empty.
_NO_PAYLOAD = cast(literal_column("''"), LargeBinary).label("payload")
_RANGE = (turns.c.seq > bindparam("after"), turns.c.seq <= bindparam("until"))


def _without_payload(columns: Columns) -> Columns:
    return [_NO_PAYLOAD if column.name == "payload" else column for column in columns]


def _turns(columns: Columns, *, newest_first: bool) -> Query:
    order = turns.c.seq.desc() if newest_first else turns.c.seq
    found = select(*columns).where(owned(turns), *_RANGE).order_by(order).limit(LIMIT)
    return Query(found, "after", "until", "most")


_TURNS = {first: _turns(TURN, newest_first=first) for first in (False, True)}
_TURNS_WITHOUT_PAYLOADS = {
    first: _turns(_without_payload(TURN), newest_first=first) for first in (False, True)
}
_NEXT_BY_MODEL = (
    select(turns.c.seq)
    .where(owned(turns), *_RANGE, turns.c.speaker == "ai")
    .order_by(turns.c.seq)
    .limit(1)
)


@cache
def _newest_model(count: int) -> Query:
    """Finds the newest turn by one of `count` providers that names its model or is interrupted.

    Each provider is searched by itself, from the end of its part of `ix_turns_model`. The
    databases use this index only if its condition is in the query word for word.
    """
    names = [f"provider_{number}" for number in range(count)]
    newest = (
        select(turns.c.seq, turns.c.model, turns.c.status)
        .where(
            owned(turns),
            turns.c.provider == bindparam(name),
            turns.c.seq <= bindparam("until"),
            literal_column(NAMES_MODEL),
        )
        .order_by(turns.c.seq.desc())
        .limit(literal_column("1"))
        .subquery()
        for name in names
    )
    each = union_all(*map(select, newest)).subquery()
    found = select(each).order_by(each.c.seq.desc()).limit(literal_column("1"))
    return Query(found, "until", *names)


_TURN = select(*TURN).where(owned(turns), turns.c.turn_id == bindparam("turn_id"))


def _revisions(columns: Columns) -> AnySelect:
    return (
        select(*columns)
        .where(
            owned(turn_revisions),
            turn_revisions.c.seq >= bindparam("first"),
            turn_revisions.c.seq <= bindparam("last"),
        )
        .order_by(turn_revisions.c.number)
    )


_REVISIONS = _revisions(REVISION)
_REVISIONS_WITHOUT_PAYLOADS = _revisions(_without_payload(REVISION))
# Not a parameter: the index holds these turns only, and must be recognised.
_INTERRUPTED = select(turns.c.seq).where(
    owned(turns), turns.c.status == literal_column("'interrupted'")
)
_REVISED = (
    select(turn_revisions.c.seq, turn_revisions.c.status)
    .where(owned(turn_revisions))
    .order_by(turn_revisions.c.number)
)
_NEWEST_REVISION = (
    select(turn_revisions.c.number)
    .where(owned(turn_revisions))
    .order_by(turn_revisions.c.number.desc())
    .limit(1)
)
_COMPLETED = Query(
    select(turn_revisions.c.seq)
    .where(owned(turn_revisions), turn_revisions.c.at_version == bindparam("version"))
    .limit(1),
    "version",
)
_PIECES = (
    select(turn_pieces.c.part, turn_pieces.c.place, turn_pieces.c.data)
    .where(
        owned(turn_pieces),
        turn_pieces.c.seq == bindparam("seq"),
        turn_pieces.c.revision == bindparam("revision"),
        # "blocks" and "originals" come before "payload".
        turn_pieces.c.part <= bindparam("last_part"),
    )
    .order_by(turn_pieces.c.part, turn_pieces.c.place)
)
_TURN_PLACES = select(turns.c.turn_id, turns.c.seq, turns.c.content_hash).where(owned(turns))
_NUMBERS = select(turns.c.turn_id, turns.c.seq).where(owned(turns), turns.c.turn_id.in_(IDS))
# What a short query may read at once: turns, and bytes of their blocks. Pages of turns are shorter.
SHORT = 1_000
_SHORT_BYTES = 1_000_000


class Turns(Scope):
    """The stored turns. `short`: they are not read where they are many; see `TooLong`."""

    def __init__(self, connection: Connection, tenant_id: str, *, short: bool = False) -> None:
        super().__init__(connection, tenant_id)
        self._short = short

    def page(
        self,
        cid: str,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int | None = None,
        payloads: bool = True,
        as_of: int | None = None,
        newest_first: bool = False,
    ) -> list[TurnRecord]:
        """Turns with after < seq <= until, interrupted ones as they were completed.

        Without payloads, those are b"". `as_of`: as they were before the conversation had more
        turns, and before anything was completed at that version.
        """
        statement = (_TURNS if payloads else _TURNS_WITHOUT_PAYLOADS)[newest_first]
        most = min(or_all(limit), SHORT + 1) if self._short else or_all(limit)
        found = map(turn, self._found(statement, cid, after, or_all(until), most))
        records = list(_brief(found) if self._short else found)
        newest = {
            one.turn.seq: (one.turn, one.number)
            for one in self._revised(cid, records, payloads=payloads)
            if as_of is None or one.at_version < as_of
        }
        chosen = [newest.get(record.seq, (record, 0)) for record in records]
        return [self._filled(cid, one, number, payload=payloads) for one, number in chosen]

    def at(
        self,
        cid: str,
        seqs: Collection[int],
        *,
        payloads: bool = False,
        as_of: int | None = None,
    ) -> list[TurnRecord]:
        """These turns, interrupted ones as they were completed."""
        return [
            record
            for after, until in ranges(seqs)
            for record in self.page(cid, after=after, until=until, payloads=payloads, as_of=as_of)
        ]

    def next_by_model(self, cid: str, after: int, until: int) -> int | None:
        """The first turn of a model with after < seq <= until."""
        return self._run(_NEXT_BY_MODEL, cid, after=after, until=until).scalar()

    def newest_model(
        self, cid: str, providers: Collection[str], until: int, as_of: int | None = None
    ) -> str | None:
        """The model of the newest `ai` turn with seq <= until that is by one of these providers
        and names its model. `as_of`: before anything was completed at that version."""
        query = _newest_model(len(providers))
        while rows := list(self._found(query, cid, until, *sorted(providers))):
            seq, model, status = rows[0]
            if status != "complete":
                # Its completion may name another one.
                (record,) = self.at(cid, [seq], as_of=as_of)
                model = record.model
            if model:
                return str(model)
            until = seq - 1
        return None

    def versions(self, cid: str, seqs: Collection[int]) -> list[TurnRecord]:
        """These turns as they were posted, then their later versions, oldest first; no payloads."""
        # In ranges: for a list, PostgreSQL would rather look through the whole conversation.
        statement = _TURNS_WITHOUT_PAYLOADS[False]
        first = [
            turn(row)
            for after, until in ranges(seqs)
            for row in self._found(statement, cid, after, until, ALL)
        ]
        later = self._revised(cid, first, payloads=False)
        return [
            *(self._filled(cid, record, payload=False) for record in first),
            *(self._filled(cid, one.turn, one.number, payload=False) for one in later),
        ]

    def places(self, cid: str) -> Iterator[tuple[str, TurnPlace]]:
        """Every turn id with where it stands."""
        for turn_id, *place in self._run(_TURN_PLACES, cid):
            yield turn_id, TurnPlace(*place)

    def numbers(self, cid: str, turn_ids: Collection[str]) -> dict[str, int]:
        """Where these turns stand."""
        return {row.turn_id: row.seq for row in self._among(_NUMBERS, cid, turn_ids)}

    def posted(self, cid: str) -> list[TurnRecord]:
        """All turns as they were posted first."""
        rows = self._found(_TURNS[False], cid, 0, ALL, ALL)
        return [self._filled(cid, turn(row)) for row in rows]

    def one(self, cid: str, turn_id: str) -> TurnRecord | None:
        """A turn, completed if it was interrupted."""
        attempts = self.attempts(cid, turn_id)
        return attempts[-1] if attempts else None

    def attempts(self, cid: str, turn_id: str) -> list[TurnRecord]:
        """A turn as it was posted, and every later version of it."""
        row = self._run(_TURN, cid, turn_id=turn_id).one_or_none()
        if row is None:
            return []
        first = self._filled(cid, turn(row))
        return [first, *(one.turn for one in self.revisions(cid, [first]))]

    def revisions(self, cid: str, records: Sequence[TurnRecord]) -> list[RevisionRecord]:
        """The later versions of these turns, oldest first."""
        return [
            replace(one, turn=self._filled(cid, one.turn, one.number))
            for one in self._revised(cid, records)
        ]

    def _revised(
        self, cid: str, records: Sequence[TurnRecord], *, payloads: bool = True
    ) -> list[RevisionRecord]:
        """The later versions without what stands in pieces. Only interrupted turns have some."""
        broken = {record.seq: record for record in records if record.status != "complete"}
        if not broken:
            return []
        statement = _REVISIONS if payloads else _REVISIONS_WITHOUT_PAYLOADS
        rows = self._run(statement, cid, first=min(broken), last=max(broken))
        return [revision(row, broken[row.seq]) for row in rows if row.seq in broken]

    def _filled(
        self, cid: str, record: TurnRecord, revision: int = 0, *, payload: bool = True
    ) -> TurnRecord:
        """The record with its long values, which stand in pieces of their own."""
        if record.blocks != b"":
            return record
        found: dict[str, list[bytes]] = {"payload": [], "blocks": [], "originals": []}
        last_part = "payload" if payload else "originals"
        rows = self._run(_PIECES, cid, seq=record.seq, revision=revision, last_part=last_part)
        lost = set()
        for part, place, data in rows:
            if place != len(found[part]):
                lost.add(part)
            found[part].append(unpacked_piece(data))
        # What goes on behind a gap might look as if it were whole.
        payloads, blocks, originals = (
            b"" if part in lost else _in_pieces(pieces) for part, pieces in found.items()
        )
        return replace(record, payload=payloads, blocks=blocks, originals=originals)

    def interrupted(self, cid: str) -> set[int]:
        """The turns that are interrupted and were not completed, by seq."""
        broken = set(self._run(_INTERRUPTED, cid).scalars())
        if broken:
            for seq, status in self._run(_REVISED, cid):
                (broken.discard if status == "complete" else broken.add)(seq)
        return broken

    def was_completed(self, cid: str, version: int) -> bool:
        """Whether a turn became another one while the conversation had this version."""
        return any(self._found(_COMPLETED, cid, version))

    def next_revision(self, cid: str) -> int:
        """The number that the next later version of a turn will have."""
        return (self._run(_NEWEST_REVISION, cid).scalar() or 0) + 1


def _in_pieces(found: list[bytes]) -> Bytes:
    return Chunks(partial(iter, found)) if len(found) > 1 else b"".join(found)


def _brief(records: Iterable[TurnRecord]) -> Iterator[TurnRecord]:
    """The records, unless they are too many for a short query: the rest is not unpacked then."""
    size = 0
    for count, record in enumerate(records, 1):
        # Blocks that stand in pieces are long.
        in_row = isinstance(record.blocks, bytes) and record.blocks
        size += len(in_row) if in_row else _SHORT_BYTES + 1
        if count > SHORT or size > _SHORT_BYTES:
            raise TooLong
        yield record
