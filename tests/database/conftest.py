from collections.abc import Iterator

import pytest

from app.conversations.commands import Create
from app.database.database import Database


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Its writers remember nothing: here the database itself is asked."""
    with Database(database_url, memory=0, pg_writers=2) as database:
        yield database


@pytest.fixture
def conversation(database: Database) -> str:
    """The id of an empty conversation."""
    database.write_now(Create("c1", None, {}))
    return "c1"
