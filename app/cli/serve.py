"""`turnkeep serve`: the service itself."""

import argparse
import os
import sys

import uvicorn

from app.cli.options import add_database, settings_of
from app.settings import LOG_LEVELS, Settings
from app.storage.engines import described, is_sqlite
from app.storage.migrations import current_and_head, upgrade

# Seconds for requests to end when the service stops. Live streams that go on for longer are ended,
# and stored as far as they came.
_PATIENCE = 10


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "serve",
        help="serve on http (migrates an SQLite file by itself)",
        description="Serves the HTTP interface. Every flag is also a variable TURNKEEP_<NAME>.",
    )
    parser.add_argument("--host", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", help="port to listen on (default 8420)")
    parser.add_argument("--workers", help="processes (default 1)")
    parser.add_argument("--log-level", help=f"one of {', '.join(LOG_LEVELS)} (default info)")
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    if not _schema_is_ready(settings):
        return 1
    _announce(settings)
    # Workers are processes of their own; they read their settings from the environment.
    os.environ.update(settings.as_environment())
    uvicorn.run(
        "app.main:create_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_level=settings.log_level,
        timeout_graceful_shutdown=_PATIENCE,
    )
    return 0


def _schema_is_ready(settings: Settings) -> bool:
    if is_sqlite(settings.database_url):
        upgrade(settings.database_url)
        return True
    current, head = current_and_head(settings.database_url)
    if current == head:
        return True
    print(
        f"turnkeep: the schema of {described(settings.database_url)} is at "
        f"{current or 'nothing'}, this release needs {head}.\n"
        "Run this first: turnkeep migrate",
        file=sys.stderr,
    )
    return False


def _announce(settings: Settings) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{settings.port}"
    print(
        f"""Turnkeep serves on   {address}  (pages: {address}/docs)
The data is in       {described(settings.database_url)}
Try this:
  curl -s {address}/v1/conversations/demo/turns -H 'content-type: application/json' \\
    -d '{{"provider": "openai", "messages": [{{"role": "user", "content": "hello"}}]}}'
""",
        flush=True,
    )
