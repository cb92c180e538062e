"""What every route needs: the database, the limits, and which idempotency keys are running."""

from asyncio import sleep
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request, Response
from starlette.types import Receive, Scope, Send

from app.api.indexer import Indexer
from app.core.errors import KeyInFlight
from app.core.json.text import JsonObject, dumps_utf8
from app.core.limits import Limits
from app.service.kept import Renders
from app.storage.database import Database
from app.storage.store import ReadStore


@dataclass
class Context:
    database: Database
    limits: Limits
    renders: Renders
    indexer: Indexer
    allow_unsafe: bool = False
    running: set[tuple[str, str]] = field(default_factory=set)
    # Streams that arrive now. When the service stops, they are stored as far as they came.
    streams: int = 0

    async def respond(self, query: Callable[[ReadStore], JsonObject | bytes]) -> Response:
        """The response that a query gives."""
        return json_response(await self.database.read(query))

    @contextmanager
    def streaming(self) -> Iterator[None]:
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1

    async def streams_ended(self, seconds: float = 5) -> None:
        """Waits until no stream arrives any more, but not for ever."""
        for _ in range(int(seconds * 100)):
            if not self.streams:
                return
            await sleep(0.01)

    @contextmanager
    def claim(self, conversation_id: str, key: str | None) -> Iterator[None]:
        """Holds a key while its request runs; a second request with it is told to wait."""
        if key is None:
            yield
            return
        mark = (conversation_id, key)
        if mark in self.running:
            raise KeyInFlight(key)
        self.running.add(mark)
        try:
            yield
        finally:
            self.running.discard(mark)


async def _context(request: Request) -> Context:
    return cast(Context, request.app.state.context)


Here = Annotated[Context, Depends(_context)]


class Pieces(Response):
    """A JSON body that is sent in pieces: the long ones are not copied."""

    media_type = "application/json"

    def __init__(self, pieces: Sequence[bytes], headers: dict[str, str]) -> None:
        self.pieces = pieces
        length = str(sum(map(len, pieces)))
        super().__init__(headers={**headers, "Content-Length": length})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        for left, piece in zip(range(len(self.pieces) - 1, -1, -1), self.pieces, strict=True):
            await send({"type": "http.response.body", "body": piece, "more_body": left > 0})


def json_response(
    value: JsonObject | bytes, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    content = value if isinstance(value, bytes) else dumps_utf8(value)
    return Response(content, status, headers, "application/json")
