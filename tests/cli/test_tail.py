"""`turnkeep tail -f`: new turns as they come, by events or by looking again."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from app.cli import asking, over_http
from tests.cli.conftest import Run, World


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PAUSE", 0.01)
    monkeypatch.setattr(over_http, "PAUSE", 0.01)


@pytest.mark.parametrize(
    ("way", "last"), [("url", "was erased"), ("database_url", "does not exist")]
)
def test_new_turns_are_shown_until_the_conversation_is_gone(
    world: World, run: Run, way: str, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is followed, two turns come, and then it is erased."""
    cid = f"followed-{way}"
    world.post(cid, {"role": "user", "content": "first"})
    steps: Iterator[Callable[[], object]] = iter(
        [
            lambda: world.post(cid, {"role": "user", "content": "second"}),
            lambda: world.post(cid, {"role": "user", "content": "third"}),
            lambda: httpx.delete(f"{world.url}/v1/conversations/{cid}").raise_for_status(),
        ]
    )
    # Each time when it would wait, something happens; or else when it has read, a moment later.
    monkeypatch.setattr(asking, "time", SimpleNamespace(sleep=lambda _: next(steps)()))
    read = over_http.Service.turns

    def reading(service: over_http.Service, *args: Any, **page: Any) -> Any:
        found = read(service, *args, **page)
        if step := next(steps, None):
            threading.Timer(0.1, step).start()
        return found

    monkeypatch.setattr(over_http.Service, "turns", reading)
    address = world.url if way == "url" else world.database_url
    done = run("tail", cid, "-f", "-n", "1", "--json", f"--{way.replace('_', '-')}", address)
    turns = [json.loads(line) for line in done.out.splitlines()]
    assert [turn["blocks"][0]["text"] for turn in turns] == ["first", "second", "third"]
    assert done.code == 1
    assert last in done.err


class Fake:
    """A service whose events are written by the test; everything else is asked of a real one."""

    def __init__(self, behind: str, streams: list[Callable[[], bytes]]) -> None:
        self.behind = behind
        self.streams = streams
        self.asked: list[str] = []


@contextmanager
def with_events(fake: Fake) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.partition("?")[0].endswith("/events"):
                told = httpx.get(f"{fake.behind}{self.path}")
                self._send(told.status_code, "application/json", told.content)
                return
            fake.asked.append(self.path)
            assert self.headers["Accept"] == "text/event-stream"
            if fake.streams:
                self._send(200, "text/event-stream", fake.streams.pop(0)())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def version(number: int) -> bytes:
    told: Any = {"version": number, "updated_at": "2026-01-01T00:00:00+00:00"}
    return f"event: version\nid: {number}\ndata: {json.dumps(told)}\n\n".encode()


def test_events_are_followed_over_broken_connections(world: World, run: Run) -> None:
    cid = "lively"
    world.post(cid, *({"role": "user", "content": f"turn {n}"} for n in range(1, 6)))

    def grown() -> bytes:
        world.post(cid, {"role": "user", "content": "turn 6"}, {"role": "user", "content": "7"})
        strange = b"event: other\n:\ndata: 1\n\ndata: 2\n\n"
        return b": a sign of life\n\n" + strange + version(7) + b": another\r\n\r\n"

    # The connection breaks twice, once with nothing new, and then the conversation is gone.
    fake = Fake(world.url, [grown, lambda: b"", lambda: b"event: erased\ndata: {}\n\n"])
    with with_events(fake) as url:
        done = run("tail", cid, "-f", "-n", "2", "--json", "--url", url)
    assert [json.loads(line)["seq"] for line in done.out.splitlines()] == [4, 5, 6, 7]
    assert [path.partition("?")[2] for path in fake.asked] == ["after=5", "after=7", "after=7"]
    assert done.code == 1
    assert done.err.startswith("turnkeep: Conversation 'lively' was erased. `turnkeep list`")


def test_a_service_that_stays_away_is_given_up(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.post("away", {"role": "user", "content": "x"})
    monkeypatch.setattr(over_http, "_GONE", -1.0)
    fake = Fake(world.url, [lambda: b""])
    with with_events(fake) as url:
        # No stream is left for the second time: the connection just ends.
        done = run("tail", "away", "-f", "--url", url)
    assert done.code == 2
    assert "cannot be reached" in done.err
