"""A client's connection: uvicorn's own, which bounds neither heads nor time nor its number.

A client that takes too long for a head or a body is told so (408) and let go. A stream has as much
time as it needs, as long as something comes now and then; so has a response, as long as the client
takes something of it: until then it is held in memory.
"""

import logging
import sys
from contextlib import suppress
from dataclasses import dataclass
from fcntl import ioctl
from math import inf
from termios import TIOCOUTQ
from typing import Any

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from ..model.errors import Unavailable
from .middleware import STOPPING, Measured
from .problems import REFUSALS, not_http, problem

_log = logging.getLogger("turnkeep")
_HEADERS = 100
# Seconds between two looks at the time.
_TICK = 1
# Seconds for requests that come when the service begins to stop.
_LINGER = 1
# Seconds for requests to end then. What has not arrived by then is answered with 503; live streams
# are stored as far as they came. Docker kills after ten.
PATIENCE = 5
# Bytes of a response that the server holds, which nobody counts. With the default, 64 KiB, it goes
# round its loop for every piece of a long one; with more, clients that read nothing take more.
_WRITTEN = 256 * 1024
_CLOSE = {"Connection": "close"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one connection, and for all of a process."""

    connections: int
    head_bytes: int
    head_seconds: int
    body_seconds: int
    silence_seconds: int
    unread_seconds: int


class Connection(HttpToolsProtocol):
    def __init__(self, bounds: Bounds, **given: Any) -> None:
        super().__init__(**given)
        self.bounds = bounds
        self.serving = self.app
        self.stopping = False
        # Whether a part of a request has come, and when the rest must be there.
        self.begun = False
        self.deadline = inf
        self.is_stream = False
        # Bytes that have come since the parser told of anything but a header.
        self.untold = 0
        # Bytes that the client has not taken, and when it last took any.
        self.unread = 0
        self.taken = 0.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=_WRITTEN)
        if len(self.connections) > 2 * self.bounds.connections:
            transport.abort()
        else:
            self._wait_for_head()
            self._look()

    def _look(self) -> None:
        if self._is_unread():
            self.transport.abort()
        is_closing = self.transport.is_closing()
        if is_closing and not self.unread:
            return
        # While nothing is read, it is not the client who is slow.
        if not is_closing and self.loop.time() > self.deadline and not self.flow.read_paused:
            self._let_go()
        self.loop.call_later(_TICK, self._look)

    def _is_unread(self) -> bool:
        """Whether the client has taken nothing of its response for too long."""
        before, self.unread = self.unread, self._untaken()
        if not self.unread or self.unread < before:
            self.taken = self.loop.time()
        return self.loop.time() > self.taken + self.bounds.unread_seconds

    def _untaken(self) -> int:
        """The bytes of responses that the client has not taken, here and in the system: it takes
        long until a slow one makes room for more of ours."""
        size = self.transport.get_write_buffer_size()
        socket = self.transport.get_extra_info("socket")
        if not size or socket is None:
            return size
        with suppress(OSError):
            held = ioctl(socket.fileno(), TIOCOUTQ, bytes(4))
            size += int.from_bytes(held, sys.byteorder)
        return size

    def resume_writing(self) -> None:
        self.taken = self.loop.time()
        super().resume_writing()

    def _let_go(self) -> None:
        if self.begun:
            detail = "The request must arrive faster. Send it again as a whole."
            self._refuse(problem(408, "too_slow", "The request did not arrive in time", detail))
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        self.untold += len(data)
        if self.deadline == inf:
            self._wait_for_head()
        super().data_received(data)
        if self.untold > self.bounds.head_bytes and not self.transport.is_closing():
            self._refuse(self._head_too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.begun = True
        self._wait_for_head()

    def on_headers_complete(self) -> None:
        self.is_stream = b"/turns/stream" in self.url
        self._wait_for_body()
        refused = self._refusal()
        self.untold = 0
        self.app = Measured(refused) if refused else self.serving
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self.untold = 0
        if self.is_stream:
            self._wait_for_body()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.untold = 0
        self.begun = False
        self.deadline = inf
        super().on_message_complete()

    def _wait_for_head(self) -> None:
        self.deadline = self.loop.time() + self.bounds.head_seconds

    def _wait_for_body(self) -> None:
        bounds = self.bounds
        seconds = bounds.silence_seconds if self.is_stream else bounds.body_seconds
        self.deadline = self.loop.time() + seconds

    def _refusal(self) -> Response | None:
        if self.stopping:
            return _unavailable(STOPPING)
        if len(self.connections) > self.bounds.connections:
            return _unavailable("Too many connections are open. Send this request again.")
        if len(self.headers) > _HEADERS or self._head_size() > self.bounds.head_bytes:
            return self._head_too_large()
        return None

    def _head_size(self) -> int:
        if self.untold <= self.bounds.head_bytes:
            return self.untold
        # What has come may also be of the body.
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _head_too_large(self) -> Response:
        most = f"{self.bounds.head_bytes} bytes and {_HEADERS} lines"
        detail = f"The head of a request must have at most {most}."
        title = "The head of the request is too large"
        return problem(431, "head_too_large", title, detail, headers=_CLOSE)

    def send_400_response(self, msg: str) -> None:
        self._refuse(not_http("The request must be HTTP/1.1 as RFC 9112 describes it."))

    def _refuse(self, response: Response) -> None:
        """Without the application: what it is told is that the client has gone."""
        if not (self._under_way() and self.cycle.response_started):
            response.headers["connection"] = "close"
            lines = [name + b": " + value + b"\r\n" for name, value in response.raw_headers]
            head = STATUS_LINE[response.status_code] + b"".join(lines)
            self.transport.write(head + b"\r\n" + bytes(response.body))
        self.transport.close()

    def shutdown(self) -> None:
        """A request that comes just now is answered: its connection is not cut under it."""
        self.stopping = True
        if self._under_way():
            # Nobody who listens would end by himself.
            if listeners := self.app_state.get("listeners"):
                listeners.end()
            super().shutdown()
        else:
            self.loop.call_later(_LINGER, super().shutdown)
        self.loop.call_later(0.9 * PATIENCE, self._cut)

    def _cut(self) -> None:
        """End a response that its client has not taken: the server would soon do so, and log an
        error for it."""
        is_begun = self._under_way() and self.cycle.response_started
        is_open = not self.transport.is_closing()
        if (is_open and is_begun) or self.transport.get_write_buffer_size():
            _log.warning(
                "a response was cut off: the service stops, and its client had not taken all of it"
            )
            self.transport.abort()

    def _under_way(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete


def _unavailable(detail: str) -> Response:
    response = REFUSALS.response(Unavailable(detail))
    response.headers["connection"] = "close"
    return response
