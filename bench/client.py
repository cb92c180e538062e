"""One client that takes the time of single requests, over a raw socket that stays open."""

import json
import socket
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any

MOST = 64 * 1024 * 1024
# Uvicorn hangs up on who says nothing for 5 seconds.
_IDLE_SECONDS = 2


@dataclass(frozen=True)
class Reply:
    status: int
    head: bytes
    body: bytes
    ms: float

    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str:
        line = self.head.lower().partition(f"\r\n{name.lower()}:".encode())[2]
        return line.partition(b"\r\n")[0].strip().decode()


class Refused(AssertionError):
    """The reply was no success."""


class Client:
    """Asks and waits. A reply that is no success is an error: its time would mean nothing."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connect()
        self._buffer = bytearray(MOST)
        # A buffer that was never touched would cost its first reader page faults.
        self._buffer[:] = b"\1" * MOST

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._socket.close()

    def get(self, path: str, *headers: str) -> Reply:
        return self._ask("GET", path, b"", headers)

    def post(self, path: str, body: bytes) -> Reply:
        return self._ask("POST", path, body, ("Content-Type: application/json",))

    def _connect(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._used = time.monotonic()

    def _ask(self, method: str, path: str, body: bytes, headers: tuple[str, ...]) -> Reply:
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
        head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode()
        if time.monotonic() - self._used > _IDLE_SECONDS:
            self._socket.close()
            self._connect()
        begun = time.perf_counter()
        self._socket.sendall(head + body)
        end, size = self._received()
        ms = (time.perf_counter() - begun) * 1000
        self._used = time.monotonic()
        reply_head = bytes(self._buffer[:end])
        reply = Reply(int(reply_head[9:12]), reply_head, bytes(self._buffer[end + 4 : size]), ms)
        if reply.status >= 400:
            raise Refused(f"{method} {path}: {reply.status} {reply.body[:500]!r}")
        return reply

    def _received(self) -> tuple[int, int]:
        """Where the head ends, and how much has come in all."""
        view, size, end = memoryview(self._buffer), 0, -1
        while end < 0:
            size += self._more(view[size:])
            end = self._buffer.find(b"\r\n\r\n", 0, size)
        head = bytes(self._buffer[:end]).lower()
        length = head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0].strip()
        whole = end + 4 + int(length or 0)
        while size < whole:
            size += self._more(view[size:])
        return end, size

    def _more(self, room: memoryview) -> int:
        count = self._socket.recv_into(room)
        if not count:
            raise ConnectionError("the server hung up")
        return count
