"""An agent's loop over every provider, plain and streamed, that never needs a second request.

Post the user's message, replay, call, post the response, post the results. The model is played by
recordings in the provider's own shape; what the tools are given, and the names for their results,
come from the receipt alone. Every request that is replayed is judged before it is "sent".
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.formats.registry import CODECS
from app.main import create_app
from app.settings import Settings
from tests.judges import JUDGES, calls_and_results, complaints
from tests.streams.recordings import CLEAN, Recording

PROVIDERS = [name for name in JUDGES if CODECS[name].replies]


@pytest.fixture
def http(database_url: str) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(database_url=database_url))) as client:
        yield client


@pytest.fixture
def lite(sqlite_database_url: str) -> Iterator[TestClient]:
    """For what depends on the provider; the loops through all of them run on both databases."""
    with TestClient(create_app(Settings(database_url=sqlite_database_url))) as client:
        yield client


def recordings(provider: str) -> list[Recording]:
    return [one for one in CLEAN if one.provider == provider and one.whole]


class Agent:
    """A runtime that knows the shapes of its provider, and of the history what it is told."""

    def __init__(self, http: TestClient, cid: str) -> None:
        self._http = http
        self._path = f"/v1/conversations/{cid}"
        self.given: list[Any] = []

    def says(self, provider: str, words: str) -> None:
        self._append(provider, messages=[_question(provider, words)])

    def sends(self, provider: str) -> Any:
        """The request that the provider would get."""
        answer = self._http.get(f"{self._path}/replay", params={"provider": provider})
        assert answer.status_code == 200, answer.text
        assert _faults(provider, answer.content) == [], self._path
        return answer.json()["request"]

    def hears(self, provider: str, one: Recording, *, streamed: bool) -> list[Any]:
        """The calls of the response, as the receipt tells them."""
        if not streamed:
            return self._calls(self._append(provider, response=one.finished))
        answer = self._http.post(
            f"{self._path}/turns/stream",
            params={"provider": provider},
            content=iter([one.stream]),
            headers={"content-type": "text/event-stream"},
        )
        assert answer.status_code == 201, (one.label, answer.text)
        return self._calls(answer.json())

    def answers(self, provider: str, calls: list[Any]) -> None:
        for call in calls:
            assert ("parameters" in call) != ("arguments" in call), call
            self.given.append((call["name"], call.get("parameters")))
        receipt = self._append(provider, messages=_results(provider, calls))
        found = [one["call_id"] for turn in receipt["turns"] for one in turn["tool_results"]]
        assert found == [call["id"] for call in calls]

    def _append(self, provider: str, **members: Any) -> Any:
        answer = self._http.post(f"{self._path}/turns", json={"provider": provider, **members})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def _calls(self, receipt: Any) -> list[Any]:
        return [call for turn in receipt["turns"] for call in turn["tool_calls"]]


@cache
def _faults(provider: str, replayed: bytes) -> list[Any]:
    """Complaints, and calls without results; every database replays the same bytes."""
    request = json.loads(replayed)["request"]
    pairs = calls_and_results(provider, request)
    return [*complaints(provider, request), *(call for call, *_, said in pairs if said is None)]


def _question(provider: str, words: str) -> Any:
    match provider:
        case "gemini":
            return {"role": "user", "parts": [{"text": words}]}
        case "bedrock":
            return {"role": "user", "content": [{"text": words}]}
        case _:
            return {"role": "user", "content": words}


def _results(provider: str, calls: list[Any]) -> list[Any]:
    """The results of all calls, as the provider's SDK would have them sent."""
    said = [f"result {place}" for place, _ in enumerate(calls)]
    pairs = list(zip(calls, said, strict=True))
    match provider:
        case "anthropic":
            blocks: list[Any] = [
                {"type": "tool_result", "tool_use_id": call["raw_id"], "content": text}
                for call, text in pairs
            ]
            return [{"role": "user", "content": blocks}]
        case "bedrock":
            blocks = [
                {"toolResult": {"toolUseId": call["raw_id"], "content": [{"text": text}]}}
                for call, text in pairs
            ]
            return [{"role": "user", "content": blocks}]
        case "gemini":
            blocks = [
                {"functionResponse": _named(call) | {"response": {"result": text}}}
                for call, text in pairs
            ]
            return [{"role": "user", "parts": blocks}]
        case "openai-responses":
            return [
                {"type": "function_call_output", "call_id": call["raw_id"], "output": text}
                for call, text in pairs
            ]
        case _:
            return [_tool_message(call) | {"content": text} for call, text in pairs]


def _named(call: Any) -> Any:
    return {"name": call["name"]} | ({"id": call["raw_id"]} if call["raw_id"] else {})


def _tool_message(call: Any) -> Any:
    if call["raw_id"] is None:
        # The function call of old has no id.
        return {"role": "function", "name": call["name"]}
    return {"role": "tool", "tool_call_id": call["raw_id"]}


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_loop_runs_on_what_one_answer_tells(
    lite: TestClient, provider: str, streamed: bool
) -> None:
    agent = Agent(lite, "c")
    for one in recordings(provider):
        agent.says(provider, f"Now {one.name}.")
        agent.sends(provider)
        if calls := agent.hears(provider, one, streamed=streamed):
            agent.answers(provider, calls)
            agent.sends(provider)
    assert len(agent.given) >= 3
    assert lite.get("/v1/conversations/c/verify").json()["ok"]


def test_plain_and_streamed_give_the_tools_the_same(http: TestClient) -> None:
    for provider in PROVIDERS:
        plain, streamed = Agent(http, f"{provider}-plain"), Agent(http, f"{provider}-streamed")
        for agent in (plain, streamed):
            for one in recordings(provider):
                if calls := agent.hears(provider, one, streamed=agent is streamed):
                    agent.answers(provider, calls)
        assert plain.given == streamed.given, provider


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
def test_one_conversation_moves_through_all_providers(http: TestClient, streamed: bool) -> None:
    """Each provider goes on with the calls of the one before it, and nothing else is asked."""
    agent = Agent(http, "c")
    before = PROVIDERS[-1]
    for provider in PROVIDERS:
        calling = [one for one in recordings(provider) if "call" in one.name]
        agent.says(provider, "Go on.")
        agent.sends(provider)
        for one in calling:
            if calls := agent.hears(provider, one, streamed=streamed):
                agent.answers(provider, calls)
                # Back to the one before, with calls that it never made.
                agent.sends(before)
        before = provider
    assert http.get("/v1/conversations/c/verify").json()["ok"]
