"""What every operation needs: the database of who asks, the limits, and which requests run."""

from asyncio import sleep
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, cast

from anyio import CapacityLimiter
from fastapi import Depends, Request, Response
from starlette.types import Receive, Scope, Send

from ..access.http import Access
from ..conversations.commands import has_room
from ..database.database import Database
from ..database.store import ReadStore
from ..events.listening import Listeners
from ..jsontext.writing import dumps_utf8
from ..model.api_keys import ApiKey, KeyScope
from ..model.errors import KeyInFlight, TooMany, Unavailable
from ..model.forms import CONVERSATION_ID
from ..model.json_values import JsonObject
from ..model.limits import Limits
from ..replay.kept import Renders
from ..search.indexer import Indexer

# Commands that wait to be stored. What would have to wait behind them is refused at once, and so is
# what would have to wait for a writer that is stuck. Fewer than there may be connections.
MOST_WAITING = 512
# Seconds after which somebody who has too many conversations may ask again.
_UNTIL_ROOM = 60


# Where the scope of a request names the tenant whose key it has.
SCOPE_TENANT = "turnkeep.tenant"


class Room:
    """Room for so many bytes together, and how many of them are held now. `full`: what is told
    where there is none."""

    def __init__(self, room: int, full: str) -> None:
        self.room = room
        self.full = full
        self.held = 0
        # By tenants who use keys. One who is slow must not take it from the others.
        self.held_by: Counter[str] = Counter()


class Place:
    """What one body, stream or response takes of the room: of half of it, where it is a tenant's
    who uses a key."""

    def __init__(self, room: Room, tenant_id: str | None) -> None:
        self._room = room
        self._tenant_id = tenant_id
        self._size = 0

    def hold(self, size: int) -> None:
        """Raises `Unavailable` where there is no room; what stands alone may be larger than it."""
        room, whose = self._room, self._tenant_id
        self._check(room.held, size, room.room)
        if whose is not None:
            self._check(room.held_by[whose], size, room.room // 2)
        self._put(size)

    def _check(self, held: int, size: int, most: int) -> None:
        others = held - self._size
        if others and others + size > most:
            raise Unavailable(self._room.full)

    def _put(self, size: int) -> None:
        more, self._size = size - self._size, size
        self._room.held += more
        if (whose := self._tenant_id) is not None:
            self._room.held_by[whose] += more
            if not self._room.held_by[whose]:
                del self._room.held_by[whose]

    def close(self) -> None:
        self._put(0)


@dataclass(frozen=True)
class Context:
    """`key`: that of the request, where the service is used with keys."""

    database: Database
    limits: Limits
    renders: Renders
    indexer: Indexer
    access: Access
    bodies: Room
    listeners: Listeners
    # `/readyz` accepts a database that loses the last commits in a crash.
    allow_unsafe: bool = False
    key: ApiKey | None = None
    # Large bodies are decoded one after the other: each holds Python's lock for a while.
    decoding: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    running: set[tuple[str, str, str]] = field(default_factory=set)
    # What writes now. When the service stops, it is waited for; streams are stored as far as they
    # came.
    writing: set[object] = field(default_factory=set)

    async def admit(
        self, request: Request, scope: KeyScope, cid: str | None
    ) -> "tuple[Request, Context]":
        """What an operation gets, if whoever asks may do this."""
        self.indexer.requests += 1
        if scope != "read":
            self.check_writer(cid)
        key = await self.access.key_of(request)
        if key is None:
            return request, self
        request.scope[SCOPE_TENANT] = key.tenant_id
        request = self.access.check(key, scope, cid, request)
        return request, replace(self, database=self.database.of(key.tenant_id), key=key)

    def check_writer(self, cid: str | None) -> None:
        """Raises `Unavailable` where a command would have to wait for too long."""
        if self.database.waiting() >= MOST_WAITING:
            raise Unavailable("Too many requests wait to be stored.")
        if self.database.is_stuck(cid):
            failure = self.database.failure(cid)
            detail = failure.detail if failure else "Requests wait too long to be stored now."
            raise Unavailable(detail)

    def place(self) -> Place:
        """For the body of a request."""
        return Place(self.bodies, self.key.tenant_id if self.key else None)

    @property
    def prefix(self) -> str:
        """How the ids of all conversations begin that may be seen here."""
        return self.key.prefix if self.key else ""

    async def check_room(self, cid: str) -> None:
        """Raises `TooMany` where a new conversation would be one too many."""
        most = self.key.conversations if self.key else None
        if most is not None and CONVERSATION_ID.fits(cid):
            prefix = self.prefix
            if not await self.database.read(lambda store: has_room(store, cid, prefix, most)):
                raise TooMany("conversations", most, _UNTIL_ROOM)

    async def respond(self, query: Callable[[ReadStore], JsonObject | bytes]) -> Response:
        """The response that a query gives, encoded where it was read."""
        return json_response(await self.database.read(lambda store: encoded(query(store))))

    async def all_written(self) -> None:
        """Waits until nobody writes any more and the responses are sent, but not for ever."""
        # Two and a half seconds.
        for _ in range(250):
            await sleep(0.01)
            if not self.writing:
                return

    @contextmanager
    def claim(self, conversation_id: str, key: str | None) -> Iterator[None]:
        """Holds a key while its request runs; a second request with it is told to wait."""
        if key is None:
            yield
            return
        mark = (self.database.tenant_id, conversation_id, key)
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
    return Response(encoded(value), status, headers, "application/json")


def encoded(value: JsonObject | bytes) -> bytes:
    return value if isinstance(value, bytes) else dumps_utf8(value)
