"""What is bounded before a request reaches the application, over real sockets; and how it stops."""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from app.access.commands import made
from app.database.database import Database
from tests.database.test_failures import held
from tests.e2e.left import left_by
from tests.e2e.server import Server, serving
from tests.e2e.test_live_streams import chunk, connected, get, send

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
JSON_POST = (
    b"POST /v1/conversations/c1/turns HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\n"
)
MOST = 8


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that has little patience."""
    little = {f"TURNKEEP_{what}_SECONDS": "1" for what in ("HEAD", "BODY", "SILENCE")}
    little["TURNKEEP_CONNECTIONS"] = str(MOST)
    with serving(tmp_path_factory.mktemp("edge"), environment=little) as server:
        yield server


def connect(server: Server, *sent: bytes) -> socket.socket:
    parts = urlsplit(server.url)
    sock = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)
    for piece in sent:
        sock.sendall(piece)
    return sock


def metrics(server: Server) -> bytes:
    with urlopen(f"{server.url}/metrics") as response:
        told: bytes = response.read()
        return told


def answer(sock: socket.socket) -> tuple[int, dict[str, str], Any]:
    """The next response: its status, its headers, its JSON. The status is 0 where none comes."""
    with sock.makefile("rb") as file:
        status = int((file.readline() or b"- 0").split()[1])
        headers: dict[str, str] = {}
        while line := file.readline().decode().strip():
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        body = file.read(int(headers.get("content-length", 0)))
        return status, headers, json.loads(body or b"null")


@pytest.mark.parametrize(
    "head",
    [
        [HEALTH + b"X-Long: " + b"x" * 200_000],
        [HEALTH + b"X-Long: " + b"x" * 70_000 + b"\r\n\r\n"],
        [HEALTH + b"X-Many: 1\r\n" * 200 + b"\r\n"],
        [b"GET /" + b"x" * 200_000],
        # Headers behind the body.
        [
            JSON_POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Long: ",
            b"x" * 400_000,
        ],
    ],
)
def test_a_head_that_is_too_large_is_refused(server: Server, head: list[bytes]) -> None:
    with connect(server) as sock:
        try:
            for piece in head:
                sock.sendall(piece)
        except ConnectionError:
            # It is refused before all of it has come.
            pass
        status, headers, told = answer(sock)
    assert (status, headers["connection"], told["code"]) == (431, "close", "head_too_large")


def test_a_connection_is_never_handed_over_to_another_protocol(server: Server) -> None:
    """The tests have a library for WebSockets installed, which knows none of the bounds."""
    asked = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    with connect(server, HEALTH + asked + key) as sock:
        assert answer(sock)[::2] == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "begun",
    [
        HEALTH,
        b"GET /he",
        HEALTH + b"\r\n" + HEALTH,
        JSON_POST + b"Content-Length: 100\r\n\r\n{",
        JSON_POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
)
def test_a_request_that_does_not_arrive_is_let_go(server: Server, begun: bytes) -> None:
    with connect(server, begun) as sock:
        if begun.startswith(HEALTH + b"\r\n"):
            assert answer(sock)[0] == 200
        status, headers, told = answer(sock)
        assert sock.recv(1) == b""
    assert (status, headers["connection"], told["code"]) == (408, "close", "too_slow")


def test_a_body_that_trickles_is_let_go(server: Server) -> None:
    def trickle(sock: socket.socket) -> None:
        for _ in range(10_000):
            sock.sendall(b" ")
            time.sleep(0.05)

    sock = connect(server, JSON_POST, b"Content-Length: 10000\r\n\r\n")
    with sock, pytest.raises(ConnectionError):
        trickle(sock)


@pytest.mark.parametrize("sent", [b"", b"\r\n"])
def test_a_connection_on_which_nothing_is_asked_is_closed(server: Server, sent: bytes) -> None:
    with connect(server, sent) as sock:
        assert answer(sock)[0] in (0, 408)


def test_a_stream_lives_as_long_as_something_comes(server: Server) -> None:
    with connected(server, "alive") as sock:
        # Twice as long as the server waits in silence, in pauses that are far shorter.
        for _ in range(40):
            send(sock, [chunk(content="x")])
            time.sleep(0.05)
        sock.sendall(b"0\r\n\r\n")
        assert answer(sock)[0] == 201


def test_a_silent_stream_is_kept_as_far_as_it_came(server: Server) -> None:
    with connected(server, "silent") as sock:
        send(sock, [chunk(content="Half")])
        assert answer(sock)[0] == 408
    for _ in range(100):
        try:
            (turn,) = get(server, "silent/turns")["data"]
            break
        except OSError:
            time.sleep(0.1)
    assert turn["status"] == "interrupted"


def sockets(server: Server) -> int:
    folder = Path(f"/proc/{server.process.pid}/fd")
    return sum(str(one.readlink()).startswith("socket:") for one in folder.iterdir())


SIZE = 20_000_000
ASKED = b"GET /v1/conversations/c1/replay?provider=openai HTTP/1.1\r\nHost: localhost\r\n\r\n"


def tell_much(server: Server, more: bytes = b"", header: bytes = b"") -> int:
    """The status of a POST of more than the system holds for a client that does not read."""
    said = {"provider": "openai", "messages": [{"role": "user", "content": "x" * SIZE}]}
    body = json.dumps(said).encode()
    head = JSON_POST.replace(b" HTTP/1.1", more + b" HTTP/1.1") + header
    with connect(server, head + b"Content-Length: %d\r\n\r\n" % len(body), body) as sock:
        return int(sock.recv(12, socket.MSG_WAITALL)[9:])


def test_a_response_of_which_little_is_taken_does_not_end(tmp_path: Path) -> None:
    """So little that for longer than the time for a client that takes nothing no room is made in
    the system for what the server holds. The rest is taken at once."""
    with serving(tmp_path, environment={"TURNKEEP_UNREAD_SECONDS": "4"}) as server:
        assert tell_much(server) == 201
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
            slow.connect(("127.0.0.1", int(server.url.rpartition(":")[2])))
            slow.sendall(ASKED)
            taken = 0
            for _ in range(120):
                time.sleep(0.1)
                taken += len(slow.recv(12_000, socket.MSG_WAITALL))
            while piece := slow.recv(1_000_000):
                taken += len(piece)
                if taken > SIZE:
                    break
        assert taken > SIZE


def test_a_response_of_which_nothing_is_taken_ends(tmp_path: Path) -> None:
    with serving(tmp_path, environment={"TURNKEEP_UNREAD_SECONDS": "2"}) as server:
        assert tell_much(server) == 201
        with connect(server, ASKED) as idle:
            assert idle.recv(1)
            held = sockets(server)
            for _ in range(300):
                if sockets(server) < held:
                    break
                time.sleep(0.1)
            taken = 0
            with suppress(ConnectionResetError):
                while piece := idle.recv(1_000_000):
                    taken += len(piece)
            assert taken < SIZE


def test_a_response_that_is_not_taken_when_the_service_stops_is_cut_off(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert tell_much(server) == 201
        with connect(server, ASKED) as idle:
            assert idle.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200"
            server.process.terminate()
            assert server.process.wait(30) == 0
    said = server.log.read_text()
    assert said.count("a response was cut off") == 1
    assert "Traceback" not in said


def test_large_responses_that_nobody_takes_have_a_bound(tmp_path: Path) -> None:
    """One more is asked for again; small ones and receipts are sent, and there is room again when
    one was taken."""
    environment = {"TURNKEEP_RESPONSE_MEMORY": str(SIZE * 3 // 2)}
    with serving(tmp_path, environment=environment) as server:
        assert tell_much(server) == 201
        with connect(server, ASKED) as idle:
            assert idle.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200"
            with connect(server, ASKED) as another:
                status, headers, told = answer(another)
            assert (status, headers["retry-after"], told["code"]) == (503, "1", "unavailable")
            assert told["detail"] == "Too many large responses wait to be read. Ask again."
            assert "503 on GET /v1/conversations/{cid}/replay: Too" in server.log.read_text()
            assert get(server, "c1")["version"] == 1
            assert tell_much(server, b"?return=turns") == 201
            taken = 0
            while taken < SIZE:
                taken += len(idle.recv(1_000_000))
        with connect(server, ASKED) as another:
            assert another.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200"


def test_a_tenant_that_takes_nothing_leaves_room_for_the_others(tmp_path: Path) -> None:
    with serving(tmp_path, environment={"TURNKEEP_RESPONSE_MEMORY": str(SIZE * 3)}) as server:
        slow, quick = (bearer(tmp_path, tenant) for tenant in ("slow", "quick"))
        for header in (slow, quick):
            assert tell_much(server, header=header) == 201
        asked = ASKED.removesuffix(b"\r\n")
        with connect(server, asked + slow + b"\r\n") as idle:
            assert idle.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200"
            for header, status in ((slow, b"503"), (quick, b"200")):
                with connect(server, asked + header + b"\r\n") as another:
                    assert another.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 " + status


def bearer(folder: Path, tenant_id: str) -> bytes:
    """The header with a new key of a tenant."""
    key, text = made(tenant_id, "test", ("read", "write"))
    with Database(f"sqlite:///{folder / 'turnkeep.db'}") as database:
        database.change_keys(lambda keys: keys.add(key))
    return b"Authorization: Bearer " + text.encode() + b"\r\n"


def test_a_connection_too_many_is_told_so(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(MOST):
            stack.enter_context(connect(server))
        sock = stack.enter_context(connect(server, HEALTH, b"\r\n"))
        status, headers, told = answer(sock)
    assert (status, headers["retry-after"], told["code"]) == (503, "1", "unavailable")
    assert f"503 before any route, 1 times: {told['detail']}" in server.log.read_text()


def test_what_is_no_http_is_told_so_by_a_problem(server: Server) -> None:
    with connect(server, b"hello\r\n\r\n") as sock:
        status, headers, told = answer(sock)
    assert (status, headers["content-type"]) == (400, "application/problem+json")
    assert headers["x-content-type-options"] == "nosniff"
    assert told["code"] == "bad_request"


def test_a_request_without_host_is_refused_in_http_1_1_only(server: Server) -> None:
    """RFC 9112, section 3.2."""
    body = b'{"provider": "openai", "messages": [{"role": "user", "content": "hi"}]}'
    head = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    for version, expected in ((b"1.1", 400), (b"1.0", 201)):
        post = b"POST /v1/conversations/hostless/turns HTTP/" + version + b"\r\n"
        with connect(server, post, head, body) as sock:
            status, headers, told = answer(sock)
        assert (status, headers["x-content-type-options"]) == (expected, "nosniff")
        assert told.get("code") == ("bad_request" if status == 400 else None)
    assert told["version"] == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_whoever_is_not_done_when_it_stops_is_asked_to_come_again(
    tmp_path: Path, workers: str
) -> None:
    with serving(tmp_path, "--workers", workers) as server, ExitStack() as stack:
        streams = [stack.enter_context(connected(server, "c1", f"t{one}")) for one in range(3)]
        for sock in streams:
            send(sock, [chunk(content="Half")])
        half = connect(server, JSON_POST, b"Content-Length: 100\r\n\r\n{")
        waiting = [*streams, stack.enter_context(half)]
        server.process.terminate()
        answers = [answer(sock) for sock in waiting]
        assert server.process.wait(30) == 0
    for status, headers, told in answers:
        assert (status, headers["retry-after"], told["code"]) == (503, "1", "unavailable")
    lines = re.findall(r"503 before any route, (\d+) times: .* is stopping", server.log.read_text())
    assert sum(map(int, lines)) == len(answers)
    with left_by(tmp_path) as http:
        stored = http.get("/v1/conversations/c1/turns").json()["data"]
        assert sorted(turn["turn_id"] for turn in stored) == ["t0", "t1", "t2"]
        assert {turn["status"] for turn in stored} == {"interrupted"}


def test_what_a_writer_has_taken_gets_its_receipt_when_the_service_stops(tmp_path: Path) -> None:
    body = b'{"provider": "openai", "messages": [{"role": "user", "content": "x"}]}'
    with serving(tmp_path) as server:
        # Another program keeps the writer waiting, until nobody waits for requests any more.
        with held(f"sqlite:///{tmp_path / 'turnkeep.db'}") as other:
            head = JSON_POST + b"Content-Length: %d\r\n\r\n" % len(body)
            with connect(server, head, body) as sock:
                while b"turnkeep_commands_total 1.0" not in metrics(server):
                    time.sleep(0.02)
                server.process.terminate()
                while "Cancel 1 running task" not in server.log.read_text():
                    time.sleep(0.02)
                other.execute("ROLLBACK")
                status, _, told = answer(sock)
        assert server.process.wait(30) == 0
    assert (status, told["version"]) == (201, 1)


def test_a_request_that_comes_when_it_stops_is_asked_to_come_again(tmp_path: Path) -> None:
    with serving(tmp_path) as server, connect(server, HEALTH, b"\r\n") as kept:
        assert answer(kept)[0] == 200
        server.process.terminate()
        with suppress(ConnectionError):
            # It stops when nobody can connect any more.
            while True:
                connect(server).close()
        kept.sendall(HEALTH + b"\r\n")
        status, headers, told = answer(kept)
    assert (status, headers["retry-after"], told["code"]) == (503, "1", "unavailable")
