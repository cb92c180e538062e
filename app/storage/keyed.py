"""Looking up many rows by key in one statement: the keys are a table of values, joined by index.

Statements are built once for each number of keys. Lists are filled up to a power of two with their
last key, so that there are few of them; rows may therefore come more than once.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import (
    CTE,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    FromClause,
    LargeBinary,
    Values,
    and_,
    bindparam,
    column,
)
from sqlalchemy.types import TypeEngine

from app.storage.scope import TENANT, AnyRow, AnySelect, pieces
from app.storage.types import IdText

_TYPES: dict[str, TypeEngine[Any]] = {
    "cid": IdText,
    "id": IdText,
    "target": IdText,
    "sha256": LargeBinary(),
    "seq": BigInteger(),
    "answered": Boolean(),
}
# A key begins with the conversation.
Key: TypeAlias = tuple[Any, ...]


class Keyed:
    """A select over a table of keys with these columns.

    `build` makes it from that table and the name of the database.
    """

    def __init__(self, *names: str, build: Callable[[CTE, str], AnySelect]) -> None:
        self._names = names
        self._statement = lru_cache(maxsize=None)(
            lambda size, dialect: build(_table(names, size), dialect)
        )

    def rows(
        self, connection: Connection, tenant_id: str, keys: Collection[Key], **more: object
    ) -> Iterator[AnyRow]:
        for piece in pieces(sorted(keys)):
            given = {
                f"{name}{number}": value
                for number, key in enumerate(piece)
                for name, value in zip(self._names, key, strict=True)
            }
            statement = self._statement(len(piece), connection.dialect.name)
            yield from connection.execute(statement, {"tenant": tenant_id, **given, **more})


class _KeyTable(Values):
    """VALUES that SQLAlchemy can find in its cache of compiled statements.

    It gives up on others, because their data may be anything. All data of these are parameters, so
    names and number of rows say everything.
    """

    inherit_cache = True

    def _gen_cache_key(self, anon_map: Any, bindparams: Any) -> tuple[Any, ...]:
        columns = tuple((one.name, str(one.type)) for one in self._column_args)
        return (_KeyTable, self.name, columns, len(self._data[0]))


def _table(names: Sequence[str], size: int) -> CTE:
    return (
        _KeyTable(*(column(name, _TYPES[name]) for name in names), name="k")
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
