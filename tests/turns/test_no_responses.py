"""What is posted as `response` and is none of this provider: told by what it is."""

import json
from typing import Any

import pytest

from app.formats.registry import CODECS
from tests.every import every
from tests.formats.test_provider_errors import ERRORS
from tests.http_api import Api, calling, user
from tests.streams.recordings import CLEAN, Recording

REPLYING = [name for name, codec in CODECS.items() if codec.replies]
FIRST = {one.provider: one for one in reversed(CLEAN)}


def shape(provider: str) -> object:
    """What the responses of a provider are known by; those who speak like OpenAI share it."""
    replies = CODECS[provider].replies
    return replies and replies.is_one


def respond(api: Api, provider: str, response: Any, **members: Any) -> Any:
    body = {"provider": provider, "response": response, **members}
    return api.http.post("/v1/conversations/c1/turns", json=body)


@pytest.mark.parametrize("provider", REPLYING)
@every("name", ERRORS)
def test_an_error_instead_of_a_response_is_told_by_its_type(
    lite: Api, provider: str, name: str
) -> None:
    error, kind = ERRORS[name]
    answer = respond(lite, provider, error)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "error_response"), answer.text
    assert (problem.get("error_type", ""), problem["pointer"]) == (kind, "/response")
    assert "error response" in problem["detail"]
    assert "nothing to store" in problem["detail"]
    assert "No." not in answer.text
    assert "SECRET" not in answer.text
    assert lite.get("").status_code == 404


@pytest.mark.parametrize("one", FIRST.values(), ids=FIRST)
def test_a_response_under_another_name_is_told_whose_it_is(lite: Api, one: Recording) -> None:
    for other in REPLYING:
        if shape(other) is shape(one.provider):
            continue
        answer = respond(lite, other, one.finished)
        problem = answer.json()
        assert (answer.status_code, problem["pointer"]) == (422, "/response"), other
        assert one.provider in problem["looks_like"]
        assert other not in problem["looks_like"]
        assert f"`response` must be a response of '{other}'" in problem["detail"]
    assert lite.get("").status_code == 404


@pytest.mark.parametrize("provider", REPLYING)
def test_messages_as_a_response_are_sent_to_their_place(lite: Api, provider: str) -> None:
    for what in (user("hi"), calling(("a", "find", "{}")), [user("hi")]):
        answer = respond(lite, provider, what)
        assert (answer.status_code, answer.json()["pointer"]) == (422, "/response")
        assert "`messages`" in answer.json()["detail"]


def test_one_choice_is_neither_a_response_nor_a_message(lite: Api) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
    answer = respond(lite, "openai", choice)
    assert "not one choice of it" in answer.json()["detail"]
    among = lite.post(user("hi"), choice)
    assert (among.status_code, among.json()["pointer"]) == (422, "/messages/1")
    assert "post its `message`" in among.json()["detail"]


@pytest.mark.parametrize("odd", [[], [5], "{}", "hello", 5, True])
def test_a_response_that_is_no_object_is_told_its_type(lite: Api, odd: Any) -> None:
    answer = respond(lite, "openai", odd)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("`response` must be the object")


# A response of Anthropic is a message.
NO_MESSAGES = [one for name, one in FIRST.items() if name != "anthropic"]


@pytest.mark.parametrize("one", NO_MESSAGES, ids=lambda one: one.provider)
def test_a_response_among_the_messages_is_sent_to_its_place(lite: Api, one: Recording) -> None:
    for provider in {one.provider, "openai", "openai-responses", "anthropic"}:
        key = CODECS[provider].messages
        asked: Any = user("hi")
        if provider in ("gemini", "bedrock"):
            holder = "parts" if provider == "gemini" else "content"
            asked = {"role": "user", holder: [{"text": "hi"}]}
        body = {"provider": provider, key: [asked, one.finished]}
        answer = lite.http.post("/v1/conversations/c1/turns", json=body)
        problem = answer.json()
        assert (answer.status_code, problem["pointer"]) == (422, f"/{key}/1"), answer.text
        assert one.provider in problem["looks_like"]
        assert "post it as `response`" in problem["detail"]


def test_an_error_among_the_messages_is_told_by_its_type(lite: Api) -> None:
    error, kind = ERRORS["openai"]
    body = {"provider": "openai", "messages": [user("hi"), error]}
    answer = lite.http.post("/v1/conversations/c1/turns", json=body)
    problem = answer.json()
    assert (problem["code"], problem["pointer"]) == ("error_response", "/messages/1")
    assert problem["error_type"] == kind


def test_a_response_that_lacks_something_is_still_told_what_it_lacks(lite: Api) -> None:
    response = json.loads(json.dumps(FIRST["openai"].finished))
    del response["choices"][0]["message"]
    answer = respond(lite, "openai", response)
    assert answer.json()["pointer"] == "/response/choices/0/message"
