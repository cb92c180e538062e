"""`turnkeep serve`: the service itself."""

import argparse
import os
import signal
import sys
from contextlib import suppress
from socket import socket

import uvicorn
from uvicorn.supervisors import Multiprocess

from app.cli import port
from app.cli.options import add_database, settings_of
from app.cli.words import complain
from app.core.errors import Unavailable
from app.settings import LOG_LEVELS, Settings
from app.storage.engines import described, is_sqlite
from app.storage.migrations import current_and_head, upgrade

# Seconds for requests to end when the service stops. Live streams that go on for longer are ended,
# and stored as far as they came.
_PATIENCE = 10
CANNOT_START = 1
_STATUS = """\
Exit status: 0 ended by SIGTERM or Ctrl-C; 1 it cannot start now: the port is in use, or the schema
is behind (turnkeep migrate); 2 a wrong setting, or the database cannot be reached.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "serve",
        help="serve on http (migrates an SQLite file by itself)",
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
        sockets = port.bound(settings.host, settings.port)
        try:
            return _serve(settings, sockets)
        finally:
            port.close(sockets)
    except port.PortError as error:
        complain(str(error))
        return CANNOT_START


def _serve(settings: Settings, sockets: list[socket]) -> int:
    if not _schema_is_ready(settings):
        return CANNOT_START
    port.listen(sockets, settings.host)
    _announce(settings, sockets[0].getsockname()[1])
    # Workers are processes of their own; they read their settings from the environment.
    os.environ.update(settings.as_environment())
    config = uvicorn.Config(
        "app.main:serving",
        factory=True,
        workers=settings.workers,
        log_level=settings.log_level,
        access_log=settings.access_log,
        timeout_graceful_shutdown=_PATIENCE,
    )
    if settings.workers > 1:
        Multiprocess(config, sockets=sockets).run()
        return 0
    server = uvicorn.Server(config)
    # The server sends itself the signal again that ended it; being asked to end is no failure.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with suppress(KeyboardInterrupt):
        server.run(sockets=sockets)
    return 0 if server.started else CANNOT_START


def _schema_is_ready(settings: Settings) -> bool:
    if is_sqlite(settings.database_url):
        upgrade(settings.database_url)
        return True
    current, head = current_and_head(settings.database_url)
    if current != head:
        whose = f"the schema of {described(settings.database_url)}"
        complain(str(Unavailable.behind(whose, current, head)))
    return current == head


def _announce(settings: Settings, listening: int) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{listening}"
    print(
        f"""Turnkeep serves on   {address}  (pages: {address}/docs)
The data is in       {described(settings.database_url)}
Try this:
  curl -s {address}/v1/conversations/demo/turns -H 'content-type: application/json' \\
    -d '{{"provider": "openai", "messages": [{{"role": "user", "content": "hello"}}]}}'
""",
        flush=True,
    )
