"""A database with a row in every table, and how one value of it is changed."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import Table

from app.database.tables import TENANTS_ROWS
from app.main import create_app
from app.settings import Settings
from tests.http_api import Api, answering, calling, user

TABLES: dict[str, Table] = {table.name: table for table in TENANTS_ROWS}
COLUMNS = [(table.name, column.name) for table in TABLES.values() for column in table.columns]
TOOLS: dict[str, Any] = {
    "provider": "anthropic",
    "tools": [{"name": "f", "description": "does it", "input_schema": {"type": "object"}}],
}
RESPONSE = {
    "id": "resp_1",
    "object": "chat.completion",
    "model": "gpt",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "So"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}
CID = "c1"
OTHER = "c2"
LONG = "long"


def serve(url: str) -> TestClient:
    """Nothing is kept in memory: every answer is read."""
    return TestClient(create_app(Settings(database_url=url, render_memory=0)))


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def fill(url: str) -> None:
    """Two conversations of one kind, and a long turn, which stands in pieces."""
    with serve(url) as http:
        api = Api(http)
        for cid in (CID, OTHER):
            about = {"id": cid, "title": "A title", "metadata": {"k": "v"}}
            assert http.post("/v1/conversations", json=about).status_code == 201
            said = [user("one apple"), calling(("a", "f", "{}"), ("b", "g", "{}"))]
            key = {"Idempotency-Key": "key-1"}
            assert api.post(*said, cid=cid, headers=key, model="m").status_code == 201
            assert http.put(f"/v1/conversations/{cid}/tools", json=TOOLS).status_code == 200
            answers = answering("a", "1"), answering("nobody", "2")
            assert api.post(*answers, cid=cid, headers={"Idempotency-Key": "key-2"}).is_success
            body = {"provider": "openai", "response": RESPONSE, "turn_id": "resp"}
            assert http.post(f"/v1/conversations/{cid}/turns", json=body).status_code == 201
            for turn_id in ("broken", "broken-2"):
                half: dict[str, Any] = {"speaker": "ai", "turn_id": turn_id}
                half |= {"status": "interrupted", "blocks": [{"type": "text", "text": "Half"}]}
                assert api.post(half, cid=cid, provider="neutral").status_code == 201
                whole: dict[str, Any] = {"speaker": "ai", "turn_id": turn_id}
                whole |= {"blocks": [{"type": "text", "text": "Half and half"}]}
                assert api.post(whole, cid=cid, provider="neutral").status_code == 200
            more = {**TOOLS, "tools": [{**TOOLS["tools"][0], "name": "g"}]}
            assert http.put(f"/v1/conversations/{cid}/tools", json=more).status_code == 200
            assert api.post(user("end"), cid=cid).status_code == 201
        chunk = {"id": "long", "choices": [{"index": 0, "delta": {"content": "x" * 700_000}}]}
        events = [chunk, chunk, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
        stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        sent = http.post(
            f"/v1/conversations/{LONG}/turns/stream?provider=openai",
            content=stream,
            headers={"Content-Type": "text/event-stream"},
        )
        assert sent.status_code == 201, sent.text
        assert http.get("/v1/conversations?q=apple").json()["data"]
        for cid in (CID, OTHER, LONG):
            report = http.get(f"/v1/conversations/{cid}/verify").json()
            assert report["ok"], report


def owner(table: str) -> str:
    """The conversation whose rows of this table are changed."""
    return LONG if table == "turn_pieces" else CID


@contextmanager
def opened(url: str) -> Iterator[sqlite3.Connection]:
    """The file itself, without any rule."""
    with closing(sqlite3.connect(file_of(url), isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        yield connection


def key_of(table: Table) -> str:
    """How one row is named: by its whole key."""
    return " AND ".join(f"{column.name} IS ?" for column in table.primary_key.columns)


def keys(connection: sqlite3.Connection, table: Table, cid: str) -> list[tuple[Any, ...]]:
    """The rows of a conversation, by their keys."""
    names = ", ".join(column.name for column in table.primary_key.columns)
    statement = f"SELECT {names} FROM {table.name} WHERE conversation_id = ? ORDER BY {names}"
    return list(connection.execute(statement, (cid,)))
