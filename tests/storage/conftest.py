from collections.abc import Iterator

import pytest

from app.storage.database import Database


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database(database_url) as database:
        yield database


@pytest.fixture
def conversation(database: Database) -> str:
    """The id of an empty conversation."""
    database.write_now(lambda store: store.create("c1", None, b"{}"))
    return "c1"
