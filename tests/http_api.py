"""The real application on a real database, and short words for talking to it.

Its commands are written by a thread, but go there and come back as they would from a process.
"""

import pickle
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.database.database import Database
from app.database.jobs import Job
from app.database.writer import Settled, WriterThread
from app.main import create_app
from app.model.large import StaysHere
from app.settings import Settings


class Api:
    """A client that speaks about one conversation, `c1`, unless told otherwise."""

    def __init__(self, http: TestClient) -> None:
        self.http = http

    def post(self, *messages: Any, cid: str = "c1", headers: Any = None, **body: Any) -> Any:
        body = {"provider": "openai", "messages": list(messages), **body}
        return self.http.post(f"/v1/conversations/{cid}/turns", json=body, headers=headers)

    def get(self, path: str, cid: str = "c1", headers: Any = None, **params: Any) -> Any:
        url = f"/v1/conversations/{cid}/{path}" if path else f"/v1/conversations/{cid}"
        return self.http.get(url, params=params, headers=headers)

    def replay(self, provider: str, **params: Any) -> Any:
        answer = self.get("replay", provider=provider, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(autouse=True)
def as_by_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    put, tell = Database._put, WriterThread.tell

    def sent(self: Database, job: Job) -> None:
        # What is long stays where it is.
        with suppress(StaysHere):
            job = replace(job, command=pickle.loads(pickle.dumps(job.command)))
        put(self, job)

    def heard(self: WriterThread, settled: Settled) -> None:
        tell(self, [(job, pickle.loads(pickle.dumps(outcome))) for job, outcome in settled])

    monkeypatch.setattr(Database, "_put", sent)
    monkeypatch.setattr(WriterThread, "tell", heard)


@pytest.fixture
def api(database_url: str) -> Iterator[Api]:
    # The PostgreSQL of the tests syncs nothing.
    settings = Settings(database_url=database_url, allow_unsafe=True)
    with TestClient(create_app(settings)) as http:
        yield Api(http)


@pytest.fixture
def lite(sqlite_database_url: str) -> Iterator[Api]:
    """For what does not touch the difference between databases."""
    with TestClient(create_app(Settings(database_url=sqlite_database_url))) as http:
        yield Api(http)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def calling(*calls: tuple[str | None, str, str]) -> dict[str, Any]:
    """An assistant message with calls: raw id, name, arguments."""
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": raw_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for raw_id, name, arguments in calls
        ],
    }


def answering(raw_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": raw_id, "content": content}
