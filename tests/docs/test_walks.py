"""Requests pass through all that CONTRIBUTING.md draws of their walks."""

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"
DRAWN = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("A request walks one way.")[2]
# A test client needs neither: the server's own protocol, the process that writes.
UNSEEN = {"edge/connection.py", "database/process.py"}
# In brackets: what is done afterwards.
LATER = {"search/indexer.py", "search/indexing.py"}

CALLS = [
    {"id": f"call_{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    for n in range(2)
]
BODY = {
    "provider": "openai",
    "messages": [{"role": "assistant", "content": "", "tool_calls": CALLS}],
}


def drawn(begin: str, end: str) -> set[str]:
    """The modules that a walk names: `database/groups.py`, and `(loading.py)` beside it."""
    named: set[str] = set()
    room = ""
    walk = DRAWN.partition(begin)[2].partition(end)[0]
    for word in re.findall(r"[\w/<>]+\.py", walk):
        folder, _, module = word.rpartition("/")
        room = folder or room
        named.add(f"{room}/{module}")
    return named - {"formats/<wire>/messages.py"}


@contextmanager
def watched() -> Iterator[set[str]]:
    """Gathers the modules of the application whose functions are called, in whatever thread."""
    passed: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(APP):
            passed.add(path.relative_to(APP).as_posix())

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield passed
    finally:
        threading.setprofile(None)
        sys.setprofile(None)


def post(http: TestClient) -> int:
    return http.post("/v1/conversations/c1/turns", json=BODY).status_code


def get(http: TestClient) -> int:
    return http.get("/v1/conversations/c1/replay?provider=anthropic").status_code


@pytest.mark.parametrize(
    ("ask", "status", "begin", "end", "codec"),
    [
        (post, 201, "POST …/turns", "GET …/replay", "formats/chat/messages.py"),
        (get, 200, "GET …/replay", "```", "formats/anthropic/messages.py"),
    ],
    ids=["post", "get"],
)
def test_a_request_passes_through_what_is_drawn(
    sqlite_database_url: str,
    ask: Callable[[TestClient], int],
    status: int,
    begin: str,
    end: str,
    codec: str,
) -> None:
    named = drawn(begin, end)
    assert len(named) >= 10
    with watched() as passed, TestClient(create_app(Settings(sqlite_database_url))) as http:
        # Kept renders and what a writer remembers are on the way of the requests behind the first.
        for before in (post, get, post):
            before(http)
        passed.clear()
        assert ask(http) == status
        found = set(passed)
    assert codec in found
    assert named - UNSEEN - LATER <= found
