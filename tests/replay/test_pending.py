"""`pending` of a replay: the calls without a result, as this target shows them."""

import json
from typing import Any

import pytest

from app.formats.registry import TARGETS
from tests.http_api import Api, answering, calling, user
from tests.turns.test_streams import CUT, WHOLE, stream

UNRECORDED = "[turnkeep] No result was recorded for this call; outcome unknown."
PROVIDERS = [target for target in TARGETS if target != "neutral"]


def pending(api: Api, target: str, **options: Any) -> Any:
    answer = api.replay(target, **options)
    return answer["pending"]


def two_calls(api: Api) -> Any:
    """Two calls, of which the second is answered; the receipt of the calls."""
    api.post(user("go"))
    made = api.post(calling(("a", "read", '{"p": 1}'), ("b", "read", "{}"))).json()
    api.post(answering("b", "two"))
    return made["turns"][0]


@pytest.mark.parametrize("target", PROVIDERS)
def test_the_call_without_a_result_is_named_as_it_is_shown(lite: Api, target: str) -> None:
    turn = two_calls(lite)
    answer = lite.replay(target)
    [waiting] = answer["pending"]
    ids = lite.get("tool-calls").json()["data"]
    assert waiting["call_id"] == turn["tool_calls"][0]["id"]
    assert waiting["provider_id"] in {call["ids"][target] for call in ids}
    assert (waiting["turn_id"], waiting["name"]) == (turn["turn_id"], "read")
    assert waiting["parameters"] == {"p": 1}
    shown = json.dumps(answer["request"])
    assert waiting["placeholder"].endswith(UNRECORDED)
    assert json.dumps(waiting["placeholder"])[1:-1] in shown
    if target != "gemini":
        assert waiting["provider_id"] in shown


def test_the_neutral_form_shows_nothing_in_its_place(lite: Api) -> None:
    turn = two_calls(lite)
    [waiting] = pending(lite, "neutral")
    call_id = turn["tool_calls"][0]["id"]
    assert (waiting["provider_id"], waiting["placeholder"]) == (call_id, None)


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_pending_when_all_is_answered(lite: Api, target: str) -> None:
    two_calls(lite)
    block = {"type": "tool_result", "call_id": "a", "status": "interrupted"}
    lite.post({"speaker": "tool", "blocks": [block]}, provider="neutral")
    assert pending(lite, target) == []


def test_flattened_calls_are_pending_with_the_text_they_are_shown_with(lite: Api) -> None:
    two_calls(lite)
    answer = lite.replay("openai", tools="flatten")
    [waiting] = answer["pending"]
    assert waiting["placeholder"] == f"[turnkeep] Result of the tool read: {UNRECORDED}"
    assert json.dumps(waiting["placeholder"]) in json.dumps(answer["request"])


def test_a_window_tells_what_is_pending_inside_of_it(api: Api) -> None:
    turn = two_calls(api)
    api.post(user("and now?"), calling(("c", "write", "{")))
    assert [call["name"] for call in pending(api, "anthropic")] == ["read", "write"]
    [last] = pending(api, "anthropic", last=1)
    assert (last["name"], last["arguments"]) == ("write", "{")
    assert [call["name"] for call in pending(api, "openai", until=turn["turn_id"])] == ["read"]


def test_since_tells_all_that_is_pending(api: Api) -> None:
    two_calls(api)
    api.post(user("and now?"))
    answer = api.replay("openai", since=3)
    assert (len(answer["request"]["messages"]), len(answer["pending"])) == (1, 1)
    assert answer["since"]["unchanged"]


def test_a_call_of_a_broken_stream_says_that_it_broke_off(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="s1")
    whole, broken = pending(api, "anthropic")
    assert whole["parameters"] == {"city": "Bonn"}
    assert broken["arguments"] == '{"zo'
    assert "broke off" in broken["placeholder"]


def test_what_is_no_unicode_text_is_mended_here_too(lite: Api) -> None:
    lite.post(calling(("a", "read", '{"p": "\\ud800"}')))
    [waiting] = pending(lite, "openai")
    assert waiting["parameters"] == {"p": "\ufffd"}
