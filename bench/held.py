"""For how long one request holds the service: `python -m bench.held [NAME …]`.

A server of its own gets one body of the largest size that is accepted, or writes a replay of that
size, while `/healthz` and a small POST are asked every five milliseconds. Printed is the longest
that each took, beside the longest while nothing else was asked: of three runs the lowest, because
whatever else the machine does counts as well.
"""

import http.client
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.model.limits import Limits
from tests.e2e.server import serving

LARGEST = Limits().body_bytes
PAUSE = 0.005
RUNS = 3
SMALL = json.dumps({"provider": "openai", "messages": [{"role": "user", "content": "hi"}]}).encode()
JSON = {"Content-Type": "application/json"}


def filled(body: Callable[[str], Any]) -> bytes:
    """A body of the largest size: a text in it is made as long as it takes."""
    bare = len(json.dumps(body("")).encode())
    return json.dumps(body("x" * (LARGEST - bare))).encode()


def _said(content: Any) -> dict[str, Any]:
    return {"provider": "openai", "messages": [{"role": "user", "content": content}]}


def one_text() -> bytes:
    return filled(_said)


def escaped_text() -> bytes:
    """A text that grows shorter when it is read: each sign is an escape."""
    return json.dumps(_said("\n" * (LARGEST // 2 - 100))).encode()


def many_values() -> bytes:
    """Values as many as are accepted, in the arguments of a call of which one text is long."""
    values = [{"a": 1}] * (Limits().json_values // 2 - 50)

    def body(text: str) -> dict[str, Any]:
        message = {"role": "user", "content": [{"type": "text", "text": text, "more": values}]}
        return {"provider": "openai", "messages": [message]}

    return filled(body)


def many_calls() -> bytes:
    calls = 10_000

    def body(text: str) -> dict[str, Any]:
        part = text[: len(text) // calls]
        made = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": "read", "arguments": json.dumps({"path": part})},
            }
            for number in range(calls)
        ]
        message = {"role": "assistant", "content": None, "tool_calls": made}
        return {"provider": "openai", "messages": [message]}

    return filled(body)


def large_schemas() -> bytes:
    """Tools whose schemas have as many values as are accepted."""
    tools = 100
    members = (Limits().schema_nodes // tools - 10) // 3

    def body(text: str) -> dict[str, Any]:
        part = text[: len(text) // tools]
        return {
            "provider": "anthropic",
            "tools": [
                {
                    "name": f"tool_{number}",
                    "description": part,
                    "input_schema": {
                        "type": "object",
                        "properties": {
                            f"p{one}": {"type": "string", "pattern": "a+"} for one in range(members)
                        },
                    },
                }
                for number in range(tools)
            ],
        }

    return filled(body)


def stream_of_calls(calls: int = 9_500, size: int = 30 * 1024 * 1024) -> bytes:
    """A stream of chat chunks, each a call as it is made."""
    text = "x" * (size // calls - 200)
    chunks = []
    for number in range(calls):
        made = {"name": "read", "arguments": json.dumps({"path": text})}
        call = {"index": number, "id": f"call_{number}", "type": "function", "function": made}
        chunks.append({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    said = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return f"{said}data: [DONE]\n\n".encode()


class Watch:
    """What one page takes, asked again and again."""

    def __init__(self, port: int, method: str, path: str, body: bytes | None = None) -> None:
        self._asked = (method, path, body, JSON if body else {})
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.took: list[float] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        self._thread.start()
        yield
        self._ended.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._ended.is_set():
            begun = time.perf_counter()
            self._connection.request(*self._asked)
            self._connection.getresponse().read()
            self.took.append(time.perf_counter() - begun)
            self._ended.wait(PAUSE)


def ask(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, int]:
    """The status of an answer, and its size."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request(method, path, body, JSON if body else {})
    answer = connection.getresponse()
    size = 0
    while piece := answer.read(1024 * 1024):
        size += len(piece)
    return answer.status, size


def held(port: int, ask_for: Callable[[], object]) -> tuple[float, float]:
    """The longest that `/healthz` and a small POST took meanwhile."""
    health = Watch(port, "GET", "/healthz")
    append = Watch(port, "POST", f"/v1/conversations/{time.time_ns()}/turns", SMALL)
    with health.watching(), append.watching():
        ask_for()
        # Words are indexed after the response.
        time.sleep(1.5)
    return max(health.took), max(append.took)


CASES: dict[str, tuple[str, str, Callable[[], bytes]]] = {
    "one text": ("POST", "/v1/conversations/a/turns", one_text),
    "one text, all escapes": ("POST", "/v1/conversations/b/turns", escaped_text),
    "200,000 values": ("POST", "/v1/conversations/c/turns", many_values),
    "10,000 calls in a turn": ("POST", "/v1/conversations/d/turns", many_calls),
    "20,000 values of schemas": ("PUT", "/v1/conversations/e/tools", large_schemas),
}
STREAMS = {"a stream of 9,500 calls": False, "the same, which breaks": True}
REPLAYS = {
    f"replay of {name}": f"/v1/conversations/{cid}/replay?provider=anthropic"
    for name, cid in (("one text", "a"), ("all escapes", "b"), ("10,000 calls", "d"))
}


def main(named: list[str]) -> None:
    # Every replay is written anew.
    settings = {"TURNKEEP_RENDER_MEMORY": "0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), environment=settings) as server,
    ):
        port = urlsplit(server.url).port or 0
        _tell(port, "nothing", [partial(time.sleep, 3)] * 4)
        for name, (method, path, make) in CASES.items():
            if not named or name in named:
                asked = partial(_asked, port, method, body=make())
                paths = [path, *(path.replace("/turns", f"{one}/turns") for one in "12")]
                _tell(port, name, [partial(asked, one) for one in paths])
        for name, breaks in STREAMS.items():
            if not named or name in named:
                body, cid = stream_of_calls(), "broken" if breaks else "whole"
                streamed = partial(_streamed, port, body=body, breaks=breaks)
                _tell(port, name, [partial(streamed, f"{cid}{run}") for run in range(RUNS)])
        for name, path in REPLAYS.items():
            if not named or name in named:
                _tell(port, name, [partial(_asked, port, "GET", path)] * RUNS)


def _asked(port: int, method: str, path: str, body: bytes | None = None) -> None:
    status, size = ask(port, method, path, body)
    assert status in (200, 201), (status, size)


def _streamed(port: int, cid: str, body: bytes, *, breaks: bool) -> None:
    """Ends when the turn is stored, also where nobody is there to hear of it."""
    path = f"/v1/conversations/{cid}/turns"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.putrequest("POST", f"{path}/stream?provider=openai&turn_id=t1")
    connection.putheader("Content-Type", "text/event-stream")
    connection.putheader("Content-Length", str(len(body) + breaks))
    connection.endheaders(body)
    if not breaks:
        connection.getresponse().read()
    connection.close()
    while ask(port, "GET", f"{path}?limit=1&raw=false")[0] != 200:
        time.sleep(0.1)


def _tell(port: int, name: str, runs: list[Callable[[], object]]) -> None:
    health, append = (
        min(one) * 1000 for one in zip(*(held(port, run) for run in runs), strict=True)
    )
    print(f"{name}: healthz {health:.0f} ms, small POST {append:.0f} ms", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
