"""A complete history in one POST: hundreds of messages, all or none; exports can be posted too."""

import json
from typing import Any

from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.transfer.conftest import FILES, Run, replayed, stored


def rounds(count: int) -> list[Any]:
    said: list[Any] = []
    for number in range(count):
        call = {"id": "call_0", "function": {"name": "f", "arguments": f'{{"n": {number}}}'}}
        said += [
            {"role": "user", "content": f"round {number}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_0", "content": f"result {number}"},
        ]
    return said


def test_hundreds_of_messages_are_stored_at_once_or_not_at_all(database_url: str) -> None:
    said = rounds(300)
    broken = [*said[:-1], {"role": "wizard", "content": "no"}]
    with TestClient(create_app(Settings(database_url=database_url))) as http:
        path = "/v1/conversations/c1/turns"
        refused = http.post(path, json={"provider": "openai", "messages": broken})
        assert (refused.status_code, refused.json()["pointer"]) == (422, "/messages/899/role")
        assert http.get("/v1/conversations/c1").status_code == 404
        body = {"provider": "openai", "messages": said}
        key = {"Idempotency-Key": "import-1"}
        assert http.post(path, json=body, headers=key).json()["version"] == 900
        assert http.post(path, json=body, headers=key).headers["Idempotent-Replayed"] == "true"
    turns = stored(database_url, "c1")
    assert [turn["seq"] for turn in turns] == list(range(1, 901))
    calls = [turn["blocks"][0]["id"] for turn in turns[1::3]]
    assert [turn["blocks"][0]["call_id"] for turn in turns[2::3]] == calls
    assert len(set(calls)) == 300


def test_the_turns_of_an_export_can_be_posted(database_url: str, turnkeep: Run) -> None:
    turnkeep(database_url, "import", FILES / "fine-tuning.jsonl")
    line = json.loads(turnkeep(database_url, "export", "fine-tuning-1").out)
    with TestClient(create_app(Settings(database_url=database_url))) as http:
        path = "/v1/conversations/again/turns"
        body = {"provider": "neutral", "turns": line["turns"]}
        assert http.post(path, json=body).status_code == 201
    one, other = (
        json.loads(replayed(database_url, cid, "kimi"))["request"]["messages"]
        for cid in ("fine-tuning-1", "again")
    )
    assert one == other
