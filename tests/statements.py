"""Which statements a database is given: those of SQLAlchemy, and those that go to the driver."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, event

from app.database import driver
from app.database.database import Database

Note = Callable[[Connection, str, Any], None]


def row_count(values: Any) -> int:
    """How many rows a statement is given that is run for many: PostgreSQL may get them as one, with
    an array for each column. (Their first one holds no commas.)"""
    first = values[0][0] if values else None
    if isinstance(first, str) and first.startswith("{"):
        return first.count(",") + 1
    return len(values)


@contextmanager
def noted(note: Note, database: Database) -> Iterator[None]:
    """Tells each statement of a database before it is run. Of others nothing is told: services that
    tests share go on in the background."""
    run = driver.execute
    engines = (database._reading, database._writing)

    def execute(connection: Connection, text: str, values: Any, *, many: bool = False) -> Any:
        if connection.engine in engines:
            note(connection, text, values)
        return run(connection, text, values, many=many)

    def before(connection: Connection, _: Any, statement: str, values: Any, *__: Any) -> None:
        note(connection, statement, values)

    for engine in engines:
        event.listen(engine, "before_cursor_execute", before)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "execute", execute)
            yield
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", before)
