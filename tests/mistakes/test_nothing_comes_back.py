"""Whatever stands wherever in a request: what is long or no plain word does not come back."""

import copy
import json
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.mistakes.mistake import JSON, REPLAY, TURNS

SECRET = "tell nobody of the hedgehog "
LONG = SECRET * 500
# Names of members come back in pointers, as far as they are short.
NAME = "a name " * 1000
STRANGE: list[Any] = [LONG, [LONG], {"messages": [{"content": LONG}]}, {NAME: LONG}]
CALL = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/v1/conversations", {"id": "c2", "title": "x", "metadata": {}}),
    ("PATCH", "/v1/conversations/c1", {"title": "x", "metadata": {}}),
    (
        "POST",
        TURNS,
        {
            "provider": "openai",
            "format": "openai",
            "model": "x",
            "turn_ids": ["a", None, "b"],
            "metadata": {},
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "x"}]},
                {"role": "assistant", "content": "x", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "a", "content": "x"},
            ],
            "tools": [TOOL],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
        },
    ),
    (
        "POST",
        TURNS,
        {
            "provider": "neutral",
            "messages": [
                {"speaker": "human", "blocks": [{"type": "text", "text": "x"}]},
                {"speaker": "tool", "blocks": [{"type": "tool_result", "call_id": "a"}]},
            ],
        },
    ),
    (
        "POST",
        TURNS,
        {
            "provider": "anthropic",
            "response": {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
        },
    ),
    (
        "PUT",
        "/v1/conversations/c1/tools",
        {"provider": "openai", "tools": [TOOL], "tool_choice": "auto", "strict": True},
    ),
    (
        "POST",
        "/v1/convert/messages",
        {"from": "gemini", "to": "kimi", "messages": [{"role": "user", "parts": [{"text": "x"}]}]},
    ),
    ("POST", "/v1/convert/tools", {"from": "openai", "to": "kimi", "tools": [TOOL]}),
    ("POST", "/v1/convert/tool-id", {"id": "a", "to": "openai"}),
]


def places(value: Any, *steps: Any) -> Iterator[tuple[Any, ...]]:
    if steps:
        yield steps
    if not isinstance(value, dict | list):
        return
    for step, member in value.items() if isinstance(value, dict) else enumerate(value):
        yield from places(member, *steps, step)


def altered(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The body with something strange at each place, and with a strange name beside each."""
    for *steps, last in places(body):
        for strange in STRANGE:
            changed = copy.deepcopy(body)
            reduce(getitem, steps, changed)[last] = strange
            yield changed
        if isinstance(last, str):
            changed = copy.deepcopy(body)
            inner: Any = reduce(getitem, steps, changed)
            inner[NAME] = inner.pop(last)
            yield changed


def check(answer: Any) -> None:
    assert answer.status_code < 500
    if answer.status_code >= 400:
        assert SECRET.strip() not in answer.text
        assert len(answer.text) < 3000


@pytest.mark.parametrize(("method", "path", "body"), BODIES)
def test_nothing_of_a_body_comes_back(
    method: str, path: str, body: dict[str, Any], lite: TestClient
) -> None:
    for changed in altered(body):
        check(lite.request(method, path, content=json.dumps(changed), headers=JSON))


def test_nothing_of_paths_parameters_and_headers_comes_back(http: TestClient) -> None:
    for path in (f"/{LONG}", f"/v1/conversations/{LONG}", f"{TURNS}/{LONG}", f"{TURNS}/{LONG}/x"):
        check(http.get(path))
    for path in (TURNS, REPLAY, "/v1/conversations", "/v1/tool-calls/lookup"):
        names = ("provider", "limit", "cursor", "until", "since", "reasoning", "id", NAME)
        for name in names:
            check(http.get(path, params={"provider": "openai", name: LONG}))
    for name in ("If-Match", "Idempotency-Key", "Content-Type"):
        body = json.dumps({"provider": "openai", "messages": []})
        check(http.post(TURNS, content=body, headers={**JSON, name: LONG}))
