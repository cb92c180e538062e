"""A provider on the loopback for two SDKs, plain and streamed. Its first stream breaks off."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from examples.fake_wires import Refused, chat, messages

_WIRES = {"/v1/chat/completions": chat, "/v1/messages": messages}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    breaks = 1

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            response, events = _WIRES[self.path](request)
        except Refused as error:
            self._answer(400, {"error": {"type": "invalid_request_error", "message": str(error)}})
            return
        if request.get("stream"):
            self._stream(events)
        else:
            self._answer(200, response)

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
        broken = type(self).breaks > 0
        type(self).breaks -= 1
        for event in events[:2] if broken else events:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event.encode()), event.encode()))
        if broken:
            # Hung up before the empty chunk that ends a body.
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def fake_provider() -> Iterator[str]:
    """Its address, while it serves."""
    handler = type("Handler", (_Handler,), {"breaks": 1})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
