"""The receipt of an append: a loop can run the tools from it, whoever made the calls."""

from typing import Any

import pytest

from tests.http_api import Api, answering, calling, user
from tests.turns.test_streams import CUT, RESPONSE, WHOLE, stream

TURNS = "/v1/conversations/c1/turns"
GEMINI = {
    "role": "model",
    "parts": [{"text": "One moment."}, {"functionCall": {"name": "read", "args": {"path": "a"}}}],
}


def posted(api: Api, body: Any, headers: Any = None, **query: Any) -> Any:
    done = api.http.post(TURNS, json=body, params=query, headers=headers)
    assert done.status_code in (200, 201), done.text
    return done


def the_call(receipt: Any) -> Any:
    [turn] = receipt["turns"]
    [call] = turn["tool_calls"]
    return call


def test_a_call_comes_with_its_parameters_whoever_made_it(api: Api) -> None:
    chat = {"provider": "kimi", "messages": [calling(("functions.read:0", "read", '{"path":"a"}'))]}
    gemini = {"provider": "gemini", "contents": [GEMINI]}
    for body in (chat, gemini):
        call = the_call(posted(api, body).json())
        assert (call["name"], call["parameters"]) == ("read", {"path": "a"})
        assert "arguments" not in call


@pytest.mark.parametrize("arguments", ['{"path": "a', "", "ls -l", "[" * 100 + "]" * 100])
def test_arguments_that_are_no_json_come_as_their_text(api: Api, arguments: str) -> None:
    call = the_call(api.post(calling(("x", "f", arguments))).json())
    assert call["arguments"] == arguments
    assert "parameters" not in call


def test_numbers_in_parameters_are_those_that_came(api: Api) -> None:
    receipt = api.post(calling(("x", "f", '{"n": 1.10, "big": 12345678901234567890}')))
    assert b'"parameters":{"n":1.10,"big":12345678901234567890}' in receipt.content


def test_the_text_of_each_turn_comes_when_it_is_asked_for(api: Api) -> None:
    body = {"provider": "openai", "messages": [user("a"), calling(("x", "f", "{}"))]}
    assert "text" not in posted(api, body).json()["turns"][0]
    two = {"role": "user", "content": [{"type": "text", "text": t} for t in ("b", "c")]}
    body["messages"] = [two, calling(("x", "f", "{}"))]
    turns = posted(api, body, **{"return": "turns"}).json()["turns"]
    assert [turn["text"] for turn in turns] == ["b\nc", ""]


def test_a_stream_gives_the_receipt_of_its_response(api: Api) -> None:
    streamed = stream(api, WHOLE, **{"return": "turns"}).json()["turns"][0]
    body = {"provider": "anthropic", "response": RESPONSE}
    answered = posted(api, body, **{"return": "turns"}).json()["turns"][0]
    assert streamed["text"] == answered["text"] == "Let me look – über."
    given = [call["parameters"] for call in streamed["tool_calls"]]
    assert given == [call["parameters"] for call in answered["tool_calls"]]
    assert given == [{"city": "Bonn"}, {"zone": "CET"}]


def test_a_broken_stream_gives_its_arguments_as_far_as_they_came(api: Api) -> None:
    turn = stream(api, WHOLE[:CUT], turn_id="s1", **{"return": "turns"}).json()["turns"][0]
    assert [sorted(call.keys() & {"parameters", "arguments"}) for call in turn["tool_calls"]] == [
        ["parameters"],
        ["arguments"],
    ]
    whole = stream(api, WHOLE, turn_id="s1", **{"return": "turns"}).json()["turns"][0]
    assert whole["tool_calls"][1]["parameters"] == {"zone": "CET"}
    assert whole["text"] == "Let me look – über."


@pytest.mark.parametrize("wanted", ["", "turn", "blocks"])
def test_any_other_return_is_refused(lite: Api, wanted: str) -> None:
    body = {"provider": "openai", "messages": [user("a")]}
    refused = lite.http.post(TURNS, json=body, params={"return": wanted})
    assert (refused.status_code, refused.json()["pointer"]) == (422, "?return")
    assert stream(lite, WHOLE, **{"return": wanted}).status_code == 422
    assert lite.get("").status_code == 404


def test_a_retry_gets_the_same_receipt(api: Api) -> None:
    message = calling(("x", "f", '{"a": 1}'))
    message["content"] = "So."
    body = {"provider": "openai", "turn_id": "t1", "messages": [message]}
    first = posted(api, body, **{"return": "turns"})
    again = posted(api, body, **{"return": "turns"})
    assert (again.status_code, again.content) == (200, first.content)


def test_a_key_gives_the_first_receipt_to_the_byte_whatever_is_asked_then(api: Api) -> None:
    body = {"provider": "openai", "messages": [calling(("x", "f", '{"a": 1}'))]}
    key = {"Idempotency-Key": "k"}
    first = posted(api, body, key, **{"return": "turns"})
    assert posted(api, body, key).content == first.content


def test_results_are_told_as_before(api: Api) -> None:
    api.post(calling(("x", "f", "{}")))
    [turn] = api.post(answering("x", "done")).json()["turns"]
    assert turn["tool_results"][0]["matched_by"] == "raw"
