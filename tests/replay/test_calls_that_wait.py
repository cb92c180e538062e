"""Calls that the caller runs for a provider are shown when their output has come."""

from typing import Any

import pytest

from tests.http_api import Api, user

SHELL: dict[str, Any] = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "call_sh",
    "action": {"commands": ["ls"]},
    "status": "completed",
}
OUTPUT: dict[str, Any] = {
    "type": "shell_call_output",
    "call_id": "call_sh",
    "output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
}
ANSWER = {"role": "assistant", "content": "One file."}


def post(api: Api, *items: dict[str, Any], cid: str = "c1") -> None:
    assert api.post(*items, cid=cid, provider="openai-responses").status_code == 201


def codes(replay: dict[str, Any]) -> list[str]:
    return [repair["code"] for repair in replay["repairs"]]


@pytest.mark.parametrize("between", [[], [user("Go on.")]], ids=["at once", "after a word"])
def test_a_cached_replay_shows_a_call_as_soon_as_its_output_comes(
    api: Api, between: list[dict[str, Any]]
) -> None:
    post(api, user("Which files are there?"), SHELL, *between)
    waiting = api.replay("openai-responses")
    assert "CALL_WAITS_FOR_OUTPUT" in codes(waiting)
    assert SHELL not in waiting["request"]["input"]
    post(api, OUTPUT)
    post(api, ANSWER)
    extended = api.replay("openai-responses")
    assert "CALL_WAITS_FOR_OUTPUT" not in codes(extended)
    shown = extended["request"]["input"]
    assert [item for item in shown if item.get("call_id")] == [SHELL, OUTPUT]

    # Nobody asked for a replay of this one before.
    post(api, user("Which files are there?"), SHELL, *between, cid="fresh")
    post(api, OUTPUT, cid="fresh")
    post(api, ANSWER, cid="fresh")
    fresh = api.get("replay", cid="fresh", provider="openai-responses").json()
    assert extended["request"] == fresh["request"]


@pytest.mark.parametrize("window", [{"last": 1}, {"last": 2}, {"last": 3}])
def test_a_window_has_both_halves_or_neither(api: Api, window: dict[str, int]) -> None:
    post(api, user("Which files are there?"), SHELL)
    post(api, OUTPUT)
    post(api, ANSWER)
    shown = api.replay("openai-responses", **window)["request"]["input"]
    halves = [item["type"] for item in shown if item.get("call_id")]
    assert halves in ([], ["shell_call", "shell_call_output"])
