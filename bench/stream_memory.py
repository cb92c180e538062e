"""How much memory a long stream takes: `python -m bench.stream_memory [MEGABYTES]`.

A server of its own gets one stream whose single call has one very long argument. Printed is by how
much the server's memory grew at its highest, beside the bytes that were stored.
"""

import json
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from app.database.packing import unpacked_piece
from tests.e2e.server import Server, serving

MEGABYTE = 1024 * 1024
PIECE = 16 * 1024


def events(size: int) -> Iterator[bytes]:
    """Chat chunks of one call, about `size` bytes of them."""
    yield _chunk({"index": 0, "id": "call_1", "function": {"name": "f", "arguments": '{"a":"'}})
    piece = _chunk({"index": 0, "function": {"arguments": "x" * PIECE}})
    for _ in range(size // len(piece)):
        yield piece
    yield _chunk({"index": 0, "function": {"arguments": '"}'}})
    yield b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'


def _chunk(call: object) -> bytes:
    choice = {"index": 0, "delta": {"tool_calls": [call]}}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


def highest(server: Server) -> int:
    """The most memory the server has had, in bytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def send(server: Server, pieces: Iterator[bytes], path: str) -> int:
    """Posts a body in pieces; gives the status of the answer."""
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=600) as sock:
        sock.sendall(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/event-stream\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        try:
            for piece in pieces:
                sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            sock.sendall(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            # Refused before it was all sent; the answer is there to be read.
            pass
        return int(sock.makefile("rb").readline().split()[1])


def stored(database: Path) -> int:
    """The bytes of the pieces, unpacked: what is stored of long turns."""
    with sqlite3.connect(database) as connection:
        pieces = connection.execute("SELECT data FROM turn_pieces")
        return sum(len(unpacked_piece(data)) for (data,) in pieces)


def measured(size: int, most: int | None) -> tuple[int, int, int]:
    """Status, growth and stored bytes for a stream of this size under this limit."""
    path = "/v1/conversations/{}/turns/stream?provider=openai"
    limit = {} if most is None else {"TURNKEEP_MAX_STREAM_BYTES": str(most)}
    with tempfile.TemporaryDirectory() as folder:
        with serving(Path(folder), environment=limit) as server:
            send(server, events(PIECE), path.format("warm"))
            before = highest(server)
            status = send(server, events(size), path.format("c1"))
            grown = highest(server) - before
        return status, grown, stored(Path(folder) / "turnkeep.db")


def main() -> None:
    size = int(sys.argv[1] if len(sys.argv) > 1 else 200) * MEGABYTE
    for most in (None, 2 * size):
        status, grown, kept = measured(size, most)
        named = "default" if most is None else f"{most // MEGABYTE} MB"
        print(
            f"stream {size // MEGABYTE} MB, limit {named}: status {status},"
            f" stored {kept / MEGABYTE:.1f} MB, grown by {grown / MEGABYTE:.1f} MB"
        )


if __name__ == "__main__":
    main()
