"""A wire to PostgreSQL that breaks at a chosen moment: before a COMMIT arrives, or after it; or on
which nothing arrives any more."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    """Passes bytes on until it is told to cut; then it cuts once, at the next COMMIT."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        account = parts.netloc.rpartition("@")[0]
        port = self._listener.getsockname()[1]
        # Without encryption, so that we can read along.
        self.url = urlunsplit(
            parts._replace(netloc=f"{account}@127.0.0.1:{port}", query="sslmode=disable")
        )
        self._begun: list[socket.socket] = []
        self.cut: str | None = None
        # How often the server said that it is ready for more.
        self.waits = 0
        # While it is not set, answers of the server stay on their way.
        self.open = threading.Event()
        self.open.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.open.set()
        self._listener.close()
        # A client that gave up while it connected has perhaps not hung up.
        for one in self._begun:
            _hang_up(one)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._begun += (client, server)
                threading.Thread(target=self._answers, args=(server, client), daemon=True).start()
                threading.Thread(target=self._requests, args=(client, server), daemon=True).start()

    def _answers(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                self.open.wait()
                self.waits += data.count(b"Z\0\0\0\5")
                if self.cut == "answer":
                    # The server has committed: it answers only then.
                    self.cut = None
                    break
                client.sendall(data)
        _hang_up(client)
        _hang_up(server)

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                if self.cut in ("before", "after") and b"COMMIT\0" in data:
                    before = self.cut == "before"
                    self.cut = None if before else "answer"
                    if before:
                        break
                server.sendall(data)
        if self.cut != "answer":
            _hang_up(server)
            _hang_up(client)


@contextlib.contextmanager
def cutting_proxy(url: str) -> Iterator[Proxy]:
    proxy = Proxy(url)
    try:
        yield proxy
    finally:
        proxy.close()


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
