"""A provider on the loopback that plays recordings to the providers' own SDKs.

The address of a recording is `/<its place>/…`; whatever is asked there is answered by it, as a
stream where the request wants one.
"""

import base64
import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from zlib import crc32

from tests.streams.recordings import RECORDINGS, Recording

_AWS = "application/vnd.amazon.eventstream"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        one = RECORDINGS[int(self.path.split("/")[1])]
        wants_stream = "tream" in self.path or json.loads(body or b"{}").get("stream") is True
        if not wants_stream:
            self._answer("application/json", json.dumps(one.finished).encode())
        elif one.provider == "bedrock":
            self._answer(_AWS, aws_frames(one))
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


def aws_frames(one: Recording) -> bytes:
    """The events of a recording in the binary frames of AWS."""
    return b"".join(_frame(json.loads(line)) for line in one.stream.splitlines())


def _frame(event: dict[str, Any]) -> bytes:
    # Lengths of all and of the headers, their checksum; headers; payload; checksum of all.
    ((name, payload),) = event.items()
    failed = name.endswith("Exception")
    kinds = {
        ":message-type": "exception" if failed else "event",
        ":exception-type" if failed else ":event-type": name,
        ":content-type": "application/json",
    }
    headers = b"".join(_header(key, value) for key, value in kinds.items())
    body = json.dumps(payload).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack("!I", crc32(prelude)) + headers + body
    return message + struct.pack("!I", crc32(message))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return bytes([len(key)]) + key + b"\x07" + struct.pack("!H", len(text)) + text


def bytes_as_text(value: object) -> str:
    """For dumps of what botocore gives: bytes are base64, as on the wire."""
    assert isinstance(value, bytes)
    return base64.b64encode(value).decode()
