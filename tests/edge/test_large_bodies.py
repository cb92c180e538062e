"""One large body must not take the service: it is read beside the loop, with room for few."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from typing import Any

import httpx
import pytest
from starlette.requests import ClientDisconnect

from app.edge import requests
from app.main import create_app
from app.model.conversation import Draft
from app.model.limits import Limits
from app.settings import Settings
from app.turns.streaming import Stream
from tests.http_api import Api, user

ROUTES = [
    ("POST", "/v1/conversations"),
    ("PATCH", "/v1/conversations/c1"),
    ("POST", "/v1/conversations/c1/turns"),
    ("POST", "/v1/conversations/c1/turns?mode=sync"),
    ("PUT", "/v1/conversations/c1/tools"),
    ("POST", "/v1/convert/messages"),
    ("POST", "/v1/convert/tools"),
    ("POST", "/v1/convert/tool-id"),
]
JSON = {"content-type": "application/json"}
STREAM = "text/event-stream"
DELTA = {"index": 0, "delta": {"content": " word"}}
TEXT = "x" * 40_000


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_too_many_values_are_refused_on_every_route(lite: Api, method: str, path: str) -> None:
    lite.post(user("hi"))
    body = b'{"metadata":{"m":[' + b",".join([b"[]"] * Limits().json_values) + b"]}}"
    refused = lite.http.request(method, path, content=body, headers=JSON)
    told = refused.json()
    assert (refused.status_code, told["code"]) == (413, "too_large")
    assert (told["limit"], told["most"]) == ("json_values", Limits().json_values)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_large_body_is_decoded_beside_the_loop(
    lite: Api, method: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: list[bool] = []
    decode = requests._decoded

    def noted(*given: Any) -> Any:
        where.append("worker" in threading.current_thread().name)
        return decode(*given)

    monkeypatch.setattr(requests, "_decoded", noted)
    for text in ("short", TEXT):
        lite.http.request(method, path, json={"title": text})
    assert where == [False, True]


def test_an_event_whose_last_piece_is_short_is_read_beside_the_loop(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: list[int] = []
    feed = Stream.feed

    def noted(stream: Stream, data: bytes) -> None:
        if data:
            where.append(threading.get_ident())
        feed(stream, data)

    monkeypatch.setattr(Stream, "feed", noted)

    async def pieces() -> AsyncIterator[bytes]:
        event = 'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'
        for text in ("short", TEXT):
            said = (event % text).encode()
            for start in range(0, len(said), 10_000):
                yield said[start : start + 10_000]

    async def run() -> tuple[int, httpx.Response]:
        async with Pieced(Settings(database_url=sqlite_database_url)) as http:
            path = "/v1/conversations/c1/turns/stream?provider=openai"
            kind = {"content-type": "text/event-stream"}
            return threading.get_ident(), await http.post(path, content=pieces(), headers=kind)

    loop, stored = asyncio.run(run())
    assert stored.status_code == 201
    assert [thread == loop for thread in where] == [True, True, False, False, False, False]


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_stream_that_breaks_is_made_ready_beside_the_loop(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch, cancelled: bool
) -> None:
    """Whoever waits for it may be cancelled meanwhile: it is stored all the same."""
    event = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % TEXT.encode()
    where: list[int] = []
    begun, go_on = threading.Event(), threading.Event()
    draft = Stream.draft

    def noted(stream: Stream, *, hung_up: bool = False) -> Draft:
        where.append(threading.get_ident())
        begun.set()
        # On the loop nobody could let it go on.
        assert go_on.wait(20 if where != [loop] else 0)
        return draft(stream, hung_up=hung_up)

    monkeypatch.setattr(Stream, "draft", noted)
    arriving = [{"type": "http.request", "body": event, "more_body": True}] * 30
    arriving += [{"type": "http.disconnect"}]
    loop = threading.get_ident()

    async def run() -> Any:
        async with Pieced(Settings(database_url=sqlite_database_url)) as http:
            messages = iter(arriving)

            async def receive() -> Any:
                return next(messages)

            async def send(message: Any) -> None:
                """Nobody hears it."""

            path = "/v1/conversations/c1/turns/stream"
            scope = {
                "type": "http",
                "method": "POST",
                "path": path,
                "query_string": b"provider=openai&turn_id=t1",
                "headers": [(b"host", b"localhost"), (b"content-type", b"text/event-stream")],
                "state": {},
            }
            request = asyncio.ensure_future(http.app(scope, receive, send))
            while not begun.is_set():
                await asyncio.sleep(0.01)
            if cancelled:
                request.cancel()
                await asyncio.sleep(0.01)
            go_on.set()
            with suppress(asyncio.CancelledError, ClientDisconnect):
                await request
            return (await http.get("/v1/conversations/c1/turns/t1")).json()

    turn = asyncio.run(run())
    assert where != [loop]
    assert (turn["status"], turn["blocks"][0]["text"]) == ("interrupted", TEXT * 30)


class Pieced(httpx.AsyncClient):
    """A client of an application of its own, whose bodies may be sent piece by piece."""

    def __init__(self, settings: Settings) -> None:
        self.app = create_app(settings)
        super().__init__(transport=httpx.ASGITransport(self.app), base_url="http://localhost")

    async def __aenter__(self) -> "Pieced":
        self.alive = self.app.router.lifespan_context(self.app)
        await self.alive.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.alive.__aexit__(*error)


def test_large_bodies_have_room_for_so_many_bytes(sqlite_database_url: str) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b'{"title":"' + TEXT.encode()
        begun.set()
        await go_on.wait()
        yield b'"}'

    async def run() -> list[httpx.Response]:
        settings = Settings(database_url=sqlite_database_url, body_memory=60_000)
        async with Pieced(settings) as http:

            def send(content: Any) -> Any:
                return http.post("/v1/conversations", content=content, headers=JSON)

            large, small = f'{{"title":"{TEXT}"}}', '{"title":"x"}'
            first = asyncio.create_task(send(slow()))
            await begun.wait()
            meanwhile = [await send(large), await send(small)]
            go_on.set()
            alone = f'{{"title":"{TEXT}{TEXT}"}}'
            return [*meanwhile, await first, await send(large), await send(alone)]

    refused, *others = asyncio.run(run())
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["code"] == "unavailable"
    # Small ones pass meanwhile, and a large one that stands alone, whatever its size.
    assert [answer.status_code for answer in others] == [201] * 4


def test_streams_take_of_the_same_room_and_lose_nothing(sqlite_database_url: str) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    half = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % (b"x" * 18_000)

    async def slow() -> AsyncIterator[bytes]:
        yield half
        begun.set()
        await go_on.wait()
        yield half

    async def two() -> AsyncIterator[bytes]:
        yield half
        yield half

    async def full() -> AsyncIterator[bytes]:
        yield b'{"title":"' + b"x" * 42_000
        begun.set()
        await go_on.wait()
        yield b'"}'

    async def unread() -> AsyncIterator[bytes]:
        raise AssertionError("what has no room is not read")
        yield b""

    async def run() -> tuple[list[int], Any, int]:
        settings = Settings(database_url=sqlite_database_url, body_memory=50_000)
        async with Pieced(settings) as http:

            def send(cid: str, content: Any) -> Any:
                path = f"/v1/conversations/{cid}/turns/stream?provider=openai&turn_id=t1"
                return http.post(path, content=content, headers={"content-type": STREAM})

            first = asyncio.create_task(send("first", slow()))
            await begun.wait()
            grown = await send("grown", two())
            go_on.set()
            statuses = [grown.status_code, (await first).status_code]
            begun.clear()
            go_on.clear()
            other = asyncio.create_task(
                http.post("/v1/conversations", content=full(), headers=JSON)
            )
            await begun.wait()
            statuses.append((await send("late", unread())).status_code)
            go_on.set()
            statuses.append((await other).status_code)
            kept = (await http.get("/v1/conversations/grown/turns/t1")).json()
            return statuses, kept, http.app.state.context.bodies.held

    statuses, kept, held = asyncio.run(run())
    assert statuses == [503, 201, 503, 201]
    assert (kept["status"], kept["blocks"][0]["text"]) == ("interrupted", "x" * 36_000)
    assert held == 0


def test_a_usual_stream_takes_less_room_than_it_has_bytes() -> None:
    """Most of an event is its frame, which is not kept."""
    said = json.dumps({"id": "c" * 40, "model": "m" * 120, "choices": [DELTA]})
    with closing(Stream({"provider": "openai"}, Limits())) as stream:
        for _ in range(1_000):
            stream.feed(f"data: {said}\n\n".encode())
        assert 1_000 * len(" word") < stream.held < stream.size // 3
