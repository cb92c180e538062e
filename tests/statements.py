"""Which statements a database is given: those of SQLAlchemy, and those that go to the driver."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from app.storage import driver

Note = Callable[[Connection, str, Any], None]


@contextmanager
def noted(note: Note, engine: Engine | None = None) -> Iterator[None]:
    """Tells each statement before it is run: those of one engine, or of all."""
    run = driver.execute

    def execute(connection: Connection, text: str, values: Any, *, many: bool = False) -> Any:
        if engine is None or connection.engine is engine:
            note(connection, text, values)
        return run(connection, text, values, many=many)

    def before(connection: Connection, _: Any, statement: str, values: Any, *__: Any) -> None:
        note(connection, statement, values)

    event.listen(engine or Engine, "before_cursor_execute", before)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "execute", execute)
            yield
    finally:
        event.remove(engine or Engine, "before_cursor_execute", before)
