"""The composition root: settings, database and routes become one application."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from threading import Lock
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from . import __version__
from .access.http import Access
from .audit import http as tool_calls
from .conversations import http as conversations
from .convert import http as convert
from .database.database import Database
from .database.process import can_fork
from .edge import health
from .edge.context import Context, Room
from .edge.guard import Guarded, allowed_hosts, is_loopback
from .edge.middleware import REGISTRY, Headed, Measured, WriterNumbers
from .edge.problems import HANDLERS, REFUSALS
from .edge.sending import Sent
from .events.listening import Listeners
from .pages import assets, docs, login, replays
from .pages import conversation_list as lists
from .pages import conversation_page as conversation
from .replay import http as replay
from .replay.kept import Renders
from .search.indexer import Indexer
from .settings import Settings, from_environment
from .tools import http as tools
from .turns import http as turns
from .upkeep.sweeper import forget, sweep

# Seconds for what goes on in the background to end when the service stops.
_LAST = 3.0
# Seconds for what is being written or read after its clients were told that nobody waits for it.
_WRITTEN = 1.0
_DESCRIBING = Lock()
_DESCRIPTION = """
Keeps the conversations of agents and serves them back, valid, for any provider.

POST turns in whatever shape your provider speaks; GET them replayed for another one. Every error is
an RFC 9457 problem with a stable `code`. `HEAD` is answered wherever `GET` is. Any request may be
refused by its head alone: 403, 408, 415, 421 and 431. Where the service is used with API keys, send
one: `Authorization: Bearer tk_…`.

Limits: head {head_bytes:,} bytes · body {body_bytes:,} bytes · stream {stream_bytes:,} bytes ·
{turns:,} turns a POST · {blocks:,} blocks a turn · {calls:,} tool calls and results a POST ·
with `mode=sync` {synced_messages:,} messages, {synced_calls:,} tool calls and results in them ·
{json_values:,} JSON values (commas and opening brackets outside of strings) · JSON depth {depth} ·
{tools:,} tools with {schema_nodes:,} values in their schemas together · raw id {raw_id_bytes:,}
bytes · model {model_bytes:,} bytes · metadata of a POST {metadata_bytes:,} bytes · integers
{integer_digits:,} digits.
"""


class Described(FastAPI):
    """Its OpenAPI page is made by one thread, and the others wait for it: FastAPI makes it on first
    use, and two threads that make it together trip over each other."""

    def openapi(self) -> dict[str, Any]:
        with _DESCRIBING:
            if not self.openapi_schema:
                described = super().openapi()
                keys = {"type": "http", "scheme": "bearer", "description": "An API key."}
                described.setdefault("components", {})["securitySchemes"] = {"key": keys}
                # Also without a key: a service that has none takes none.
                described["security"] = [{"key": []}, {}]
            return super().openapi()


def create_app(settings: Settings | None = None, *, forks: bool = False) -> FastAPI:
    """The application. Without settings it reads the environment, as workers do. `forks`: nobody
    else uses this process, so that it may be forked."""
    settings = settings or from_environment()
    limits = settings.limits

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Listeners]]:
        database = Database(
            settings.database_url,
            pg_prepared_statements=settings.pg_prepared_statements,
            pg_writers=settings.pg_writers,
            search=settings.search,
            expires_after=settings.expires_after or None,
        )
        if forks and settings.writer_processes and can_fork():
            database.fork_writers()
        numbers = WriterNumbers(database)
        REGISTRY.register(numbers)
        indexer = Indexer(database)
        renders = Renders(settings.render_memory)
        access = Access(database, may_be_open=is_loopback(settings.host), workers=settings.workers)
        bodies = Room(
            settings.body_memory, "Too many large bodies arrive at once. Send this one again."
        )
        listeners = Listeners(database, access, settings.listeners)
        context = app.state.context = Context(
            database, limits, renders, indexer, access, bodies, listeners, settings.allow_unsafe
        )
        indexing = asyncio.create_task(indexer.run()) if settings.search else None
        sweeping = asyncio.create_task(sweep(database, settings.keep_keys))
        forgetting = asyncio.create_task(forget(database, renders, bodies))
        listening = asyncio.create_task(listeners.run())
        try:
            # The connections tell them when the service stops.
            yield {"listeners": listeners}
        finally:
            tasks = [task for task in (indexing, sweeping, forgetting, listening) if task]
            for task in tasks:
                task.cancel()
            await context.all_written()
            await asyncio.wait(tasks, timeout=_LAST)
            REFUSALS.tell_rest()
            REGISTRY.unregister(numbers)
            database.close(_WRITTEN)

    app = Described(
        title="Turnkeep",
        version=__version__,
        description=_DESCRIPTION.format(**asdict(limits)),
        lifespan=lifespan,
        exception_handlers=HANDLERS,
        # Their pages would fetch scripts from another host; ours are in `pages`.
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if settings.docs else None,
        # They would name the host that the request names.
        redirect_slashes=False,
        # Each request would look whether somebody wants it, and nobody can be told.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    origins = settings.cors_origins.lower().replace(",", " ").split()
    hosts = allowed_hosts(settings.host, settings.allowed_hosts.replace(",", " ").split())
    # The innermost: the routes tell their names to it.
    app.add_middleware(Sent, room=settings.response_memory)
    app.add_middleware(Guarded, hosts=hosts, origins=frozenset(origins))
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],
            expose_headers=["ETag", "Idempotent-Replayed", "Location", "Retry-After"],
        )
    app.add_middleware(Headed)
    app.add_middleware(Measured)
    # One list: an included router matches every path twice. What is asked for most comes first: the
    # routes are tried in turn.
    shown = [turns, replay, conversations, tools, tool_calls, convert, health]
    seen = [lists, conversation, replays, assets, login] * settings.pages
    for resource in shown + [docs] * settings.docs + seen:
        app.router.routes.extend(resource.router.routes)
    return app


def serving() -> FastAPI:
    """The application of a process that does nothing else."""
    app = create_app(forks=True)
    # What is there now stays: nobody need look through it for garbage again.
    gc.freeze()
    gc.enable()
    # Nearly all of a request goes without being looked for, if nobody looks while it is answered.
    # What has lived for a while is looked through by `forget`, and not while a large body is read:
    # Python's lock is held meanwhile.
    gc.set_threshold(5_000, 5, 2**31 - 1)
    # Large bodies are read on threads. The loop need not wait as long for its turn as is usual.
    sys.setswitchinterval(0.001)
    return app
