"""The load generator where there is no wrk: one loop over raw sockets, and nothing parsed twice.

`python -m bench.raw_client URL CLIENTS SECONDS METHOD PATH BODIES MARK CONVERSATIONS FIRST` prints
what `load.lua` prints.
"""

import json
import selectors
import socket
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit


def requests(arguments: list[str]) -> Iterator[bytes]:
    """The requests, each with a number that no other has."""
    method, path, bodies, mark, conversations, first = arguments
    lines = Path(bodies).read_bytes().splitlines()
    for number in count(int(first) + 1):
        body = b""
        if lines:
            body = lines[number % len(lines)].replace(mark.encode(), str(number).encode())
        where = path.replace(mark, str(number % int(conversations)))
        head = f"{method} {where} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        yield f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Connection:
    """One client: it sends a request when the last was answered."""

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begun = 0.0
        self.failed = False
        self._head = b""
        self._missing = -1

    def ask(self, request: bytes) -> None:
        self.begun = time.perf_counter()
        self._head, self._missing = b"", -1
        self.socket.sendall(request)

    def is_answered(self, buffer: bytearray) -> bool:
        """Takes what has come; true when it was the rest."""
        size = self.socket.recv_into(buffer)
        if not size:
            raise ConnectionError("the server hung up")
        if self._missing >= 0:
            self._missing -= size
            return self._missing == 0
        self._head += buffer[:size]
        end = self._head.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = self._head[:end].lower()
        self.failed = head[9:10] != b"2"
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        self._missing = end + 4 + length - len(self._head)
        return self._missing == 0


def main() -> None:
    url, clients, seconds, *given = sys.argv[1:]
    address, todo = urlsplit(url), requests(given)
    selector = selectors.DefaultSelector()
    buffer = bytearray(1 << 20)
    times: list[float] = []
    failed = 0
    for _ in range(int(clients)):
        one = Connection(address.hostname or "", address.port or 0)
        selector.register(one.socket, selectors.EVENT_READ, one)
        one.ask(next(todo))
    begun = time.perf_counter()
    while time.perf_counter() - begun < float(seconds):
        for key, _ in selector.select(1):
            connection: Connection = key.data
            if connection.is_answered(buffer):
                times.append(time.perf_counter() - connection.begun)
                failed += connection.failed
                connection.ask(next(todo))
    print(json.dumps(_summary(times, time.perf_counter() - begun, failed)))


def _summary(times: list[float], seconds: float, failed: int) -> dict[str, float]:
    p99 = quantiles(times, n=100)[98] if len(times) > 1 else max(times, default=0)
    return {
        "requests": len(times),
        "seconds": seconds,
        "failed": failed,
        "median_ms": median(times) * 1000 if times else 0,
        "p99_ms": p99 * 1000,
    }


if __name__ == "__main__":
    main()
