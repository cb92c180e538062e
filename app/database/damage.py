"""Damage: rows that hold what no release ever wrote, and how to read around them.

SQLite keeps in a column whatever it is given, and a flipped bit may be anywhere. One such value
must not hide the rows beside it: here values are read as they stand and judged one by one.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Integer,
    LargeBinary,
    Table,
    Text,
    literal_column,
    select,
    type_coerce,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from ..model.errors import TurnkeepError
from .engines import driver_of, original
from .scope import AnySelect, Scope, owned
from .tables import OWNER, TENANTS_ROWS, conversations
from .types import AnyText, UtcTime

# What is not UTF-8 becomes lone surrogates, which no text of ours holds outside of bytes.
_ANY_BYTES = partial(str, encoding="utf-8", errors="surrogateescape")


_ROWS: Mapping[str, AnySelect] = {
    table.name: select(literal_column("1")).select_from(table).where(owned(table)).limit(1)
    for table in TENANTS_ROWS
}
_HEAD = _ROWS[conversations.name]


@dataclass(frozen=True, slots=True)
class Fault:
    """A value that its column cannot hold. `place`: the rest of the row's key."""

    table: str
    column: str
    place: tuple[object, ...]


def may_be_damage(error: Exception) -> bool:
    """Whether an error may come from what is stored, and not from who asked or from a database that
    does not answer."""
    cause = original(error)
    # Psycopg is known by its name: it is not loaded where it is not used.
    is_psycopgs = type(cause).__module__.startswith("psycopg")
    if is_psycopgs or isinstance(cause, sqlite3.Error | DBAPIError):
        return "decode to UTF-8" in str(cause)
    return not isinstance(error, TurnkeepError | OSError)


class UnlessDamaged:
    """A block that ends early, and quietly, where what it reads may be damaged."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        return isinstance(error, Exception) and may_be_damage(error)


class Damage(Scope):
    """The part of a store that says what is damaged in form."""

    def has_head(self, cid: str) -> bool:
        """Whether there is a conversation, in whatever state."""
        return self._run(_HEAD, cid).first() is not None

    def headless(self, cid: str) -> list[str]:
        """The tables that hold rows of a conversation which has no head."""
        if self.has_head(cid):
            return []
        return [name for name, statement in _ROWS.items() if self._run(statement, cid).first()]

    def faults(self, cid: str) -> Iterator[Fault]:
        """Every damaged value of a conversation."""
        for table, (columns, statement) in _VALUES.items():
            readers = [_reader(column, self._connection.dialect) for column in columns]
            with any_bytes(self._connection):
                for row in self._run(statement, cid):
                    for column, read, value in zip(columns, readers, row, strict=False):
                        if _damaged(read, value):
                            yield Fault(table, column.name, tuple(row[len(columns) :]))


def as_stored(statement: AnySelect) -> AnySelect:
    """The statement with values as the database holds them."""
    columns = [type_coerce(column, NullType()) for column in statement.selected_columns]
    return statement.with_only_columns(*columns, maintain_column_froms=True)


def _values(table: Table) -> tuple[list[Column[Any]], AnySelect]:
    """The columns of a table without its owner, and the statement that reads them and the rest of
    the key."""
    key = [column for column in table.primary_key.columns if column.name not in OWNER]
    columns = [column for column in table.columns if column.name not in OWNER]
    return columns, as_stored(select(*columns, *key).where(owned(table)))


_VALUES = {table.name: _values(table) for table in TENANTS_ROWS}


@contextmanager
def any_bytes(connection: Connection) -> Iterator[None]:
    """Texts are read whatever bytes they hold. PostgreSQL keeps no others than UTF-8."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = driver_of(connection)
    driver.text_factory = _ANY_BYTES
    try:
        yield
    finally:
        driver.text_factory = str


def sound(
    connection: Connection, statement: AnySelect, values: Mapping[str, object], name: int = 0
) -> tuple[list[list[Any]], list[str]]:
    """The rows of a statement whose values are what they must be, and the names of the others.

    `name`: at which place a row has its name.
    """
    columns = list(statement.selected_columns)
    readers = [_reader(column, connection.dialect) for column in columns]
    with any_bytes(connection):
        rows = connection.execute(as_stored(statement), values).all()
    good: list[list[Any]] = []
    bad: list[str] = []
    for row in rows:
        try:
            good.append([read(value) for read, value in zip(readers, row, strict=True)])
        except (TypeError, ValueError):
            bad.append(readable(row[name]))
    return good, bad


def readable(value: object) -> str:
    """A damaged id, to be shown."""
    text = value if isinstance(value, str) else repr(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _damaged(read: Callable[[Any], Any], value: object) -> bool:
    try:
        read(value)
    except (TypeError, ValueError):
        return True
    return False


def _reader(column: ColumnElement[Any], dialect: Dialect) -> Callable[[Any], Any]:
    """How a value of a column is read. What is raised for one that cannot stand there is a
    `TypeError` or a `ValueError`."""
    type_ = column.type
    expected: type[object] = object
    convert: Callable[[Any], Any] = _same
    match type_:
        case AnyText() | LargeBinary():
            expected = bytes
        case Boolean():
            expected, convert = int, _flag
        case Integer():
            expected, convert = int, _number
        case Text():
            expected, convert = str, _utf8
    if isinstance(type_, AnyText | UtcTime):
        convert = type_.dialect_impl(dialect).result_processor(dialect, None) or _same
    may_be_null = getattr(column, "nullable", True)

    def read(value: Any) -> Any:
        if value is None:
            if not may_be_null:
                raise ValueError("there must be a value")
            return None
        if not isinstance(value, expected):
            raise TypeError("another kind of value must stand here")
        return convert(value)

    return read


def _same(value: Any) -> Any:
    return value


def _number(value: int) -> int:
    if isinstance(value, bool):
        raise TypeError("must be a number")
    return value


def _flag(value: int) -> bool:
    if value not in (0, 1):
        raise ValueError("must be true or false")
    return bool(value)


def _utf8(value: str) -> str:
    value.encode()
    return value
