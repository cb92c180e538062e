"""Statements that are run for many rows at once, as the driver takes them.

SQLAlchemy writes the text, once for each database. The rows then go to the driver as tuples: its
own way would look up every value of every row by name, which costs more than the database does.
"""

from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import Boolean, Connection, LargeBinary
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

from app.storage.types import AnyText

_Convert: TypeAlias = Callable[[Any], Any]


class Many:
    """A statement whose parameters have these names, in the order in which rows bring them."""

    def __init__(self, statement: ClauseElement, names: Sequence[str]) -> None:
        self._statement = statement
        self._names = list(names)
        self._compiled = cache(self._compile)

    def run(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        if not rows:
            return
        text, ordered, constants, converted = self._compiled(connection.dialect)
        given = []
        for row in rows:
            values = [*row, *constants]
            for at, convert in converted:
                values[at] = convert(values[at])
            given.append(ordered(values))
        connection.exec_driver_sql(text, given)

    def _compile(
        self, dialect: DefaultDialect
    ) -> tuple[str, _Convert, list[Any], list[tuple[int, _Convert]]]:
        """The text, the order of its parameters, its own constants, and what is converted."""
        positional = type(dialect)(paramstyle="qmark" if dialect.name == "sqlite" else "format")
        compiled = self._statement.compile(dialect=positional, column_keys=self._names)
        assert isinstance(compiled, SQLCompiler)
        wanted = compiled.positiontup or []
        constants = {name: compiled.params[name] for name in wanted if name not in self._names}
        names = [*self._names, *constants]
        converters = (
            (at, _converter(compiled.binds[one].type, dialect)) for at, one in enumerate(names)
        )
        return (
            str(compiled),
            itemgetter(*map(names.index, wanted)),
            list(constants.values()),
            [(at, convert) for at, convert in converters if convert is not None],
        )


def _converter(type_: Any, dialect: DefaultDialect) -> _Convert | None:
    """How a value becomes what the driver takes; None where it takes it as it is."""
    if isinstance(type_, AnyText):
        return lambda value: type_.process_bind_param(value, dialect)
    if isinstance(type_, LargeBinary | Boolean):
        return None
    convert: _Convert | None = type_.dialect_impl(dialect).bind_processor(dialect)
    return convert
