"""Asking a running service, with nothing but the standard library."""

import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

from .. import __version__
from ..settings import SettingsError
from .asking import PAUSE, Refused, Told, looked_at
from .json_io import read_json

# Seconds until the next bytes of a response, and of events: a service shows now and then that it
# lives.
_PATIENCE = 60.0
# Seconds until a service that is gone is given up.
_GONE = 30.0


class Service:
    """A service at an address."""

    def __init__(self, url: str, key: str | None = None) -> None:
        try:
            parsed = urlsplit(url)
            self._port, self._host = parsed.port, parsed.hostname or ""
        except ValueError:
            raise SettingsError(_BAD_URL) from None
        if parsed.scheme not in ("http", "https") or not self._host or parsed.username is not None:
            raise SettingsError(_BAD_URL)
        if key is not None and not (key.isascii() and key.isprintable()):
            raise SettingsError("the API key must be the text that `turnkeep keys create` printed")
        self._url, self._key, self._scheme = url.rstrip("/"), key, parsed.scheme
        self._path = parsed.path.rstrip("/")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Each question has a connection of its own."""

    def conversations(self, metadata: Sequence[tuple[str, str]] = (), **wish: Any) -> Told:
        for key, value in metadata:
            wish.setdefault(f"metadata.{key}", []).append(value)
        return self.get("/v1/conversations", "data", **wish)

    def conversation(self, cid: str) -> Told:
        return self.get(_of(cid), "version")

    def turns(self, cid: str, **page: Any) -> Told:
        return self.get(f"{_of(cid)}/turns", "data", **page)

    def turn(self, cid: str, turn_id: str) -> Told:
        return self.get(f"{_of(cid)}/turns/{_segment(turn_id)}", "blocks")

    def tool_calls(self, cid: str, **page: Any) -> Told:
        return self.get(f"{_of(cid)}/tool-calls", "data", **page)

    def lookup(self, **wish: Any) -> Told:
        return self.get("/v1/tool-calls/lookup", "data", **wish)

    def replay(self, cid: str, **options: Any) -> Told:
        return self.get(f"{_of(cid)}/replay", "request", **options)

    def verify(self, cid: str) -> Told:
        return self.get(f"{_of(cid)}/verify", "problems")

    def versions(self, cid: str, after: int) -> Iterator[int]:
        """By the events of the service; a service that has none is looked at again and again."""
        known, since = after, time.monotonic()
        while True:
            try:
                for version in self._events(cid, known):
                    known, since = version, time.monotonic()
                    yield version
            except Refused as refused:
                if refused.code == "no_such_path":
                    yield from looked_at(lambda: self.conversation(cid)["version"], known)
                # A service that is started again goes on where it was.
                if refused.code != "unreachable" or time.monotonic() - since > _GONE:
                    raise
            time.sleep(PAUSE)

    def _events(self, cid: str, after: int) -> Iterator[int]:
        with self._asked(f"{_of(cid)}/events", {"after": after}, "text/event-stream") as response:
            event = ""
            for line in response:
                name, colon, value = line.decode("utf-8", "replace").strip("\r\n").partition(":")
                if name == "event":
                    event = value.strip()
                elif name == "data" and event == "version":
                    yield int(read_json(value)["version"])
                elif not name and not colon:
                    if event == "erased":
                        gone = f"Conversation {cid!r} was erased. POST /"
                        raise Refused("conversation_not_found", gone)
                    event = ""

    def get(self, path: str, member: str, /, **params: Any) -> Told:
        """`member`: what a Turnkeep would tell; others answer, too."""
        with self._asked(path, params, "application/json") as response:
            told = read_json(response.read().decode())
            _ = told[member]
            return told

    @contextmanager
    def _asked(self, path: str, params: Told, accept: str) -> Iterator[HTTPResponse]:
        connection = self._connection()
        headers = {"Accept": accept, "User-Agent": f"turnkeep/{__version__}"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request("GET", f"{self._path}{path}{_query(params)}", headers=headers)
            response = connection.getresponse()
            if response.status != 200:
                raise self._problem(response)
            yield response
        except (OSError, HTTPException) as error:
            raise Refused("unreachable", self._why(error)) from None
        except (ValueError, KeyError):
            raise self._stranger() from None
        finally:
            connection.close()

    def _connection(self) -> HTTPConnection:
        if self._scheme == "http":
            return HTTPConnection(self._host, self._port, timeout=_PATIENCE)
        trusted = ssl.create_default_context()
        return HTTPSConnection(self._host, self._port, timeout=_PATIENCE, context=trusted)

    def _problem(self, response: HTTPResponse) -> Refused:
        told = read_json(response.read().decode())
        after = response.headers.get("Retry-After")
        hint = f" Try again in {after} s." if after else ""
        return Refused(str(told["code"]), f"{told['detail']}{hint}")

    def _stranger(self) -> Refused:
        return Refused(
            "stranger",
            f"what {self._url} answers is not from a Turnkeep; --url must be the address of one,"
            " like http://127.0.0.1:8420",
        )

    def _why(self, error: Exception) -> str:
        match error:
            case ConnectionRefusedError():
                return (
                    f"nothing listens at {self._url}. Start the service with `turnkeep serve`, name"
                    " another one with --url, or read its database with --database-url"
                )
            case socket.gaierror():
                return f"the host {self._host!r} of --url is unknown: {error.strerror}"
            case ssl.SSLCertVerificationError():
                return (
                    f"the certificate of {self._url} is not trusted: {error.verify_message}."
                    " SSL_CERT_FILE names a file of certificates that are"
                )
            case ssl.SSLError():
                return f"{self._url} does not speak TLS; should --url begin with http:// ?"
            case TimeoutError():
                return f"{self._url} says nothing; is it the right address, and is it well?"
            case OSError():
                return f"{self._url} cannot be reached: {error.strerror or error}"
            case _:
                return f"{self._url} ended the connection, or does not speak HTTP; try again"


_BAD_URL = (
    "--url must be the address of a service, like http://127.0.0.1:8420 (its value is not shown: it"
    " may hold a password)"
)


def _of(cid: str) -> str:
    return f"/v1/conversations/{_segment(cid)}"


def _segment(name: str) -> str:
    return quote(name, safe="", errors="replace")


def _query(params: Told) -> str:
    given = {name: value for name, value in params.items() if value not in (None, False)}
    words = {name: "true" if value is True else value for name, value in given.items()}
    text = urlencode(words, doseq=True, errors="replace")
    return f"?{text}" if text else ""
