"""Fails every test that connects to another machine.

`forbid` watches the connections that Python makes. The driver of PostgreSQL makes its own, to where
the tests tell it. The library that checks schemas could also make its own, so
`tests/tools/test_schemas_stay_here.py` watches its system calls. No test speaks TLS, so the list of
trusted certificates is not read: each HTTP client would read it when it is created, and that takes
longer than most requests.
"""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any
from unittest.mock import patch

import pytest


@contextmanager
def forbid() -> Iterator[None]:
    """While this is open, connections to other machines and questions for their names fail, and
    certificates are not read."""
    connect, connect_ex, look_up = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.getaddrinfo,
    )

    def checked_connect(self: socket.socket, address: Any) -> None:
        _check(self.family, address)
        connect(self, address)

    def checked_connect_ex(self: socket.socket, address: Any) -> int:
        _check(self.family, address)
        return connect_ex(self, address)

    def checked_look_up(
        host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:
        # Who is to listen there asks so.
        if not flags & socket.AI_PASSIVE:
            _check_name(host)
        return look_up(host, port, family, type, proto, flags)

    with (
        patch.object(socket.socket, "connect", checked_connect),
        patch.object(socket.socket, "connect_ex", checked_connect_ex),
        patch.object(socket, "getaddrinfo", checked_look_up),
        patch.object(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None),
    ):
        yield


def _check(family: int, address: Any) -> None:
    if family in (socket.AF_INET, socket.AF_INET6):
        _check_name(address[0])


def _check_name(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    # None and no name mean this machine.
    if name and not _is_here(name):
        # Not an Exception: code that expects a network to fail must not swallow it.
        pytest.fail(f"a connection to {name}, which is not this machine", pytrace=True)


def _is_here(name: str) -> bool:
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return name.lower() == "localhost"
    return address.is_loopback or address.is_unspecified
