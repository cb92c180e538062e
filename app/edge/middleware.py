"""What goes around all routes: `HEAD` wherever there is `GET`, and what Prometheus reads."""

import time
from asyncio import CancelledError
from collections.abc import Iterable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..database.database import Database
from ..model.errors import Unavailable
from .problems import REFUSALS

STOPPING = "The service is stopping. Send this request again."
REGISTRY = CollectorRegistry()
_REQUESTS = Counter(
    "turnkeep_requests", "Requests answered", ["method", "route", "status"], registry=REGISTRY
)
_SECONDS = Histogram(
    "turnkeep_request_seconds", "Time to answer", ["method", "route"], registry=REGISTRY
)


class Measured:
    """ASGI middleware: counts every request under the route's template, never under its ids."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status: int | None = None

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except CancelledError:
            # The service waits no longer for what the client has yet to send.
            if status is not None:
                raise
            await REFUSALS.response(Unavailable(STOPPING))(scope, receive, noted)
        except Exception:
            # The response to what nobody expected is made outside of this.
            status = status or 500
            raise
        finally:
            route = getattr(scope.get("route"), "path", "unknown")
            # Without a response the client has hung up.
            count, seconds = _meters(scope["method"], route, str(status or 499))
            count.inc()
            seconds.observe(time.perf_counter() - started)


@cache
def _meters(method: str, route: str, status: str) -> tuple[Counter, Histogram]:
    """What such a request is counted with; to look it up takes longer than to count."""
    return _REQUESTS.labels(method, route, status), _SECONDS.labels(method, route)


class WriterNumbers(Collector):
    """The writer's own counters, read when somebody asks."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def collect(self) -> Iterable[Metric]:
        counts = self.database.counts()
        for name, text, value in (
            ("turnkeep_commits", "Transactions committed", counts.commits),
            ("turnkeep_commands", "Commands taken by the writer", counts.commands),
            ("turnkeep_retries", "Commands tried again", counts.retries),
            ("turnkeep_unavailable", "Commands given up", counts.unavailable),
        ):
            family = CounterMetricFamily(name, text)
            family.add_metric([], value)
            yield family


class Headed:
    """ASGI middleware: asks the routes for `GET`, and keeps the body to itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # A copy, because the server goes by the method of its own scope when it counts the body.
        asked = {**scope, "method": "GET", "head": True}
        try:
            await self.app(asked, receive, without_body)
        finally:
            # The route is what the metrics count under.
            scope["route"] = asked.get("route")
