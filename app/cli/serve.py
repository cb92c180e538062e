"""`turnkeep serve`: the service itself."""

import argparse
import errno
import gc
import os
import signal
import socket
import sys
from contextlib import suppress
from functools import partial

import uvicorn
from uvicorn.supervisors import Multiprocess

from .. import __name__ as package
from ..database.engines import database_file, described, is_sqlite
from ..database.migrations import current_and_head, upgrade
from ..edge.connection import PATIENCE, Bounds, Connection
from ..edge.guard import is_loopback
from ..model.errors import Unavailable
from ..settings import LOG_LEVELS, Settings
from .databases import command, database_of
from .flags import add_database, settings_of
from .text import complain

# Seconds in which a worker must show that it lives: a busy machine is no reason to end it.
_SIGN_OF_LIFE = 30
CANNOT_START = 1
_STATUS = """\
Exit status: 0 ended by SIGTERM or Ctrl-C; 1 it cannot start now: the port is in use, the schema is
behind (turnkeep migrate), or others could reach it without a key (turnkeep keys create); 2 a wrong
setting, or the database cannot be reached.
"""


class PortError(Exception):
    """The address cannot be listened on; the text is one line for the operator."""


class Supervisor(Multiprocess):
    """Starts the workers, and starts those again that die, also while they are asked for a sign."""

    def keep_subprocess_alive(self) -> None:
        for process in self.processes:
            # The worker's end of the pipe. While we hold it too, nobody tells us that it is dead.
            process.child_conn.close()
        super().keep_subprocess_alive()


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "serve",
        description="Serves the HTTP interface. Every flag is also a variable TURNKEEP_<NAME>.",
        epilog=_STATUS,
    )
    parser.add_argument("--host", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", help="port to listen on (default 8420)")
    parser.add_argument("--workers", help="processes (default 1)")
    parser.add_argument("--log-level", help=f"one of {', '.join(LOG_LEVELS)} (default info)")
    parser.add_argument(
        "--access-log",
        action="store_const",
        const=True,
        help="write a line for each request (default no)",
    )
    parser.add_argument("--search", help="keep words to search for, true or false (default true)")
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    # First of all: whoever finds the port in use must not have migrated the other's database.
    try:
        sockets = _bound(settings.host, settings.port)
        try:
            return _serve(settings, sockets)
        finally:
            _close(sockets)
    except PortError as error:
        complain(str(error))
        return CANNOT_START


def _serve(settings: Settings, sockets: list[socket.socket]) -> int:
    url = settings.database_url
    is_new = is_sqlite(url) and not database_file(url).exists()
    if is_new and not is_loopback(settings.host):
        # Before the file is made.
        complain(_unprotected(settings, "migrate", "keys create"))
        return CANNOT_START
    if not _schema_is_ready(settings):
        return CANNOT_START
    with database_of(settings) as database:
        has_keys = database.ask_keys_now(lambda keys: keys.any())
    if not is_loopback(settings.host) and not has_keys:
        complain(_unprotected(settings, "keys create"))
        return CANNOT_START
    _listen(sockets, settings.host)
    _announce(settings, sockets[0].getsockname()[1], has_keys=has_keys)
    # Workers are processes of their own; they read their settings from the environment.
    os.environ.update(settings.as_environment())
    config = uvicorn.Config(
        f"{package}.main:serving",
        factory=True,
        http=partial(Connection, _bounds(settings)),  # type: ignore[arg-type]
        # Where a library for it is installed, it would be loaded, and take connections over.
        ws="none",
        workers=settings.workers,
        log_level=settings.log_level,
        access_log=settings.access_log,
        timeout_graceful_shutdown=PATIENCE,
        timeout_worker_healthcheck=_SIGN_OF_LIFE,
    )
    if settings.workers > 1:
        Supervisor(config, sockets=sockets).run()
        return 0
    # Until the application is loaded (`serving`): hardly anything becomes garbage meanwhile.
    gc.disable()
    server = uvicorn.Server(config)
    # The server sends itself the signal again that ended it; being asked to end is no failure.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with suppress(KeyboardInterrupt):
        server.run(sockets=sockets)
    return 0 if server.started else CANNOT_START


def _bounds(settings: Settings) -> Bounds:
    return Bounds(
        settings.connections,
        settings.limits.head_bytes,
        settings.head_seconds,
        settings.body_seconds,
        settings.silence_seconds,
        settings.unread_seconds,
    )


def _unprotected(settings: Settings, *todo: str) -> str:
    commands = " && ".join(command(name, settings.database_url) for name in todo)
    return (
        f"others could reach {settings.host} and read everything: there is no API key yet. Run"
        f" this first: {commands}. Or serve on 127.0.0.1"
    )


def _schema_is_ready(settings: Settings) -> bool:
    url = settings.database_url
    if is_sqlite(url):
        upgrade(url)
        return True
    current, head = current_and_head(url)
    if current != head:
        todo = command("migrate", url)
        complain(str(Unavailable.behind(f"the schema of {described(url)}", current, head, todo)))
    return current == head


def _announce(settings: Settings, listening: int, *, has_keys: bool) -> None:
    # Who listens on all addresses is reached by none that is called so.
    named = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    host = f"[{named}]" if ":" in named else named
    address = f"http://{host}:{listening}"
    key = " -H 'authorization: Bearer KEY'" * has_keys
    looking = f"Look at it           {address}/\n" if settings.pages else ""
    print(
        f"""Turnkeep serves on   {address}  (API: {address}/docs)
The data is in       {described(settings.database_url)}
{looking}Try this:
  curl -s {address}/v1/conversations/demo/turns{key} -H 'content-type: application/json' \\
    -d '{{"provider": "openai", "messages": [{{"role": "user", "content": "hello"}}]}}'
""",
        flush=True,
    )


def _bound(host: str, port: int) -> list[socket.socket]:
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
            sockets.append(_bound_to(family, (address[0], chosen, *address[2:])))
        except OSError as error:
            # Names like localhost may have an address that this machine does not use.
            if error.errno == errno.EADDRNOTAVAIL and len(found) > 1:
                continue
            _close(sockets)
            raise PortError(_words(host, port, error)) from None
    if not sockets:
        raise PortError(f"the host {host!r} is no address of this machine")
    return sockets


def _listen(sockets: list[socket.socket], host: str) -> None:
    """From here on nobody else can listen there."""
    for one in sockets:
        try:
            one.listen()
        except OSError as error:
            raise PortError(_words(host, one.getsockname()[1], error)) from None


def _close(sockets: list[socket.socket]) -> None:
    for one in sockets:
        with suppress(OSError):
            one.close()


def _bound_to(family: int, address: tuple[object, ...]) -> socket.socket:
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
