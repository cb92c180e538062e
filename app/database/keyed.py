"""Looking up many rows by key in one statement: the keys are a table of values, joined by index.

Statements are built once for each number of keys. Lists are filled up to a power of two with their
last key, so that there are few of them; rows may therefore come more than once.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from sqlalchemy import (
    CTE,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    FromClause,
    LargeBinary,
    and_,
    bindparam,
    column,
    values,
)
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.types import TypeEngine

from .driver import Text, by_database
from .scope import TENANT, AnySelect, pieces
from .types import AnyText, IdText

_TYPES: dict[str, TypeEngine[Any]] = {
    "cid": IdText,
    "id": IdText,
    "target": IdText,
    "sha256": LargeBinary(),
    "name": AnyText(),
    "seq": BigInteger(),
    "answered": Boolean(),
}
# A key begins with the conversation.
Key: TypeAlias = tuple[Any, ...]


class Keyed:
    """A select over a table of keys with these columns; `more`: its other parameters.

    `build` makes it from that table and the name of the database.
    """

    def __init__(
        self, *names: str, build: Callable[[CTE, str], AnySelect], more: Sequence[str] = ()
    ) -> None:
        self._names = names
        self._build = build
        self._more = more
        self._text = by_database(self._make)

    def rows(
        self, connection: Connection, tenant_id: str, keys: Collection[Key], *more: object
    ) -> Iterator[Sequence[Any]]:
        for piece in pieces(sorted(keys)):
            text = self._text(connection, len(piece))
            yield from text.rows(connection, (*chain.from_iterable(piece), tenant_id, *more))

    def _make(self, size: int, dialect: DefaultDialect) -> Text:
        statement = self._build(_table(self._names, size), dialect.name)
        keys = [f"{name}{number}" for number in range(size) for name in self._names]
        return Text(statement, [*keys, "tenant", *self._more], dialect)


def _table(names: Sequence[str], size: int) -> CTE:
    return (
        values(*(column(name, _TYPES[name]) for name in names), name="k")
        .data(
            [
                tuple(bindparam(f"{name}{number}", type_=_TYPES[name]) for name in names)
                for number in range(size)
            ]
        )
        .cte("k")
    )


def of_key(table: FromClause, keys: CTE, *more: ColumnElement[bool]) -> ColumnElement[bool]:
    """The rows of a table that belong to the conversation of a key."""
    return and_(table.c.tenant_id == TENANT, table.c.conversation_id == keys.c.cid, *more)
