"""Whatever a value says: it comes back as it was sent, or is refused, on both databases alike; and
nobody but who asked is told of it."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.conversations.test_erasing import CANARY, tell
from tests.http_api import Api, answering, calling, user

HOSTILE = [
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "\ufeff\u2028\u2029\u0085\x1b[2J\x7f",
    "e\u0301 \u00e9 \u202egnp",
    "'; DROP TABLE turns; -- %s {0} \\ \\u0041 </script>",
    "\r\n\t ",
    "\U0001f600\U0010ffff\uffff",
    "x" * 70_000,
]
HERE = "/v1/conversations/c1"


def sent(http: TestClient, method: str, path: str, body: Any) -> Any:
    """Written in ASCII, so that everything can be sent."""
    kind = {"Content-Type": "application/json"}
    return http.request(method, path, content=json.dumps(body), headers=kind)


def said(text: str) -> dict[str, Any]:
    arguments = json.dumps({"a": text})
    messages = [user(text), calling(("i", "f", arguments)), answering("i", text)]
    return {"provider": "openai", "messages": messages, "metadata": {"m": text}}


def told(http: TestClient) -> list[Any]:
    """The texts of the turns, as they are kept: a replay shows what is no Unicode as U+FFFD."""
    found: list[Any] = []
    for turn in http.get(f"{HERE}/turns?raw=true").json()["data"]:
        [block] = turn["blocks"]
        match block["type"]:
            case "text":
                found.append(block["text"])
            case "tool_call":
                found += [block["parameters"]["a"], json.loads(block["arguments"])["a"]]
            case _:
                found.append(block["result"])
        found += [turn["metadata"]["m"]] if "m" in turn["metadata"] else []
    return found


def streamed(http: TestClient, text: str) -> Any:
    delta = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}
    stream = f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n"
    kind = {"Content-Type": "text/event-stream"}
    path = f"{HERE}/turns/stream?provider=openai"
    return http.post(path, content=stream, headers=kind)


def tool(text: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": text}}}
    return {
        "provider": "anthropic",
        "tools": [{"name": "f", "description": text, "input_schema": schema}],
    }


def tools_told(http: TestClient) -> list[Any]:
    [one] = http.get(f"{HERE}/tools?provider=anthropic").json()["request"]["tools"]
    return [one["description"], one["input_schema"]["properties"]["a"]["description"]]


def about(http: TestClient) -> list[Any]:
    shown = http.get(HERE).json()
    return [shown["title"], shown["metadata"]["m"]]


class Route(NamedTuple):
    send: Callable[[TestClient, str], Any]
    read: Callable[[TestClient], list[Any]]


ROUTES = {
    "turns": Route(lambda http, text: sent(http, "POST", f"{HERE}/turns", said(text)), told),
    "sync": Route(
        lambda http, text: sent(http, "POST", f"{HERE}/turns?mode=sync", said(text)), told
    ),
    "stream": Route(streamed, told),
    "tools": Route(lambda http, text: sent(http, "PUT", f"{HERE}/tools", tool(text)), tools_told),
    "created": Route(
        lambda http, text: sent(
            http, "POST", "/v1/conversations", {"id": "c1", "title": text, "metadata": {"m": text}}
        ),
        about,
    ),
    "changed": Route(
        lambda http, text: sent(http, "PATCH", HERE, {"title": text, "metadata": {"m": text}}),
        about,
    ),
}


@pytest.fixture
def both(sqlite_database_url: str, postgres_database_url: str) -> Iterator[list[TestClient]]:
    urls = sqlite_database_url, postgres_database_url
    one, other = (TestClient(create_app(Settings(database_url=url))) for url in urls)
    with one, other:
        yield [one, other]


def timeless(answer: Any) -> Any:
    """Without what no two services have in common."""
    body = answer.json()
    return {name: body[name] for name in body.keys() - {"created_at", "updated_at", "instance"}}


@pytest.mark.parametrize("name", ROUTES)
def test_what_is_accepted_comes_back_as_it_was_sent(both: list[TestClient], name: str) -> None:
    route = ROUTES[name]
    accepted = 0
    for text in HOSTILE:
        for http in both:
            http.delete(HERE)
            if name == "changed":
                assert sent(http, "POST", "/v1/conversations", {"id": "c1"}).status_code == 201
        one, other = (route.send(http, text) for http in both)
        assert one.status_code == other.status_code < 500, (ascii(text[:20]), one.text, other.text)
        if one.is_error:
            assert timeless(one) == timeless(other)
            continue
        accepted += 1
        for http in both:
            assert set(route.read(http)) == {text}, ascii(text[:20])
            assert http.get(f"{HERE}/verify").json()["ok"]
        one, other = (http.get(f"{HERE}/replay?provider=openai") for http in both)
        assert one.content == other.content
    assert accepted >= len(HOSTILE) - 3


def test_nothing_that_was_said_is_logged_counted_or_told_in_a_problem(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    # In a conversation of its own: ids, which it has in mind too, may be told.
    tell(api, "c0", CANARY)
    assert api.post(user("x"), headers={"Idempotency-Key": "k"}).status_code == 201
    problems: list[Any] = []
    writes = [
        ("POST", "/v1/conversations", {"id": "c2", "title": CANARY, "metadata": {"m": CANARY}}),
        ("PATCH", HERE, {"title": CANARY, "metadata": {"m": CANARY}}),
        ("POST", f"{HERE}/turns", said(CANARY)),
        ("POST", f"{HERE}/turns?mode=sync", said(CANARY)),
        ("PUT", f"{HERE}/tools", tool(CANARY)),
        ("POST", f"{HERE}/turns/stream?provider=openai", said(CANARY)),
        ("POST", "/v1/convert/messages", {"from": "openai", "to": "kimi", "messages": [CANARY]}),
        ("POST", "/v1/convert/tools", {"from": "openai", "to": "kimi", "tools": [CANARY]}),
        ("POST", "/v1/convert/tool-id", {"id": [CANARY], "to": "kimi"}),
    ]
    for method, path, body in writes:
        whole = json.dumps(body)
        kind = {"Content-Type": "application/json"}
        # As it is; cut; with a member too many; with members that are no objects; for a version
        # that is not there; and under a key that another body has.
        for content, more in (
            (whole, {}),
            (whole[:-1], {}),
            (whole[:-1] + f', "no": "{CANARY}"}}', {}),
            (json.dumps({name: [CANARY] for name in body}), {}),
            (whole, {"If-Match": '"7"'}),
            (whole, {"Idempotency-Key": "k"}),
        ):
            answer = api.http.request(method, path, content=content, headers={**kind, **more})
            assert answer.status_code < 500
            problems += [answer.text] if answer.is_error else []
    assert len(problems) > 3 * len(writes)
    # The client of the tests logs what it asks for.
    lines = [one.getMessage() for one in caplog.records if not one.name.startswith("httpx")]
    for told_of in (*problems, *lines, api.http.get("/metrics").text):
        assert CANARY not in told_of
