"""The real application on a real database, of each kind in turn, and the fake provider."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.streams.fake_provider import fake_provider


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(database_url=database_url))) as http:
        yield http


@pytest.fixture(scope="session")
def provider() -> Iterator[str]:
    """The address of the fake provider."""
    with pytest.MonkeyPatch.context() as patch, fake_provider() as url:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield url
