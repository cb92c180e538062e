"""Large responses: how many of their bytes may wait for clients that do not take them."""

from contextlib import ExitStack, closing

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..model.errors import TurnkeepError, Unavailable
from ..model.large import SHORT
from .context import SCOPE_TENANT, Place, Room
from .problems import HANDLERS

# Large pieces are handed to the server in slices. It holds two at most; the rest waits here, where
# it is counted.
_SLICE = 4 * SHORT


class Sent:
    """ASGI middleware: large responses have room for so many bytes together until they are taken.

    What writes is answered in any case: it is stored by then. A response that is kept, and sent to
    several clients, counts for each of them.
    """

    def __init__(self, app: ASGIApp, room: int) -> None:
        self.app = app
        self.room = Room(room, "Too many large responses wait to be read. Ask again.")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _may_be_refused(scope):
            await self.app(scope, receive, send)
            return
        refused = False
        with ExitStack() as stack:

            async def taken(message: Message) -> None:
                nonlocal refused
                if message["type"] == "http.response.start" and (size := _length(message)) > SHORT:
                    try:
                        place = Place(self.room, scope.get(SCOPE_TENANT))
                        stack.enter_context(closing(place)).hold(size)
                    except Unavailable as error:
                        refused = True
                        told = await HANDLERS[TurnkeepError](Request(scope), error)
                        await told(scope, receive, send)
                if not refused:
                    await _in_slices(message, send)

            await self.app(scope, receive, taken)


def _may_be_refused(scope: Scope) -> bool:
    path = str(scope["path"])
    return path.startswith("/v1/" if scope["method"] == "GET" else "/v1/convert/")


def _length(start: Message) -> int:
    return next((int(value) for name, value in start["headers"] if name == b"content-length"), 0)


async def _in_slices(message: Message, send: Send) -> None:
    """Each is taken, but for a little, before the next one can be sent."""
    body = message.get("body", b"")
    if len(body) <= SHORT:
        await send(message)
        return
    view = memoryview(body)
    for begin in range(0, len(body), _SLICE):
        await send({**message, "body": view[begin : begin + _SLICE], "more_body": True})
    if not message.get("more_body", False):
        await send({**message, "body": b"", "more_body": False})
