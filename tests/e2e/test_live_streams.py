"""Streams over real sockets: they arrive in pieces, and connections break."""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.e2e.server import Server, serving

PATH = "/v1/conversations/c1/turns/stream?provider=openai&turn_id=t1"


def chunk(**delta: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return f"data: {json.dumps({'id': 'c', 'model': 'gpt-5', 'choices': [choice]})}\n\n".encode()


def connected(server: Server, path: str = PATH, headers: str = "X-Nothing: 1") -> socket.socket:
    """A connection on which a body has been announced and not begun."""
    parts = urlsplit(server.url)
    sock = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)
    sock.sendall(
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/event-stream\r\n"
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


def turn_of(server: Server) -> Any:
    """The turn, which appears as soon as the server has noticed that nobody is there any more."""
    for _ in range(100):
        try:
            return get(server, "c1/turns/t1")
        except urllib.error.HTTPError:
            time.sleep(0.1)
    raise AssertionError("the broken stream was not stored")


def test_what_arrived_before_the_client_hung_up_is_kept(tmp_path: Path) -> None:
    said = [chunk(role="assistant", content=""), chunk(content="Half a sen")]
    with serving(tmp_path) as server:
        with connected(server) as sock:
            send(sock, [*said, b'data: {"choi'])
        turn = turn_of(server)
        assert turn["status"] == "interrupted"
        assert turn["blocks"] == [{"type": "text", "text": "Half a sen"}]
        assert turn["payload_text"].encode() == b"".join(said) + b'data: {"choi'
        with connected(server) as sock:
            send(sock, [*said, chunk(content="tence."), b"data: [DONE]\n\n", b""])
            assert status(sock) == 200
        turn = get(server, "c1/turns/t1")
        assert turn["blocks"] == [{"type": "text", "text": "Half a sentence."}]
        assert len(turn["earlier"]) == 1
        assert get(server, "c1/verify")["ok"]
        assert "Traceback" not in server.log.read_text()


def test_a_server_that_is_told_to_stop_keeps_the_live_stream(tmp_path: Path) -> None:
    with serving(tmp_path) as server, connected(server) as sock:
        send(sock, [chunk(role="assistant", content="Half")])
        time.sleep(0.5)
        server.process.terminate()
        time.sleep(0.5)
        sock.close()
        server.process.wait(30)
    with serving(tmp_path) as server:
        assert get(server, "c1/turns/t1")["blocks"] == [{"type": "text", "text": "Half"}]


def test_a_stream_that_goes_on_does_not_hold_the_server_up(tmp_path: Path) -> None:
    with serving(tmp_path) as server, connected(server) as sock:
        send(sock, [chunk(role="assistant", content="Half")])
        time.sleep(0.5)
        server.process.terminate()
        server.process.wait(60)
    with serving(tmp_path) as server:
        assert get(server, "c1/turns/t1")["status"] == "interrupted"


def test_too_long_a_stream_is_refused_while_it_arrives(tmp_path: Path) -> None:
    with serving(tmp_path, environment={"TURNKEEP_MAX_STREAM_BYTES": "100000"}) as server:
        with connected(server) as sock:
            piece = chunk(content="x" * 1000)
            send(sock, [piece] * (100_000 // len(piece)))
            send(sock, [piece])
            assert status(sock) == 413
        with urllib.request.urlopen(f"{server.url}/healthz", timeout=30) as answer:
            assert answer.status == 200


def test_a_stale_version_is_told_while_the_body_has_not_begun(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        with connected(server) as sock:
            send(sock, [chunk(content="Hello"), b"data: [DONE]\n\n", b""])
            assert status(sock) == 201
        with connected(server, PATH.replace("t1", "t2"), 'If-Match: "0"') as sock:
            assert status(sock) == 412


def test_a_broken_stream_that_was_overtaken_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        with connected(server, headers='If-Match: "0"') as sock:
            send(sock, [chunk(role="assistant", content="Half")])
            time.sleep(0.5)
            with connected(server, PATH.replace("t1", "t2")) as other:
                send(other, [chunk(content="Hello"), b"data: [DONE]\n\n", b""])
                assert status(other) == 201
        turn = turn_of(server)
        assert (turn["seq"], turn["status"]) == (2, "interrupted")
        assert turn["blocks"] == [{"type": "text", "text": "Half"}]
