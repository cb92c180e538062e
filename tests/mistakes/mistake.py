"""A mistake: a request that somebody plausibly sends; short words for many, and how it is sent."""

import json
from dataclasses import dataclass, field
from typing import Any

from fastapi.testclient import TestClient

from app.formats.registry import TARGETS

# Stands in all content that is posted, so that a problem that repeats content is seen.
CONTENT = "hedgehog"
TURNS = "/v1/conversations/c1/turns"
REPLAY = "/v1/conversations/c1/replay"
TOOLS = "/v1/conversations/c1/tools"
STREAM = "/v1/conversations/c1/turns/stream"
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Mistake:
    """`body` is sent as JSON, unless it is text, which is sent as it is."""

    title: str
    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def posted(title: str, provider: str, *messages: Any, **more: Any) -> Mistake:
    """Messages of a provider, appended to the conversation."""
    return Mistake(title, "POST", TURNS, {"provider": provider, "messages": messages, **more})


def answered(title: str, provider: str, response: Any) -> Mistake:
    """A response of a provider, appended to the conversation."""
    return Mistake(title, "POST", TURNS, {"provider": provider, "response": response})


def got(title: str, path: str, **headers: str) -> Mistake:
    return Mistake(title, "GET", path, headers=headers)


def user(content: Any = CONTENT) -> dict[str, Any]:
    return {"role": "user", "content": content}


def sent(http: TestClient, mistake: Mistake) -> Any:
    headers = dict(mistake.headers)
    body = mistake.body
    if body is not None and not isinstance(body, str):
        body = json.dumps(body)
        headers = JSON | headers
    return http.request(
        mistake.method, mistake.path, content=body, headers=headers, follow_redirects=False
    )


def without_targets(answer: str) -> str:
    """A new provider must not change what is written of all the others."""
    first, second, *_ = TARGETS
    listed = ", ".join(TARGETS)
    quoted = json.dumps(list(TARGETS), separators=(",", ":"))
    return answer.replace(listed, f"{first}, {second} …").replace(
        quoted, f'["{first}","{second}", …]'
    )


def request_lines(mistake: Mistake) -> list[str]:
    body = mistake.body
    if body is not None and not isinstance(body, str):
        body = json.dumps(body)
    lines = [f"{mistake.method} {mistake.path}"]
    shown = mistake.headers if mistake.headers != JSON else {}
    lines += [f"{name}: {value}" for name, value in shown.items()]
    return lines + ([_cut(line) for line in body.splitlines()] if body else [])


def _cut(line: str) -> str:
    return line if len(line) <= 200 else f"{line[:200]} …"
