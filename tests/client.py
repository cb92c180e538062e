"""Requests of a test client take one step into the thread of the application, not eight.

Starlette's client hands a response over piece by piece, as it comes, and each piece is a change of
threads that costs more than most requests. No test reads a response while it is being made, so here
the application runs to its end and the response is whole.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote

import anyio
from starlette import testclient

# Starlette takes the one of several packages that is installed.
_HTTPX: Any = vars(testclient)["httpx"]


@contextmanager
def in_one_step() -> Iterator[None]:
    """While this is open, all test clients ask so."""
    with patch.object(testclient._TestClientTransport, "handle_request", _handle):
        yield


def _handle(transport: Any, request: Any) -> Any:
    exchange = _Exchange(request)
    scope = {**_scope(request), "root_path": transport.root_path, "client": transport.client}
    scope["state"] = transport.app_state.copy()
    with transport.portal_factory() as portal:
        failure = portal.call(exchange.run, transport.app, scope)
    if failure is not None and transport.raise_server_exceptions:
        raise failure
    assert exchange.status, "the application sent no response"
    shown = b"" if request.method == "HEAD" else b"".join(exchange.body)
    # As a stream, because httpx would say the length of a content itself.
    stream = _HTTPX.ByteStream(shown)
    return _HTTPX.Response(
        exchange.status, headers=exchange.headers, stream=stream, request=request
    )


def _scope(request: Any) -> dict[str, Any]:
    url = request.url
    assert url.scheme == "http", "nothing else is served"
    return {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "path": unquote(url.path),
        "raw_path": url.raw_path.split(b"?", 1)[0],
        "scheme": "http",
        "query_string": url.query,
        "headers": [
            # Starlette's client has a name of its own for the machine that it is on.
            (key.lower().encode(), b"localhost" if v == "testserver" else v.encode())
            for key, v in request.headers.multi_items()
        ],
        "server": [url.raw_host.decode("ascii"), url.port or 80],
        "extensions": {},
    }


class _Exchange:
    """One request and what is sent for it."""

    def __init__(self, request: Any) -> None:
        self.request = request
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.body: list[bytes] = []

    async def run(self, app: Any, scope: dict[str, Any]) -> Exception | None:
        self.is_read, self.ended, self.heard = False, anyio.Event(), anyio.Event()
        try:
            await app(scope, self._receive, self._send)
        except Exception as failure:
            return failure
        return None

    async def _receive(self) -> dict[str, Any]:
        if self.is_read:
            await self.heard.wait()
            return {"type": "http.disconnect"}
        self.is_read = True
        return {"type": "http.request", "body": self.request.read()}

    async def _send(self, message: Any) -> None:
        assert not self.ended.is_set(), "sent after the end of the response"
        if message["type"] == "http.response.start":
            assert not self.status, "a second response"
            self.status = message["status"]
            self.headers = [(key.decode(), value.decode()) for key, value in message["headers"]]
        elif message["type"] == "http.response.body":
            assert self.status, "a body without a response"
            self.body.append(bytes(message.get("body", b"")))
            if not message.get("more_body", False):
                self.ended.set()
                self.heard.set()
            # Events go on for ever; a client that asks in one step hears what comes at once.
            if dict(self.headers).get("content-type", "").startswith("text/event-stream"):
                self.heard.set()
