"""Listeners over real sockets: of several processes, that hang up, and when the service stops."""

import json
import signal
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.server import Server, serving, started, wait_until_ready

LISTENERS = 20


@contextmanager
def listening(server: Server, cid: str) -> Iterator[Any]:
    """The lines that come, behind the head of the response."""
    parts = urlsplit(server.url)
    address = (parts.hostname or "", parts.port or 0)
    with socket.create_connection(address, timeout=30) as sock, sock.makefile("rb") as lines:
        head = f"GET /v1/conversations/{cid}/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        sock.sendall(head.encode())
        assert lines.readline().split()[1] == b"200"
        yield lines


def told(lines: Any) -> Iterator[int]:
    """The versions that come."""
    for line in lines:
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))["version"]


def post(server: Server, cid: str) -> None:
    body = {"provider": "openai", "messages": [{"role": "user", "content": "x"}]}
    request = urllib.request.Request(
        f"{server.url}/v1/conversations/{cid}/turns",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Connection": "close"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 201


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_service_with_listeners_stops_at_once(tmp_path: Path, workers: str) -> None:
    server = started(tmp_path, "--workers", workers)
    try:
        wait_until_ready(server)
        post(server, "c1")
        with ExitStack() as stack:
            ears = [stack.enter_context(listening(server, "c1")) for _ in range(LISTENERS)]
            for lines in ears:
                assert next(told(lines)) == 1
            server.process.send_signal(signal.SIGTERM)
            # The end of a chunked body: nobody is cut off.
            assert {lines.read()[-5:] for lines in ears} == {b"0\r\n\r\n"}
            assert server.process.wait(10) == 0
        assert "Traceback" not in server.log.read_text()
        # This is what a service says that waited in vain.
        assert "Cancel" not in server.log.read_text()
    finally:
        server.process.kill()
        server.process.wait(30)


def test_who_hangs_up_makes_room(tmp_path: Path) -> None:
    with serving(tmp_path, environment={"TURNKEEP_LISTENERS": "1"}) as server:
        post(server, "c1")
        for _ in range(3):
            for _ in range(100):
                try:
                    with listening(server, "c1") as lines:
                        assert next(told(lines)) == 1
                        break
                except AssertionError:
                    time.sleep(0.1)
            else:
                raise AssertionError("a listener that hung up still has its place")
        with urllib.request.urlopen(f"{server.url}/metrics", timeout=30) as answer:
            counted = answer.read().decode()
        heard = 'turnkeep_requests_total{method="GET",route="/v1/conversations/{cid}/events",'
        assert heard + 'status="200"} ' in counted
