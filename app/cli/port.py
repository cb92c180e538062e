"""The address that the service listens on, taken before anything else is done or said."""

import errno
import os
import socket
from contextlib import suppress


class PortError(Exception):
    """The address cannot be listened on; the text is one line for the operator."""


def bound(host: str, port: int) -> list[socket.socket]:
    """Sockets on the address, one for each kind of internet address that the host has."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise PortError(f"the host {host!r} is unknown: {error.strerror}") from None
    sockets: list[socket.socket] = []
    for family, address in dict.fromkeys((entry[0], entry[4]) for entry in found):
        # A port of our choosing is the same for all of them.
        chosen = sockets[0].getsockname()[1] if sockets else port
        try:
            sockets.append(_bound(family, (address[0], chosen, *address[2:])))
        except OSError as error:
            # Names like localhost may have an address that this machine does not use.
            if error.errno == errno.EADDRNOTAVAIL and len(found) > 1:
                continue
            close(sockets)
            raise PortError(_words(host, port, error)) from None
    if not sockets:
        raise PortError(f"the host {host!r} is no address of this machine")
    return sockets


def listen(sockets: list[socket.socket], host: str) -> None:
    """From here on nobody else can listen there."""
    for one in sockets:
        try:
            one.listen()
        except OSError as error:
            raise PortError(_words(host, one.getsockname()[1], error)) from None


def close(sockets: list[socket.socket]) -> None:
    for one in sockets:
        with suppress(OSError):
            one.close()


def _bound(family: int, address: tuple[object, ...]) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # A service that has just ended leaves connections behind that would block its port.
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(address)
        one.set_inheritable(True)
    except OSError:
        one.close()
        raise
    return one


def _words(host: str, port: int, error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"port {port} on {host} is in use; choose another with --port"
        case errno.EACCES:
            return f"port {port} on {host} is not allowed to this user; choose another with --port"
        case errno.EADDRNOTAVAIL:
            return f"the host {host!r} is no address of this machine"
        case _:
            return f"port {port} on {host} cannot be listened on: {error.strerror}"
