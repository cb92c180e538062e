"""Definitions kept with a conversation: by version, for every target, beside every replay."""

from typing import Any

import pytest

from app.formats.registry import TARGETS
from tests import judges
from tests.http_api import answering, calling, user
from tests.tools.conftest import ToolApi
from tests.tools.shapes import (
    RICH,
    SHAPES,
    Said,
    choice_of,
    chosen,
    faults,
    property_paths,
    read,
    written,
)

READ = Said("read", "Reads a file.", RICH)
WRITE = Said("write", "Writes a file.", {"type": "object", "properties": {"p": {}}})


def tell_a_story(api: ToolApi) -> None:
    api.post(user("look"), calling(("a", "read", '{"path": "x"}'), ("b", "write", "{}")))
    api.post(answering("b", "two"), answering("a", "one"))
    api.post({"role": "assistant", "content": "done"}, user("thanks"))


def names(target: str, request: dict[str, Any]) -> list[str]:
    return [one.name for one in read(target, request)]


def offered(api: ToolApi, **params: Any) -> list[str]:
    return names("openai", api.request("openai", **params))


def judged(target: str, request: dict[str, Any]) -> list[str]:
    return [] if target == "neutral" else judges.history_complaints(target, request)


@pytest.mark.parametrize("source", SHAPES)
def test_what_is_put_is_got_for_every_target(lite: ToolApi, source: str) -> None:
    choice = chosen(source, "named", "read")
    kept = lite.put(source, written(source, READ, WRITE), tool_choice=choice)
    assert (kept.status_code, kept.json()["tools"], kept.json()["dropped"]) == (200, 2, [])
    for target in TARGETS:
        request = lite.get("tools", provider=target).json()["request"]
        shown = read(target, request)
        assert [one[:2] for one in shown] == [READ[:2], WRITE[:2]]
        assert property_paths(shown[0].schema) == property_paths(RICH)
        assert choice_of(target, request) == chosen(target, "named", "read")
        assert faults(target, request) == []


def test_a_put_says_what_it_kept(api: ToolApi) -> None:
    kept = api.put("anthropic", written("anthropic", READ)).json()
    assert kept == {
        "conversation_id": "c1",
        "version": 0,
        "number": 1,
        "tools": 1,
        "dropped": [],
        "notes": [],
    }
    assert api.put("anthropic", written("anthropic", READ)).json()["number"] == 1
    assert api.put("anthropic", written("anthropic", WRITE)).json()["number"] == 2


def test_a_put_without_tools_is_refused_and_takes_nothing_away(lite: ToolApi) -> None:
    lite.put("anthropic", written("anthropic", READ))
    refused = lite.send("PUT", "conversations/c1/tools", {"provider": "anthropic"})
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/tools")
    lite.post(user("hi"))
    assert offered(lite) == ["read"]


def test_the_format_alone_says_how_to_read_the_tools(lite: ToolApi) -> None:
    body = {"format": "anthropic", "tools": written("anthropic", READ)}
    answer = lite.http.put("/v1/conversations/c1/tools", json=body)
    assert (answer.status_code, answer.json().get("tools")) == (200, 1)


def test_another_provider_may_speak_a_known_format(lite: ToolApi) -> None:
    kept = lite.put("my-gateway", written("anthropic", READ), format="anthropic")
    assert kept.json()["tools"] == 1


def test_the_filter_depends_on_where_the_definition_came_from(lite: ToolApi) -> None:
    for source, filtered in (("anthropic", True), ("openai", False)):
        lite.put(source, written(source, READ))
        request = lite.get("tools", provider="openai").json()["request"]
        assert (read("openai", request)[0].schema != RICH) is filtered
        kept = lite.get("tools", provider="openai", required="keep").json()["request"]
        assert read("openai", kept)[0].schema == RICH


def test_tools_of_an_unknown_conversation_or_for_an_unknown_target(lite: ToolApi) -> None:
    assert lite.get("tools", provider="openai").status_code == 404
    lite.post(user("hi"))
    assert lite.get("tools", provider="openai").json()["request"] == {}
    assert lite.get("tools", provider="eliza").status_code == 422
    assert lite.get("tools").status_code == 422


@pytest.fixture(scope="module")
def story(shared: ToolApi) -> ToolApi:
    """Two calls with their results, two tools, and the wish that one of them is called."""
    tell_a_story(shared)
    shared.put("anthropic", written("anthropic", READ, WRITE), tool_choice={"type": "any"})
    return shared


@pytest.mark.parametrize("target", TARGETS)
def test_a_replay_offers_the_tools_and_the_choice(story: ToolApi, target: str) -> None:
    request = story.request(target)
    assert names(target, request) == ["read", "write"]
    assert choice_of(target, request) == chosen(target, "any")
    assert judged(target, request) == []


@pytest.mark.parametrize("target", TARGETS)
def test_omit_leaves_the_definitions_out(story: ToolApi, target: str) -> None:
    answer = story.replay(target, tools="omit")
    stubbed = "TOOLS_STUBBED" in [repair["code"] for repair in answer["repairs"]]
    assert stubbed is (target == "bedrock")
    assert names(target, answer["request"]) == (["read", "write"] if stubbed else [])
    assert choice_of(target, answer["request"]) is None
    assert judged(target, answer["request"]) == []


@pytest.mark.parametrize("target", judges.TARGETS)
def test_flatten_leaves_no_tool_block(story: ToolApi, target: str) -> None:
    answer = story.replay(target, tools="flatten")
    codes = [repair["code"] for repair in answer["repairs"]]
    assert codes.count("FLATTENED_TO_TEXT") == 2
    assert names(target, answer["request"]) == []
    assert judges.calls_and_results(target, answer["request"]) == []
    assert judged(target, answer["request"]) == []
    shown = "\n".join(judges.texts(target, answer["request"]))
    places = [shown.index(word) for word in ("look", '"path"', "one", "two", "done", "thanks")]
    assert places == sorted(places)


def test_turns_as_they_are_stored_cannot_be_flattened(story: ToolApi) -> None:
    answer = story.get("replay", provider="neutral", tools="flatten")
    assert (answer.status_code, answer.json()["pointer"]) == (422, "?tools")


def test_flatten_says_that_a_result_is_missing(lite: ToolApi) -> None:
    lite.post(user("look"), calling(("a", "read", "{}")), user("well?"))
    answer = lite.replay("anthropic", tools="flatten")
    assert judged("anthropic", answer["request"]) == []
    assert "read" in "\n".join(judges.texts("anthropic", answer["request"]))
    (call,) = lite.get("tool-calls").json()["data"]
    assert reported(answer, "SYNTH_RESULT") == [(call["id"], "no result is recorded")]


STATES = {
    "denied": ("SYNTH_RESULT", "the state denied is put in words"),
    "interrupted": ("SYNTH_RESULT", "the state interrupted is put in words"),
    "unknown": ("SYNTH_RESULT", "the state unknown is put in words"),
    "ok": ("EMPTY_RESULT_PLACEHOLDER", "the result is empty"),
}


@pytest.mark.parametrize("status", STATES)
def test_flatten_names_what_is_put_in_words_of_ours(lite: ToolApi, status: str) -> None:
    lite.post(user("look"), calling(("a", "read", "{}")))
    result = {"type": "tool_result", "call_id": "a", "status": status}
    lite.post({"speaker": "tool", "blocks": [result]}, provider="neutral")
    code, detail = STATES[status]
    flat, usual = (lite.replay("anthropic", tools=tools) for tools in ("flatten", "include"))
    (call,) = lite.get("tool-calls").json()["data"]
    assert reported(flat, code) == [(call["id"], detail)] == reported(usual, code)


def reported(answer: Any, code: str) -> list[tuple[str, str]]:
    found = (repair for repair in answer["repairs"] if repair["code"] == code)
    return [(repair["call_id"], repair["detail"]) for repair in found]


def test_flatten_of_a_result_that_says_something_names_nothing_of_ours(lite: ToolApi) -> None:
    lite.post(user("look"), calling(("a", "read", "{}")), answering("a", "sunny"))
    codes = {repair["code"] for repair in lite.replay("anthropic", tools="flatten")["repairs"]}
    assert codes == {"FLATTENED_TO_TEXT"}


def test_a_replay_until_an_older_turn_shows_the_tools_of_that_time(api: ToolApi) -> None:
    api.put("anthropic", written("anthropic", READ))
    first = api.post(user("one")).json()["turns"][0]["turn_id"]
    second = api.post({"role": "assistant", "content": "two"}).json()["turns"][0]["turn_id"]
    api.put("anthropic", written("anthropic", WRITE))
    third = api.post(user("three")).json()["turns"][0]["turn_id"]
    assert offered(api, until=first) == ["read"]
    assert offered(api, until=third) == offered(api) == ["write"]
    # What was put after the second turn is what would have been sent with it.
    assert offered(api, until=second) == ["write"]


def test_tools_that_were_taken_away_stay_with_the_older_turns(lite: ToolApi) -> None:
    lite.put("anthropic", written("anthropic", READ))
    first = lite.post(user("one")).json()["turns"][0]["turn_id"]
    lite.post({"role": "assistant", "content": "two"})
    lite.put("anthropic", [])
    assert offered(lite) == []
    assert offered(lite, until=first) == ["read"]


def test_tools_that_come_with_a_turn_do_not_reach_back(api: ToolApi) -> None:
    first = api.post(user("one"), tools=written("openai", READ)).json()["turns"][0]["turn_id"]
    api.post({"role": "assistant", "content": "two"}, tools=written("openai", WRITE))
    assert offered(api, until=first) == ["read"]
    assert offered(api) == ["write"]


RIDING: dict[str, dict[str, Any]] = {
    "openai": {
        "messages": [{"role": "user", "content": "hi"}],
        "tools": written("openai", READ),
        "tool_choice": "required",
        "parallel_tool_calls": False,
    },
    "openai-responses": {
        "input": [{"role": "user", "content": "hi"}],
        "tools": written("openai-responses", READ),
        "tool_choice": "required",
    },
    "anthropic": {
        "messages": [{"role": "user", "content": "hi"}],
        "tools": written("anthropic", READ),
        "tool_choice": {"type": "any"},
    },
    "bedrock": {
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "toolConfig": {"tools": written("bedrock", READ), "toolChoice": {"any": {}}},
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": written("gemini", READ),
        "tool_config": {"function_calling_config": {"mode": "ANY"}},
    },
    "vercel": {
        "messages": [{"role": "user", "content": "hi"}],
        "tools": written("vercel", READ),
        "toolChoice": "required",
    },
}


@pytest.mark.parametrize("source", list(RIDING))
def test_tools_that_ride_along_with_turns_are_kept(lite: ToolApi, source: str) -> None:
    answer = lite.http.post(
        "/v1/conversations/c1/turns", json={"provider": source, **RIDING[source]}
    )
    assert answer.status_code == 201, answer.text
    for target in TARGETS:
        request = lite.request(target)
        assert names(target, request) == ["read"]
        assert choice_of(target, request) == chosen(target, "any")


def test_the_tool_config_of_gemini_in_camel_case_rides_along_too(lite: ToolApi) -> None:
    body = {key: value for key, value in RIDING["gemini"].items() if key != "tool_config"}
    body |= {"provider": "gemini", "toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}
    assert lite.http.post("/v1/conversations/c1/turns", json=body).status_code == 201
    request = lite.request("openai")
    assert (names("openai", request), request.get("tool_choice")) == (["read"], "required")


def test_turns_without_tools_leave_the_kept_ones_alone(lite: ToolApi) -> None:
    lite.post(user("one"), tools=written("openai", READ))
    lite.post(user("two"))
    assert offered(lite) == ["read"]


def test_a_retried_post_keeps_its_tools_once(lite: ToolApi) -> None:
    for _ in range(2):
        lite.post(user("one"), tools=written("openai", READ), headers={"Idempotency-Key": "k"})
    assert lite.put("openai", written("openai", READ)).json()["number"] == 1


def test_a_retried_turn_does_not_bring_old_tools_back(lite: ToolApi) -> None:
    lite.post(user("one"), turn_id="t1", tools=written("openai", READ))
    lite.put("openai", written("openai", WRITE))
    again = lite.post(user("one"), turn_id="t1", tools=written("openai", READ))
    assert again.status_code == 200
    assert offered(lite) == ["write"]


def test_a_refused_post_keeps_no_tools(lite: ToolApi) -> None:
    lite.post(user("one"), turn_id="t1")
    for headers, turn_id in (({}, "t1"), ({"If-Match": '"7"'}, "t2")):
        refused = lite.post(
            user("two"), turn_id=turn_id, tools=written("openai", READ), headers=headers
        )
        assert refused.status_code in (409, 412)
    assert offered(lite) == []


def test_bedrock_gets_stubs_when_nothing_is_stored(lite: ToolApi) -> None:
    tell_a_story(lite)
    answer = lite.replay("bedrock")
    assert names("bedrock", answer["request"]) == ["read", "write"]
    assert [repair["code"] for repair in answer["repairs"]].count("TOOLS_STUBBED") == 1
    assert judged("bedrock", answer["request"]) == []


def test_bedrock_gets_the_definitions_when_there_are_any(lite: ToolApi) -> None:
    tell_a_story(lite)
    lite.put("openai", written("openai", READ, WRITE))
    answer = lite.replay("bedrock")
    assert [one.description for one in read("bedrock", answer["request"])] == [
        READ.description,
        WRITE.description,
    ]
    assert "TOOLS_STUBBED" not in [repair["code"] for repair in answer["repairs"]]


@pytest.mark.parametrize("mode", ["include", "omit"])
@pytest.mark.parametrize("last", [1, 2, 4, 6])
def test_bedrock_has_a_tool_config_whenever_it_has_tool_blocks(
    lite: ToolApi, mode: str, last: int
) -> None:
    tell_a_story(lite)
    lite.put("anthropic", [{"name": "bad", "input_schema": {"type": "string"}}])
    request = lite.request("bedrock", tools=mode, last=last)
    assert judged("bedrock", request) == []
    assert ("toolConfig" in request) is ("toolUse" in str(request["messages"]))


def test_what_a_target_cannot_use_is_in_the_repairs(lite: ToolApi) -> None:
    lite.post(user("hi"))
    lite.put("anthropic", [{"type": "bash_20250124", "name": "bash"}, *written("anthropic", READ)])
    codes = [repair["code"] for repair in lite.replay("openai")["repairs"]]
    assert codes == ["REQUIRED_FILTERED", "TOOL_DROPPED"]
    assert len(lite.request("anthropic")["tools"]) == 2


def test_the_tag_of_a_replay_changes_with_the_tools(api: ToolApi) -> None:
    api.post(user("hi"))
    tags = [api.get("replay", provider="openai").headers["etag"]]
    changes: list[tuple[Any, Any]] = [
        (written("anthropic", READ), None),
        (written("anthropic", WRITE), None),
        (written("anthropic", WRITE), {"type": "any"}),
    ]
    for tools, choice in changes:
        api.put("anthropic", tools, tool_choice=choice)
        tags.append(api.get("replay", provider="openai").headers["etag"])
    assert len(set(tags)) == 4
    api.put("anthropic", written("anthropic", WRITE), tool_choice={"type": "any"})
    same = api.get("replay", provider="openai", headers={"If-None-Match": tags[-1]})
    assert same.status_code == 304


def test_the_prefix_changes_with_the_tools(lite: ToolApi) -> None:
    lite.post(user("hi"))
    before = lite.replay("openai")["prefix"]
    lite.put("anthropic", written("anthropic", READ))
    assert lite.replay("openai")["prefix"] != before


def test_a_deleted_conversation_takes_its_tools_along(api: ToolApi) -> None:
    api.put("anthropic", written("anthropic", READ))
    api.http.delete("/v1/conversations/c1")
    api.post(user("hi"))
    assert offered(api) == []


def test_a_put_says_when_the_chosen_tool_is_not_there(lite: ToolApi) -> None:
    choice = {"type": "tool", "name": "absent"}
    kept = lite.put("anthropic", written("anthropic", READ), tool_choice=choice).json()
    assert [note["code"] for note in kept["notes"]] == ["CHOICE_CHANGED"]


def test_a_hosted_tool_that_was_chosen_comes_back_with_a_replay(lite: ToolApi) -> None:
    tools = [{"type": "mcp", "server_label": "s", "server_url": "https://x"}]
    choice = {"type": "mcp", "server_label": "s", "name": "look"}
    lite.post(user("hi"))
    lite.put("openai-responses", tools, tool_choice=choice)
    request = lite.request("openai-responses")
    assert (request["tools"], request["tool_choice"]) == (tools, choice)
