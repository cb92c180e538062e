"""What every query has: a connection, a tenant, and lists cut into pieces a database can take."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    FromClause,
    Row,
    Select,
    and_,
    bindparam,
)

from .driver import Query


class TooLong(BaseException):
    """A query that should be short is not. None of the query's own business, so that nobody takes
    it for one of the errors that he knows."""


T = TypeVar("T")

# All statements are built once, with these names for their owner; SQLAlchemy then finds the
# compiled text in its cache.
TENANT: BindParameter[str] = bindparam("tenant")
CONVERSATION: BindParameter[str] = bindparam("conversation")
IDS: BindParameter[Any] = bindparam("ids", expanding=True)
LIMIT: BindParameter[int] = bindparam("most")
ALL = 2**62

AnyRow: TypeAlias = Row[*tuple[Any, ...]]
AnyRows: TypeAlias = CursorResult[*tuple[Any, ...]]
AnySelect: TypeAlias = Select[*tuple[Any, ...]]

# SQLite takes 32,766 parameters in a statement.
_PIECE = 512


class Scope:
    """One tenant's rows, through one connection."""

    def __init__(self, connection: Connection, tenant_id: str) -> None:
        self._connection = connection
        self._tenant_id = tenant_id

    def _run(
        self, statement: Executable, conversation_id: str | None = None, **values: object
    ) -> AnyRows:
        values["tenant"] = self._tenant_id
        if conversation_id is not None:
            values["conversation"] = conversation_id
        return self._connection.execute(statement, values)

    def _among(
        self,
        statement: Executable,
        conversation_id: str | None,
        ids: Iterable[object],
        **values: object,
    ) -> Iterator[AnyRow]:
        """The rows that a statement with a list of ids finds, however many there are."""
        for piece in pieces(ids):
            yield from self._run(statement, conversation_id, ids=piece, **values)

    def _found(
        self, query: Query, conversation_id: str, *values: object
    ) -> Iterator[Sequence[Any]]:
        """Faster than `_run`, for what nearly every request asks: rows as plain lists. The values
        come in the order of the query's names."""
        return query.rows(self._connection, self._tenant_id, conversation_id, *values)


def owned(table: FromClause) -> ColumnElement[bool]:
    """The rows of one conversation."""
    return and_(table.c.tenant_id == TENANT, table.c.conversation_id == CONVERSATION)


def begins(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Ids with the prefix that `beginning_with` is given."""
    return and_(column >= bindparam("lowest"), column < bindparam("highest"))


def beginning_with(prefix: str) -> dict[str, str]:
    """Between which two the ids are: none has a sign as high as the last of the second."""
    return {"lowest": prefix, "highest": prefix + "\x7f"}


def pieces(items: Iterable[T]) -> Iterator[list[T]]:
    """The items for IN lists. A list is filled up to a power of two with its last item, so that
    few different statements have to be prepared."""
    rest = iter(items)
    while piece := list(islice(rest, _PIECE)):
        length = 1 << (len(piece) - 1).bit_length()
        yield piece + piece[-1:] * (length - len(piece))


def ranges(seqs: Collection[int]) -> Iterator[tuple[int, int]]:
    """The numbers as few ranges as they make: after < seq <= until."""
    ordered = sorted(seqs)
    after = None
    for seq, following in zip_longest(ordered, ordered[1:]):
        after = seq - 1 if after is None else after
        if following != seq + 1:
            yield after, seq
            after = None


def or_all(number: int | None) -> int:
    return ALL if number is None else number
