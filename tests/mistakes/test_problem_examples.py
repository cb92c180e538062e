"""The examples of `docs/problems.md`: real requests and the problems they got, one for each code.

`TURNKEEP_REWRITE_GOLDEN=1` writes them anew.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from app.access.commands import made
from app.access.http import Access
from app.database.database import Database
from app.main import create_app
from app.model.api_keys import ApiKey
from app.model.errors import Damaged, TurnkeepError
from app.settings import Settings
from tests.mistakes.mistake import (
    JSON,
    REPLAY,
    TURNS,
    Mistake,
    got,
    posted,
    request_lines,
    sent,
    without_targets,
)

PAGE = Path(__file__).parents[2] / "docs" / "problems.md"
REWRITE = bool(os.environ.get("TURNKEEP_REWRITE_GOLDEN"))
HELLO = {"role": "user", "content": "hello"}
BODY = {"provider": "openai", "messages": [HELLO]}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
FIRST = posted("invalid", "openai", {"role": "usr", "content": "hello"})
EXAMPLES = [
    Mistake("not_json", "POST", TURNS, '{"provider": "openai", "messages": [', JSON),
    got("unauthorized", "/v1/conversations"),
    Mistake("forbidden", "DELETE", "/v1/conversations/c1"),
    got("conversation_not_found", "/v1/conversations/nope"),
    got("turn_not_found", f"{TURNS}/nope"),
    got("no_such_path", "/v1/conversations/c1/turn"),
    Mistake("method_not_allowed", "PUT", "/v1/conversations"),
    Mistake("conversation_exists", "POST", "/v1/conversations", {"id": "c1"}),
    posted("turn_id_taken", "openai", {"role": "user", "content": "bye"}, turn_id="t1"),
    Mistake(
        "history_differs",
        "POST",
        f"{TURNS}?mode=sync",
        {"provider": "openai", "messages": [{"role": "user", "content": "bye"}]},
    ),
    Mistake("idempotency_key_in_flight", "POST", TURNS, BODY, {"Idempotency-Key": "k2"}),
    got("conversation_damaged", f"{REPLAY}?provider=openai"),
    Mistake("stale_version", "POST", TURNS, BODY, {"If-Match": '"2"'}),
    Mistake("too_large", "POST", TURNS, BODY, {"Content-Length": "50000000"}),
    Mistake(
        "unsupported_media_type",
        "POST",
        TURNS,
        "provider=openai",
        {"content-type": "application/x-www-form-urlencoded"},
    ),
    got("invalid", f"{REPLAY}?provider=openai&last=0"),
    Mistake("limit_exceeded", "POST", TURNS, '{"metadata": ' + "[" * 64 + "…", JSON),
    Mistake("error_response", "POST", TURNS, {"provider": "anthropic", "response": OVERLOADED}),
    posted("unknown_provider", "antropic", HELLO),
    got("unknown_target", f"{REPLAY}?provider=claude"),
    Mistake(
        "idempotency_key_reused", "POST", TURNS, {**BODY, "model": "o3"}, {"Idempotency-Key": "k1"}
    ),
    got("too_many", "/v1/conversations"),
    got("unavailable", "/v1/conversations/c1/verify"),
    got("internal", "/v1/conversations/c1/verify"),
]


def damaged(*_: object) -> None:
    """As a row of the conversation would have it; tests/damage/ makes such rows."""
    raise Damaged("c1")


@contextmanager
def trouble(app: FastAPI, code: str) -> Iterator[None]:
    """What has to be so for problems that no request can bring about by itself."""
    context = app.state.context

    def change(**members: Any) -> None:
        app.state.context = replace(context, **members)

    try:
        match code:
            case "idempotency_key_in_flight":
                change(running={("default", "c1", "k2")})
            case "unauthorized":
                change(access=Access(context.database, may_be_open=False))
            case "forbidden":
                change(access=With(context.database))
            case "too_many":
                change(access=With(context.database, requests=60))
                app.state.context.access._allowance(KEY, "requests", 60).use(60)
            case "conversation_damaged":
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("app.replay.http.Replaying.of", damaged)
                    yield
                return
            case "unavailable":
                nobody = TestClient(create_app(Settings("postgresql://nobody@127.0.0.1:1/none")))
                with nobody:
                    other = nobody.app.state.context  # type: ignore[attr-defined]
                    change(database=other.database)
                    yield
                return
            case "internal":
                change(database=None)
        yield
    finally:
        app.state.context = context


KEY, _ = made("default", "", ["read"])


class With(Access):
    """Whoever asks has a key that may read."""

    def __init__(self, database: Database, *, requests: int | None = None) -> None:
        super().__init__(database, may_be_open=False)
        self.key = replace(KEY, requests=requests)

    async def key_of(self, request: Request) -> ApiKey | None:
        return self.key


@pytest.fixture
def telling(http: TestClient) -> TestClient:
    """Answers defects, too."""
    return TestClient(http.app, raise_server_exceptions=False)


def answered(http: TestClient, example: Mistake) -> Any:
    app = http.app
    assert isinstance(app, FastAPI)
    with trouble(app, example.title):
        answer = sent(http, example)
    assert answer.json()["code"] == example.title
    return answer


def written(http: TestClient) -> str:
    lines = [
        "Written by a test, as they are answered: one for each code. Lists of all targets are cut.",
        "",
    ]
    for example in EXAMPLES:
        request = "\n".join(request_lines(example))
        answer = without_targets(answered(http, example).text)
        lines += [f"```\n{request}\n```", f"```json\n{answer}\n```", ""]
    return "\n".join(lines)


def test_the_page_shows_what_is_answered(telling: TestClient) -> None:
    page = PAGE.read_text(encoding="utf-8")
    first = f"```json\n{sent(telling, FIRST).text}\n```"
    made = re.sub(r"```json\n.*?\n```", lambda _: first, page, count=1, flags=re.DOTALL)
    examples = f"## Examples\n\n{written(telling)}\n`http_error` has"
    made = re.sub(r"## Examples\n.*?`http_error` has", lambda _: examples, made, flags=re.DOTALL)
    if REWRITE:
        PAGE.write_text(made, encoding="utf-8")
    assert made == PAGE.read_text(encoding="utf-8")


def leaves(kind: type[TurnkeepError]) -> set[str]:
    children = kind.__subclasses__()
    return {kind.code}.union(*map(leaves, children)) if children else {kind.code}


def test_every_code_has_an_example() -> None:
    # Nothing raises these themselves.
    raised = leaves(TurnkeepError) - {"error", "not_found", "conflict"}
    shown = {example.title for example in EXAMPLES}
    assert shown == raised | {"no_such_path", "method_not_allowed", "internal"}
