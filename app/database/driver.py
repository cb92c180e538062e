"""Statements as the drivers take them: a text, and values in its order.

SQLAlchemy writes the text, once for each database, and says which values must be converted. The
writer, and readers in a hurry, then hand text and values to the driver themselves: SQLAlchemy's own
way costs ten times what SQLite needs to find a row.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import (
    ARRAY,
    Boolean,
    Connection,
    LargeBinary,
    Table,
    bindparam,
    cast,
    column,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

from .types import AnyText, UtcTime

Values: TypeAlias = tuple[Any, ...]
_Convert: TypeAlias = Callable[[Any], Any]
_Converters: TypeAlias = Sequence[tuple[int, _Convert]]


# Rows that are written at once, and seconds until the next ones: the driver of SQLite lets go of
# Python's lock for each row, and takes it up again before those who wait for it can.
_LOT = 500
_BREATH = 0.0002


class Many:
    """A statement that is run for many rows at once; these bring its parameters in this order."""

    def __init__(self, statement: ClauseElement, names: Sequence[str]) -> None:
        self._text = by_database(partial(Text, statement, names))

    def run(self, connection: Connection, rows: Sequence[Values]) -> None:
        if not rows:
            return
        text = self._text(connection)
        for start in range(0, len(rows), _LOT):
            if start:
                time.sleep(_BREATH)
            execute(connection, text.text, text.all_given(rows[start : start + _LOT]), many=True)


class Inserts(Many):
    """Short rows for a table; all that come at once are one statement for PostgreSQL, which takes
    each column as an array. Row by row, it needs half as long again, and its driver four times as
    long. `once`: rows that are there already stay as they are."""

    def __init__(self, table: Table, names: Sequence[str], *, once: bool = False) -> None:
        self._text = by_database(partial(_inserts, table, names, once))


class Query:
    """A select in one conversation; `names`: its other parameters."""

    def __init__(self, statement: ClauseElement, *names: str) -> None:
        self._text = by_database(partial(Text, statement, ["tenant", "conversation", *names]))

    def rows(self, connection: Connection, *values: object) -> Iterator[Sequence[Any]]:
        return self._text(connection).rows(connection, values)


class Text:
    """A statement for one database. `names`: its parameters, in the order in which they come."""

    def __init__(
        self, statement: ClauseElement, names: Sequence[str], dialect: DefaultDialect
    ) -> None:
        positional = type(dialect)(paramstyle="qmark" if dialect.name == "sqlite" else "format")
        compiled = statement.compile(dialect=positional, column_keys=list(names))
        assert isinstance(compiled, SQLCompiler)
        self.text = str(compiled)
        wanted = compiled.positiontup or []
        constants = {name: compiled.params[name] for name in wanted if name not in names}
        every = [*names, *constants]
        self._constants = tuple(constants.values())
        self._ordered = itemgetter(*map(every.index, wanted))
        given = (compiled.binds[name].type for name in names)
        self._given: _Converters = list(_converters(given, dialect))
        found = (column.type for column in getattr(statement, "selected_columns", ()))
        self._found: _Converters = list(_converters(found, dialect, reads=True))

    def given(self, row: Values) -> Values:
        """The values as the driver takes them."""
        values = [*row, *self._constants]
        for at, convert in self._given:
            values[at] = convert(values[at])
        ordered: Values = self._ordered(values)
        return ordered

    def all_given(self, rows: Iterable[Values]) -> list[Values]:
        """The same of many rows."""
        return list(map(self.given, rows))

    def rows(self, connection: Connection, row: Values) -> Iterator[Sequence[Any]]:
        """What a query finds."""
        for found in execute(connection, self.text, self.given(row)):
            values = list(found)
            for at, convert in self._found:
                values[at] = convert(values[at])
            yield values


class _Arrays(Text):
    """An insert of PostgreSQL to which many rows are one: each parameter is a column of them."""

    def __init__(
        self, statement: postgresql.Insert, names: Sequence[str], dialect: DefaultDialect
    ) -> None:
        super().__init__(statement, names, dialect)
        types = (statement.table.c[name].type for name in names)
        self._given = list(_converters(types, dialect))

    def all_given(self, rows: Iterable[Values]) -> list[Values]:
        return [tuple(map(_array, zip(*map(self.given, rows), strict=True)))]


def _inserts(table: Table, names: Sequence[str], once: bool, dialect: DefaultDialect) -> Text:
    key = list(table.primary_key.columns)
    if dialect.name == "sqlite":
        row = sqlite.insert(table)
        return Text(row.on_conflict_do_nothing(index_elements=key) if once else row, names, dialect)
    columns = [column(name, table.c[name].type) for name in names]
    given = (cast(bindparam(one.name), ARRAY(one.type)) for one in columns)
    new = func.unnest(*given).table_valued(*columns).render_derived(name="new")
    rows = postgresql.insert(table).from_select(names, select(*new.c))
    return _Arrays(
        rows.on_conflict_do_nothing(index_elements=key) if once else rows, names, dialect
    )


def _array(values: Iterable[Any]) -> str:
    """An array as PostgreSQL reads it."""
    return "{" + ",".join(map(_element, values)) + "}"


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    # Whatever else would be written as some text, and stored as such.
    assert isinstance(value, int)
    return str(value)


def by_database(make: Callable[..., Text]) -> Callable[..., Text]:
    """Makes a text once for each kind of database, for whatever else it depends on."""
    made: dict[tuple[object, ...], Text] = {}

    def text(connection: Connection, *more: object) -> Text:
        key = (connection.dialect.name, *more)
        if key not in made:
            made[key] = make(*more, connection.dialect)
        return made[key]

    return text


def execute(connection: Connection, text: str, values: Any, *, many: bool = False) -> Sequence[Any]:
    """Runs a statement; returns the rows that it finds, as the driver gives them."""
    cursor = connection.connection.cursor()
    try:
        if many:
            cursor.executemany(text, values)
            return ()
        cursor.execute(text, values)
        return cursor.fetchall()
    finally:
        cursor.close()


def _converters(
    types: Iterable[Any], dialect: DefaultDialect, *, reads: bool = False
) -> Iterator[tuple[int, _Convert]]:
    """How values become what the driver takes, or what it gives becomes values; by place, where
    they are not the same."""
    for at, type_ in enumerate(types):
        convert: _Convert | None
        if isinstance(type_, AnyText):
            # Bytes are bytes to both drivers.
            one = type_.process_result_value if reads else type_.process_bind_param
            convert = partial(one, dialect=dialect)
        elif isinstance(type_, LargeBinary) or (isinstance(type_, Boolean) and not reads):
            convert = None
        elif reads:
            convert = type_.dialect_impl(dialect).result_processor(dialect, None)
        else:
            convert = type_.dialect_impl(dialect).bind_processor(dialect)
            if isinstance(type_, UtcTime) and convert is not None:
                # The rows of a group have the same moment, and SQLite wants it as text.
                convert = lru_cache(maxsize=16)(convert)
        if convert is not None:
            yield at, convert
