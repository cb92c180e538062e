"""A database of an earlier release: after migrating, everything is there as if posted today."""

import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from fastapi.testclient import TestClient
from zstandard import FRAME_HEADER

from app.main import create_app
from app.settings import Settings
from app.storage import migrating
from app.storage.engines import database_file, is_sqlite
from app.storage.migrations import upgrade
from tests.api.conftest import Api, answering, calling, user
from tests.api.test_lookup import lookup
from tests.api.test_streams import CUT, RESPONSE, WHOLE, respond, stream
from tests.api.test_usage import CHAT, TOOK, summed
from tests.migrations.test_migrations import connected

pytestmark = pytest.mark.own_database
GEMINI = {
    "responseId": "gemini-1",
    "modelVersion": "gemini-x",
    "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}}],
    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 3},
}
BEDROCK = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 4, "outputTokens": 2, "totalTokens": 9, "cacheReadInputTokens": 3},
    "ResponseMetadata": {"RequestId": "request-1"},
}
RESPONSES = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-x",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "role": "assistant",
            "id": "m",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hi.", "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 8,
        "output_tokens": 6,
        "total_tokens": 14,
        "input_tokens_details": {"cached_tokens": 1},
        "output_tokens_details": {"reasoning_tokens": 5},
    },
}
ANSWERED = {
    "openai": CHAT,
    "kimi": CHAT | {"usage": {"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 8}},
    "anthropic": RESPONSE,
    "gemini": GEMINI,
    "bedrock": BEDROCK,
    "openai-responses": RESPONSES,
}
IDS = ("msg_1", "chatcmpl-1", "gemini-1", "request-1", "resp_1", "msg_2", "t-1", "s1", "a", "lost")
HOME = "conversations/c1/replay?provider=anthropic"
PATHS = (
    *(f"conversations/{cid}{path}" for cid in ("c1", "c2") for path in ("", "/tool-calls")),
    *(f"conversations/{cid}{path}" for cid in ("c1", "c2") for path in ("/turns", "/verify")),
    HOME,
)


@contextmanager
def served(url: str) -> Iterator[Api]:
    with TestClient(create_app(Settings(database_url=url))) as http:
        yield Api(http)


def tell(api: Api) -> None:
    """Responses of every wire, calls, an orphan, a stream that broke and was completed."""
    # The migration reads a thousand rows at a time; these come before all others.
    assert api.post(*([user("x")] * 1000), cid="c0").status_code == 201
    api.post(user("hi"), calling(("a", "f", "{}")), answering("a", "1"), answering("lost", "2"))
    api.post(user("hi"), turn_id="t-1")
    for provider, response in ANSWERED.items():
        body = {"provider": provider, "response": response}
        done = api.http.post("/v1/conversations/c1/turns", json=body)
        assert done.status_code == 201, done.text
    stream(api, WHOLE[:CUT], turn_id="s1")
    respond(api, RESPONSE | {"id": "msg_2", "usage": {"input_tokens": 50}}, turn_id="s1")
    exported = api.replay("neutral")["request"]["turns"]
    assert api.post(*exported, provider="neutral", cid="c2").status_code == 201


def seen(api: Api) -> Any:
    answers = {path: api.http.get(f"/v1/{path}").content for path in PATHS}
    found = {any_id: lookup(api, any_id) for any_id in IDS}
    assert all(one["data"] for one in found.values())
    return answers, found


def go_back(url: str, revision: str) -> set[str]:
    """Goes back to an earlier schema. Returns the turns that lose their originals by that.

    No earlier release knows originals, and they take part in the hash of a turn.
    """
    query = """
        SELECT turn_id FROM turns JOIN (
            SELECT seq, conversation_id FROM turns WHERE originals > 0
            UNION SELECT seq, conversation_id FROM turn_revisions WHERE originals > 0
            UNION SELECT seq, conversation_id FROM turn_pieces WHERE part = 'originals'
        ) AS lost USING (seq, conversation_id)
    """
    with connected(url) as connection:
        found = set(connection.exec_driver_sql(query).scalars())
        command.downgrade(migrating.config(connection), revision)
    return found


def check_hashes(report: Any, lost: set[str]) -> None:
    """The hashes of the turns that lost their originals do not fit; everything else does."""
    assert lost
    assert {problem["code"] for problem in report["problems"]} == {"HASH_MISMATCH"}
    assert {problem["turn_id"] for problem in report["problems"]} == lost


def without_citations(replay: bytes) -> Any:
    """A replay without the only member of these responses that the blocks do not hold."""
    answer = json.loads(replay.replace(b',"citations":null', b""))
    del answer["prefix"]["sha256"]
    return answer


def test_an_old_database_is_found_and_counted_as_a_new_one(database_url: str) -> None:
    with served(database_url) as api:
        tell(api)
        before = seen(api)
    lost = go_back(database_url, "0004")
    upgrade(database_url)
    with served(database_url) as api:
        after = seen(api)
        assert json.loads(before[0].pop("conversations/c1/verify"))["ok"]
        check_hashes(json.loads(after[0].pop("conversations/c1/verify")), lost)
        replays = [answers.pop(HOME) for answers, _ in (before, after)]
        assert without_citations(replays[0]) == without_citations(replays[1])
        assert after == before
        usage = json.loads(after[0]["conversations/c1"])["usage"]
        assert all(usage.values())
        assert api.post(answering("lost", "3")).status_code == 201


def test_the_release_before_gets_turns_that_it_can_read(database_url: str) -> None:
    """It knows nothing of packed ones, in rows or in pieces."""
    with served(database_url) as api:
        tell(api)
        api.post(user("word " * 300))
        long = stream(api, (b": " + b"wait " * 100 + b"\n\n") * 3_000 + WHOLE, turn_id="long")
        assert long.status_code == 201, long.text
        before = api.get("turns?raw=true").content
    lost = go_back(database_url, "0006")
    with connected(database_url) as connection:
        for table, value in (
            ("turns", "blocks"),
            ("turn_revisions", "blocks"),
            ("turn_pieces", "data"),
        ):
            held = connection.exec_driver_sql(f"SELECT {value} FROM {table}").scalars().all()
            assert held
            assert not any(one.startswith(FRAME_HEADER) for one in held)
    upgrade(database_url)
    with served(database_url) as api:
        assert api.get("turns?raw=true").content == before
        check_hashes(api.get("verify").json(), lost)


def migrate_by_printed_sql(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """To the version before and back, by what `alembic … --sql` prints."""
    monkeypatch.setenv("TURNKEEP_DATABASE_URL", url)
    printed = io.StringIO()
    config = Config(Path(__file__).parents[2] / "migrations.ini", output_buffer=printed)
    command.downgrade(config, "0005:0004", sql=True)
    command.upgrade(config, "0004:0005", sql=True)
    script = printed.getvalue()
    if is_sqlite(url):
        with closing(sqlite3.connect(database_file(url))) as file:
            file.executescript(script)
    else:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(script.encode())
    return script


def test_printed_sql_leaves_every_conversation(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one whose id is its tenant's, and one with the name of a row that passes."""
    with served(database_url) as api:
        for cid in ("default", "1"):
            assert api.post(user("hi"), cid=cid).status_code == 201
        before = [api.get("turns", cid=cid).json() for cid in ("default", "1")]
    script = migrate_by_printed_sql(database_url, monkeypatch)
    with served(database_url) as api:
        assert [api.get("turns", cid=cid).json() for cid in ("default", "1")] == before
    assert "INSERT INTO conversations" not in script
    assert "DELETE FROM" not in script
    assert "-- Not in this script" in script


def test_no_total_is_negative_where_old_responses_were_never_counted(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(database_url) as api:
        stream(api, WHOLE[:CUT], turn_id="t1")
        assert summed(api)["input_tokens"] == TOOK["input_tokens"]
    migrate_by_printed_sql(database_url, monkeypatch)
    with served(database_url) as api:
        assert summed(api) == dict.fromkeys(TOOK, 0)
        respond(api, RESPONSE | {"usage": {"input_tokens": 3}}, turn_id="t1")
        assert summed(api) == dict.fromkeys(TOOK, 0) | {"input_tokens": 3}
