"""The words of the tests of the interface, for one conversation on a fresh database."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.http_api import Api


class ToolApi(Api):
    """Speaks of the tools of the conversation `c1`, and of conversions."""

    def put(self, provider: str, tools: Any, **more: Any) -> Any:
        body = {"provider": provider, "tools": tools, **more}
        return self.send("PUT", "conversations/c1/tools", body)

    def convert(self, what: str, **body: Any) -> Any:
        body = {"from" if key == "source" else key: value for key, value in body.items()}
        return self.send("POST", f"convert/{what}", body)

    def send(self, method: str, path: str, body: Any) -> Any:
        """The body as ASCII: lone surrogates pass. A text is sent as it is."""
        content = body if isinstance(body, str) else json.dumps(body)
        headers = {"content-type": "application/json"}
        return self.http.request(method, f"/v1/{path}", content=content, headers=headers)

    def request(self, provider: str, **params: Any) -> dict[str, Any]:
        shown: dict[str, Any] = self.replay(provider, **params)["request"]
        return shown


def _api(url: str) -> Iterator[ToolApi]:
    # A defect shows itself as the 500 that a caller would see.
    with TestClient(create_app(Settings(database_url=url)), raise_server_exceptions=False) as http:
        yield ToolApi(http)


@pytest.fixture
def api(database_url: str) -> Iterator[ToolApi]:
    yield from _api(database_url)


@pytest.fixture
def lite(sqlite_database_url: str) -> Iterator[ToolApi]:
    """For what does not touch the difference between databases."""
    yield from _api(sqlite_database_url)


@pytest.fixture(scope="module")
def shared(sqlite_template: Path, quick_folder: Path) -> Iterator[ToolApi]:
    """One database for all tests of a file, for those that do not look at what others left."""
    with TemporaryDirectory(dir=quick_folder) as folder:
        yield from _api(f"sqlite:///{shutil.copy(sqlite_template, folder)}")
