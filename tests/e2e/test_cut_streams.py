"""The errors that the SDKs raise when a stream is cut. The example catches all of them."""

import json
import re
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from examples.fake_wires import chat, messages
from tests.e2e.server import ROOT

QUESTION: Any = {"model": "m", "messages": [{"role": "user", "content": "Compare."}]}
# A stream may be cut inside each of these characters.
WORDS = "Grüße 😀"
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


class Cutting(ThreadingHTTPServer):
    """Answers every request with `body`. Without `ends` it hangs up before the body's end."""

    body = b""
    ends = True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Cutting

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if body := self.server.body:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        if self.server.ends:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""


@pytest.fixture
def server() -> Iterator[Cutting]:
    with Cutting(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=["openai", "anthropic"])
def sdk(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def read(sdk: str, server: Cutting) -> type[BaseException] | None:
    """The error that the SDK raises while it reads a stream."""
    url = f"http://127.0.0.1:{server.server_port}"
    stream: Iterable[Any]
    if sdk == "openai":
        with openai.OpenAI(base_url=url, api_key="none") as client:
            stream = client.chat.completions.create(**QUESTION, stream=True)
            return drained(stream)
    with anthropic.Anthropic(base_url=url, api_key="none") as claude:
        stream = claude.messages.create(**QUESTION, max_tokens=9, stream=True)
        return drained(stream)


def drained(stream: Iterable[Any]) -> type[BaseException] | None:
    try:
        for _ in stream:
            pass
    except Exception as error:
        return type(error)
    return None


def body(sdk: str) -> bytes:
    _, events = {"openai": chat, "anthropic": messages}[sdk](QUESTION)
    return "".join(events).replace("Let me read both.", WORDS).encode()


def caught() -> tuple[type[BaseException], ...]:
    """The errors that the example catches, as its source says."""
    source = (ROOT / "examples" / "agent_loop.py").read_text()
    [errors] = re.findall(r"^BROKEN = (.*)$", source, re.MULTILINE)
    found: tuple[type[BaseException], ...] = eval(errors)
    return found


def test_a_connection_that_is_lost_is_an_error_of_openai_or_of_the_client(
    sdk: str, server: Cutting
) -> None:
    whole, server.ends = body(sdk), False
    lost = {"openai": openai.APIConnectionError, "anthropic": httpx2.RemoteProtocolError}[sdk]
    for end in range(0, len(whole), 50):
        server.body = whole[:end]
        assert read(sdk, server) is lost
    assert issubclass(lost, caught())


def test_a_body_that_ends_early_is_no_error_but_inside_a_character(
    sdk: str, server: Cutting
) -> None:
    whole = body(sdk)
    words = whole.index(WORDS.encode())
    for end in range(words, words + len(WORDS.encode())):
        server.body = whole[:end]
        is_whole = server.body.decode(errors="ignore").encode() == server.body
        assert read(sdk, server) is (None if is_whole else UnicodeDecodeError)
    assert issubclass(UnicodeDecodeError, caught())


def test_an_event_that_is_an_error_is_one_of_the_sdk(sdk: str, server: Cutting) -> None:
    server.body = body(sdk).partition(b"\n\n")[0] + b"\n\n"
    server.body += f"event: error\ndata: {json.dumps(ERROR)}\n\n".encode()
    expected = {"openai": openai.APIError, "anthropic": anthropic.APIStatusError}[sdk]
    assert read(sdk, server) is expected
    assert issubclass(expected, caught())
