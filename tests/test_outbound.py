"""The guard of all tests: whoever connects to another machine fails."""

import asyncio
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

# A network for documentation (RFC 5737, RFC 3849), and a name that never exists (RFC 2606).
ELSEWHERE = "192.0.2.1"
ELSEWHERE_6 = "2001:db8::1"
NAME = "turnkeep.invalid"


def _asked_by_asyncio() -> object:
    return asyncio.run(asyncio.open_connection(ELSEWHERE, 80))


@pytest.mark.parametrize(
    "call",
    [
        lambda: socket.create_connection((ELSEWHERE, 80), timeout=0.1),
        lambda: socket.socket().connect((ELSEWHERE, 80)),
        lambda: socket.socket().connect_ex((ELSEWHERE, 80)),
        lambda: socket.socket(socket.AF_INET6).connect((ELSEWHERE_6, 80)),
        lambda: socket.socket(type=socket.SOCK_DGRAM).connect((ELSEWHERE, 53)),
        lambda: socket.getaddrinfo(NAME, 80),
        lambda: urllib.request.urlopen(f"http://{NAME}/", timeout=0.1),
        lambda: httpx.get(f"http://{ELSEWHERE}/", timeout=0.1, trust_env=False),
        _asked_by_asyncio,
    ],
    ids=["create", "connect", "connect_ex", "ipv6", "udp", "name", "urllib", "httpx", "asyncio"],
)
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_another_machine_cannot_be_reached(call: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match="not this machine"):
        call()


def test_this_machine_can() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()
        socket.create_connection(("localhost", port)).close()


def test_a_socket_of_the_file_system_can(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))
