"""Asking a service: whose key, and what is said where it does not answer as it should."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from app.cli import over_http
from tests.cli.conftest import Run, World, served


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Iterator[tuple[str, list[Any]]]:
    """A server that gives every request the same response, and remembers what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, dict(self.headers)))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


PAGE = json.dumps({"data": [], "has_more": False, "next_cursor": None}).encode()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>hello</html>"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b"\xff"),
        (301, b""),
        (404, b"not here"),
        (502, b"<html>Bad Gateway</html>"),
        (500, b'{"detail": "x"}'),
    ],
)
def test_what_is_no_turnkeep_is_told_apart(status: int, body: bytes, run: Run) -> None:
    with answering(status, body, Location="http://127.0.0.1:1/") as (url, _):
        done = run("list", "--url", url)
    assert (done.code, done.out) == (2, "")
    assert "--url must be the address of one" in done.err


def test_a_problem_is_told_with_its_detail(run: Run) -> None:
    problem = {"code": "unavailable", "detail": "The database cannot answer now."}
    with answering(503, json.dumps(problem).encode(), Retry_After="1") as (url, _):
        done = run("list", "--url", url)
    assert done.code == 2
    assert done.err == "turnkeep: The database cannot answer now. Try again in 1 s.\n"


def test_a_problem_moves_no_cursor(run: Run) -> None:
    problem = {"code": "x", "detail": "\x1b[2J"}
    with answering(503, json.dumps(problem).encode()) as (url, _):
        assert run("list", "--url", url).err == "turnkeep: \\x1b[2J\n"


def test_the_key_comes_from_the_environment_or_a_flag(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(200, PAGE) as (url, asked):
        run("list", "--url", url)
        monkeypatch.setenv("TURNKEEP_API_KEY", " tk_from_environment\n")
        run("list", "--url", url)
        run("list", "--url", url, "--key", "tk_flag")
        monkeypatch.setenv("TURNKEEP_URL", f"{url}/below/")
        run("list")
    sent = [headers.get("Authorization") for _, headers in asked]
    assert sent == [
        None,
        "Bearer tk_from_environment",
        "Bearer tk_flag",
        "Bearer tk_from_environment",
    ]
    assert asked[-1][0].startswith("/below/v1/conversations?")


def test_a_database_that_is_named_is_read_whatever_the_environment_says(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(200, PAGE) as (url, asked):
        monkeypatch.setenv("TURNKEEP_URL", url)
        done = run("list", "--database-url", "sqlite:///absent.db")
        assert run("list", "--tenant", "acme").code == 2
    assert "absent.db does not exist" in done.err
    assert asked == []


def test_help_says_where_a_key_is_better_put(run: Run) -> None:
    help_text = " ".join(run("list", "--help").out.split())
    assert "rather put it into TURNKEEP_API_KEY, because others on this machine" in help_text


def test_names_are_one_segment_of_the_path(run: Run) -> None:
    with answering(200, PAGE) as (url, asked):
        run("show", "a:b@c", "--turn", "../../x?y#z", "--url", url)
    assert asked[0][0] == "/v1/conversations/a%3Ab%40c/turns/..%2F..%2Fx%3Fy%23z"


def test_metadata_is_asked_for_by_its_keys(run: Run) -> None:
    with answering(200, PAGE) as (url, asked):
        run("list", "--metadata", "a=1", "--metadata", "a=2", "--metadata", "b=x&y", "--url", url)
    assert "metadata.a=1&metadata.a=2&metadata.b=x%26y" in asked[0][0]


def test_a_service_that_says_nothing_is_not_waited_for_for_ever(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(over_http, "_PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        done = run("list", "--url", f"http://127.0.0.1:{port}")
    assert done.code == 2
    assert "says nothing" in done.err


def test_tls_is_not_spoken_where_it_is_not(run: Run) -> None:
    with answering(200, PAGE) as (url, _):
        done = run("list", "--url", url.replace("http:", "https:"))
    assert done.code == 2
    assert "should --url begin with http://" in done.err


def test_with_keys_the_key_says_whose_conversations(sqlite_database_url: str, run: Run) -> None:
    where = ["--database-url", sqlite_database_url]
    with served(sqlite_database_url):
        """Filled while there is no key yet."""
    key = run("keys", "create", "--tenant", "acme", *where).out.strip()
    prefixed = run("keys", "create", "--prefix", "own-", *where).out.strip()
    with served(sqlite_database_url, filled=False) as world:
        refused = run("list", "--url", world.url)
        httpx.post(
            f"{world.url}/v1/conversations/theirs/turns",
            json={"provider": "openai", "messages": [{"role": "user", "content": "x"}]},
            headers={"Authorization": f"Bearer {key}"},
        ).raise_for_status()
        asked = run("list", "--url", world.url, "--key", key)
        found = run("find", "trip", "--url", world.url, "--key", prefixed)
        shown = run("show", "trip", "--url", world.url, "--key", prefixed)
    read = run("list", "--tenant", "acme", *where)
    assert refused.code == 2
    assert "TURNKEEP_API_KEY" in refused.err
    assert (asked.code, asked.out) == (read.code, read.out)
    assert "theirs" in asked.out
    assert "trip" not in asked.out
    assert found.code == 1
    assert shown.code == 2
    assert "begin with 'own-'" in shown.err
    assert key not in asked.out + asked.err + refused.err


def test_verify_asks_for_all_of_a_service(world: World, run: Run) -> None:
    done = run("verify", "--url", world.url)
    assert done.code == 0
    assert done.out.endswith(" conversations agree, 0 do not.\n")
