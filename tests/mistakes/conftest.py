"""The real application on a database of each kind, with one conversation of three turns."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.mistakes.mistake import TURNS


@pytest.fixture
def http(database_url: str) -> Iterator[TestClient]:
    with talked(database_url) as client:
        yield client


@pytest.fixture
def lite(sqlite_database_url: str) -> Iterator[TestClient]:
    """For what is said before a database is asked."""
    with talked(sqlite_database_url) as client:
        yield client


@contextmanager
def talked(url: str) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(database_url=url))) as client:
        first = {"provider": "openai", "messages": [{"role": "user", "content": "hello"}]}
        second = {"provider": "neutral", "messages": [{"speaker": "human", "blocks": []}]}
        for body, headers in (
            ({**first, "turn_id": "t1"}, {}),
            ({**second, "turn_id": "n1"}, {}),
            (first, {"Idempotency-Key": "k1"}),
        ):
            assert client.post(TURNS, json=body, headers=headers).status_code == 201
        yield client
