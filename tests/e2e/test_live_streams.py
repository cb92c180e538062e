"""Streams over real sockets: they arrive in pieces, and connections break."""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.left import left_by
from tests.e2e.server import Server, serving

PATH = "/v1/conversations/{}/turns/stream?provider=openai&turn_id={}"
TEXT = {"type": "text", "text": "Half"}
# Far more than any other test sends.
MOST = 100_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests that leave it running, each with a conversation of its own."""
    limit = {"TURNKEEP_MAX_STREAM_BYTES": str(MOST)}
    with serving(tmp_path_factory.mktemp("live"), environment=limit) as server:
        yield server


def chunk(**delta: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return f"data: {json.dumps({'id': 'c', 'model': 'gpt-5', 'choices': [choice]})}\n\n".encode()


def connected(
    server: Server, cid: str, turn_id: str = "t1", headers: str = "X-Nothing: 1"
) -> socket.socket:
    """A connection on which a body has been announced and not begun."""
    parts = urlsplit(server.url)
    sock = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)
    sock.sendall(
        f"POST {PATH.format(cid, turn_id)} HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: text/event-stream\r\n"
        f"Transfer-Encoding: chunked\r\n{headers}\r\n\r\n".encode()
    )
    return sock


def send(sock: socket.socket, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))


def get(server: Server, path: str) -> Any:
    with urllib.request.urlopen(f"{server.url}/v1/conversations/{path}", timeout=30) as answer:
        return json.load(answer)


def status(sock: socket.socket) -> int:
    first = sock.makefile("rb").readline()
    return int(first.split()[1])


def turn_of(server: Server, cid: str) -> Any:
    """The turn, which appears as soon as the server has noticed that nobody is there any more."""
    for _ in range(100):
        try:
            return get(server, f"{cid}/turns/t1")
        except urllib.error.HTTPError:
            time.sleep(0.1)
    raise AssertionError("the broken stream was not stored")


def test_what_arrived_before_the_client_hung_up_is_kept(server: Server) -> None:
    said = [chunk(role="assistant", content=""), chunk(content="Half a sen")]
    with connected(server, "broken") as sock:
        send(sock, [*said, b'data: {"choi'])
    turn = turn_of(server, "broken")
    assert turn["status"] == "interrupted"
    assert turn["blocks"] == [{"type": "text", "text": "Half a sen"}]
    assert turn["payload_text"].encode() == b"".join(said) + b'data: {"choi'
    with connected(server, "broken") as sock:
        send(sock, [*said, chunk(content="tence."), b"data: [DONE]\n\n", b""])
        assert status(sock) == 200
    turn = get(server, "broken/turns/t1")
    assert turn["blocks"] == [{"type": "text", "text": "Half a sentence."}]
    assert len(turn["earlier"]) == 1
    assert get(server, "broken/verify")["ok"]
    assert "Traceback" not in server.log.read_text()


def test_a_server_that_is_told_to_stop_keeps_live_streams_and_waits_for_none(
    tmp_path: Path,
) -> None:
    """One client hangs up when the server was told, the other one never does."""
    waiting = "Expect: 100-continue"
    with (
        serving(tmp_path) as server,
        connected(server, "hasty", headers=waiting) as hasty,
        connected(server, "patient", headers=waiting) as patient,
    ):
        for sock in (hasty, patient):
            assert status(sock) == 100
            send(sock, [chunk(role="assistant", content="Half")])
        time.sleep(0.5)
        server.process.terminate()
        time.sleep(0.5)
        hasty.close()
        server.process.wait(60)
    with left_by(tmp_path) as http:
        for cid in ("hasty", "patient"):
            turn = http.get(f"/v1/conversations/{cid}/turns/t1").json()
            assert (turn["status"], turn["blocks"]) == ("interrupted", [TEXT])


def test_too_long_a_stream_is_refused_while_it_arrives(server: Server) -> None:
    with connected(server, "long") as sock:
        piece = chunk(content="x" * 1000)
        send(sock, [piece] * (MOST // len(piece)))
        send(sock, [piece])
        assert status(sock) == 413
    with urllib.request.urlopen(f"{server.url}/healthz", timeout=30) as answer:
        assert answer.status == 200


def test_a_stale_version_is_told_while_the_body_has_not_begun(server: Server) -> None:
    with connected(server, "stale") as sock:
        send(sock, [chunk(content="Hello"), b"data: [DONE]\n\n", b""])
        assert status(sock) == 201
    with connected(server, "stale", "t2", 'If-Match: "0"') as sock:
        assert status(sock) == 412


def test_a_broken_stream_that_was_overtaken_is_kept(server: Server) -> None:
    headers = 'If-Match: "0"\r\nExpect: 100-continue'
    with connected(server, "overtaken", headers=headers) as sock:
        # The server has looked at the version when it asks for the body.
        assert status(sock) == 100
        send(sock, [chunk(role="assistant", content="Half")])
        with connected(server, "overtaken", "t2") as other:
            send(other, [chunk(content="Hello"), b"data: [DONE]\n\n", b""])
            assert status(other) == 201
    turn = turn_of(server, "overtaken")
    assert (turn["seq"], turn["status"]) == (2, "interrupted")
    assert turn["blocks"] == [TEXT]
