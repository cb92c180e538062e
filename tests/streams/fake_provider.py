"""A provider on the loopback that plays recordings to the providers' own SDKs.

The address of a recording is `/<its place>/…`; whatever is asked there is answered by it, as a
stream where the request wants one.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.streams.recordings import RECORDINGS
from tests.streams.recordings.forms import aws_frames

_AWS = "application/vnd.amazon.eventstream"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        one = RECORDINGS[int(self.path.split("/")[1])]
        wants_stream = "tream" in self.path or json.loads(body or b"{}").get("stream") is True
        if not wants_stream:
            self._answer("application/json", json.dumps(one.finished).encode())
        elif one.provider == "bedrock":
            self._answer(_AWS, aws_frames(one.stream))
        else:
            self._answer("text/event-stream", one.stream)

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def fake_provider() -> Iterator[str]:
    """Its address, without a slash at the end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def bytes_as_text(value: object) -> str:
    """For dumps of what botocore gives: bytes are base64, as on the wire."""
    assert isinstance(value, bytes)
    return base64.b64encode(value).decode()
