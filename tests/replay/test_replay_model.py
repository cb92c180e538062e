"""A replay that names no model is for the model of the newest turn of the target's own provider."""

from typing import Any

import pytest

from app.formats.registry import TARGETS
from tests.http_api import Api, user

BOUND = ("anthropic", "bedrock", "gemini", "openai-responses", "openrouter", "vercel", "vercel-v4")


def thinks(thought: str, words: str = "so") -> dict[str, Any]:
    signed = {"type": "thinking", "thinking": thought, "signature": f"SIG-{thought}"}
    return {"role": "assistant", "content": [signed, {"type": "text", "text": words}]}


def says(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": words}


def claude(api: Api, model: str, *messages: dict[str, Any], **more: Any) -> Any:
    return api.post(*messages, provider="anthropic", model=model, **more)


def changes(replay: dict[str, Any]) -> list[str]:
    """The turns at which a replay says that the model changed."""
    return [one["turn_id"] for one in replay["repairs"] if one["code"] == "MODEL_CHANGED"]


def text(api: Api, **options: str) -> str:
    return str(api.get("replay", provider="anthropic", **options).text)


def test_the_model_of_the_newest_own_turn_is_assumed_and_named(api: Api) -> None:
    claude(api, "claude-a", user("one"), thinks("first"))
    assert api.replay("anthropic")["model"] == "claude-a"
    claude(api, "claude-b", user("two"), thinks("second"), turn_ids=["u2", "b2"])
    replay = api.replay("anthropic")
    assert (replay["model"], changes(replay)) == ("claude-b", ["b2"])
    assert "SIG-second" in text(api)
    assert "SIG-first" not in text(api)
    dropped = [one for one in replay["repairs"] if one["code"] == "THINKING_DROPPED"]
    assert len(dropped) == 1


def test_a_replay_that_names_the_assumed_model_is_the_same(api: Api) -> None:
    claude(api, "claude-a", user("one"), thinks("first"))
    claude(api, "claude-b", user("two"), thinks("second"))
    assert text(api) == text(api, model="claude-b")
    named = api.replay("anthropic", model="claude-a")
    assert (named["model"], changes(named)) == ("claude-a", [])
    assert "SIG-first" in text(api, model="claude-a")


def test_turns_of_other_providers_and_without_a_model_do_not_count(api: Api) -> None:
    claude(api, "claude-a", user("one"), thinks("first"))
    api.post(user("two"), says("by gpt"), provider="openai", model="gpt-5")
    api.post(user("three"), says("by someone"), provider="anthropic")
    claude(api, "claude-b", user("no answer yet"))
    assert api.replay("anthropic")["model"] == "claude-a"
    assert "SIG-first" in text(api)
    assert "model" not in api.replay("bedrock")
    assert api.replay("openai-responses")["model"] == "gpt-5"


@pytest.mark.parametrize("target", TARGETS)
def test_a_model_is_assumed_where_reasoning_is_bound_to_one(lite: Api, target: str) -> None:
    api = lite
    block = {"type": "text", "text": "so"}
    turn = {"speaker": "ai", "provider": target, "model": "m-1", "blocks": [block]}
    api.post(turn, provider="neutral")
    assert api.replay(target).get("model") == ("m-1" if target in BOUND else None)
    assert api.replay(target, model="m-2")["model"] == "m-2"


def test_windows_and_until_have_the_model_of_their_day(api: Api) -> None:
    claude(api, "claude-a", user("one"), thinks("first"), turn_ids=["u1", "a1"])
    claude(api, "claude-b", user("two"), thinks("second"), turn_ids=["u2", "b2"])
    api.post(user("three"), turn_ids=["u3"])
    assert api.replay("anthropic", until="u2")["model"] == "claude-a"
    assert "SIG-first" in text(api, until="u2")
    assert api.replay("anthropic", last=1)["model"] == "claude-b"
    assert changes(api.replay("anthropic", last=2)) == []
    assert api.replay("anthropic", last=1, until="u2")["model"] == "claude-a"
    assert api.replay("anthropic", max_tokens=1)["model"] == "claude-b"


def test_another_model_without_reasoning_before_it_changes_nothing(api: Api) -> None:
    claude(api, "claude-a", user("one"), says("plain"))
    before = api.replay("anthropic")
    claude(api, "claude-b", user("two"), thinks("second"))
    after = api.replay("anthropic", since=before["version"])
    assert (after["model"], changes(after)) == ("claude-b", [])
    assert after["since"] == {"version": 2, "prefix": before["prefix"], "unchanged": True}


def test_since_says_that_the_prefix_changed_with_the_model(api: Api) -> None:
    claude(api, "claude-a", user("one"), thinks("first"))
    before = api.replay("anthropic")
    claude(api, "claude-b", user("two"), says("second"), turn_ids=["u2", "b2"])
    after = api.replay("anthropic", since=before["version"])
    assert after["since"] == {"version": 2, "prefix": before["prefix"], "unchanged": False}
    assert after["request"] == api.replay("anthropic")["request"]
    assert changes(after) == ["b2"]


def test_the_reasoning_of_a_model_that_comes_back_is_shown_again(api: Api) -> None:
    claude(api, "claude-a", user("one"), thinks("first"))
    claude(api, "claude-b", user("two"), says("second"))
    before = api.replay("anthropic")
    claude(api, "claude-a", user("three"), says("third"), turn_ids=["u3", "a3"])
    after = api.replay("anthropic", since=before["version"])
    assert "SIG-first" in text(api)
    assert (after["since"]["unchanged"], changes(after)) == (False, ["a3"])
    assert after["since"]["prefix"] == before["prefix"]


def test_a_tag_is_another_one_when_the_model_changed(api: Api) -> None:
    claude(api, "claude-a", user("one"), thinks("first"))
    tag = api.get("replay", provider="anthropic").headers["etag"]
    claude(api, "claude-b", user("two"), thinks("second"))
    again = api.get("replay", provider="anthropic", headers={"If-None-Match": tag})
    assert (again.status_code, again.json()["model"]) == (200, "claude-b")


def test_a_completion_may_bring_another_model(api: Api) -> None:
    claude(api, "claude-a", user("one"), thinks("first"))
    partial = {"speaker": "ai", "provider": "anthropic", "status": "interrupted", "turn_id": "b2"}
    block = {"type": "text", "text": "so"}
    api.post(partial | {"blocks": [block]}, provider="neutral")
    before = api.replay("anthropic")
    assert before["model"] == "claude-a"
    whole = {"speaker": "ai", "provider": "anthropic", "model": "claude-b", "turn_id": "b2"}
    api.post(whole | {"blocks": [block]}, provider="neutral")
    after = api.replay("anthropic")
    assert (after["model"], changes(after)) == ("claude-b", ["b2"])
    api.post(user("more"))
    then = api.replay("anthropic", since=before["version"])
    assert (then["since"]["prefix"], then["since"]["unchanged"]) == (before["prefix"], False)


def test_gemini_s_signatures_change_with_its_model(api: Api) -> None:
    call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    api.post({"role": "assistant", "content": "", "tool_calls": [call]}, provider="openai")
    answer = {"role": "model", "parts": [{"text": "so"}]}
    api.post(answer, provider="gemini", model="gemini-2.5-pro", turn_ids=["g2"])
    two = api.replay("gemini")
    assert "SIGNATURE_PLACEHOLDER" not in {one["code"] for one in two["repairs"]}
    assert changes(two) == ["g2"]
    api.post(answer, provider="gemini", model="gemini-3-pro", turn_ids=["g3"])
    three = api.replay("gemini", since=two["version"])
    assert "SIGNATURE_PLACEHOLDER" in {one["code"] for one in three["repairs"]}
    assert (changes(three), three["since"]["unchanged"]) == (["g3"], False)


def test_a_conversion_assumes_a_model_as_well(lite: Api) -> None:
    block = {"type": "thinking", "text": "hm", "wire": "anthropic"}

    def turn(model: str) -> dict[str, Any]:
        native = {"type": "thinking", "thinking": model, "signature": "s"}
        words = {"type": "text", "text": "so"}
        blocks = [block | {"native": native}, words]
        return {"speaker": "ai", "provider": "anthropic", "model": model, "blocks": blocks}

    body = {"from": "neutral", "to": "anthropic", "messages": [turn("claude-a"), turn("claude-b")]}
    done = lite.http.post("/v1/convert/messages", json=body).json()
    assert done["model"] == "claude-b"
    assert "MODEL_CHANGED" in {one["code"] for one in done["repairs"]}
    del body["to"]
    done = lite.http.post("/v1/convert/messages", json=body | {"to": "openai"}).json()
    assert "model" not in done
