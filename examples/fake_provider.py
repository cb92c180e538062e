"""A provider on the loopback for two SDKs, plain and streamed. It breaks off the first streams of
each wire."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from examples.fake_wires import Refused, chat, messages

_WIRES = {"/v1/chat/completions": chat, "/v1/messages": messages}


class FakeProvider(ThreadingHTTPServer):
    """`breaks`: how many streams of each wire end after as many events as `after` says.
    `overloaded`: every request is answered with 503."""

    def __init__(self, breaks: int, after: int, *, overloaded: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.breaks = dict.fromkeys(_WIRES, breaks)
        self.after = after
        self.overloaded = overloaded
        # The paths of all requests, in order.
        self.requests: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeProvider

    def do_POST(self) -> None:
        self.server.requests.append(self.path)
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.overloaded:
            self._error(503, "overloaded_error", "Overloaded")
            return
        try:
            response, events = _WIRES[self.path](request)
        except Refused as error:
            self._error(400, "invalid_request_error", str(error))
            return
        if request.get("stream"):
            self._stream(events)
        else:
            self._answer(200, response)

    def _error(self, status: int, kind: str, message: str) -> None:
        self._answer(status, {"error": {"type": kind, "message": message}})

    def _answer(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, events: list[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        breaks = self.server.breaks[self.path] > 0
        self.server.breaks[self.path] -= 1
        for event in events[: self.server.after] if breaks else events:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event.encode()), event.encode()))
        if breaks:
            # The connection is closed without the empty chunk that ends a body.
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""


@contextmanager
def fake_provider(
    breaks: int = 1, after: int = 2, *, overloaded: bool = False
) -> Iterator[FakeProvider]:
    """A provider, while it serves."""
    with FakeProvider(breaks, after, overloaded=overloaded) as provider:
        thread = Thread(target=provider.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield provider
        finally:
            provider.shutdown()
            thread.join()
