"""`If-Match` on a stream: judged before the body is read; what the model said is never lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from tests.http_api import user
from tests.turns.test_streams import CUT, STREAM, WHOLE

TURNS = "/v1/conversations/c1/turns"
Talk = Callable[[httpx.AsyncClient], Awaitable[None]]


def talking(database_url: str, talk: Talk) -> None:
    """Runs a talk with the application, inside the loop: requests can overlap."""

    @asynccontextmanager
    async def client() -> AsyncIterator[httpx.AsyncClient]:
        app = create_app(Settings(database_url=database_url))
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
                yield http

    async def run() -> None:
        async with client() as http:
            await talk(http)

    asyncio.run(run())


async def say(http: httpx.AsyncClient, text: str) -> None:
    answer = await http.post(TURNS, json={"provider": "openai", "messages": [user(text)]})
    assert answer.status_code == 201


async def stream(
    http: httpx.AsyncClient, body: AsyncIterator[bytes], version: int, key: str = "", **query: str
) -> httpx.Response:
    headers = {"content-type": "text/event-stream", "If-Match": f'"{version}"'}
    if key:
        headers["Idempotency-Key"] = key
    params = {"provider": "anthropic", **query}
    return await http.post(STREAM, params=params, content=body, headers=headers)


async def sent(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def overtaken(http: httpx.AsyncClient, body: bytes) -> AsyncIterator[bytes]:
    """A stream in whose middle somebody else appends a turn."""
    yield body[:400]
    await say(http, "and in Rome?")
    yield body[400:]


def test_a_version_that_has_passed_is_told_before_the_stream_is_read(database_url: str) -> None:
    async def unread() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    async def talk(http: httpx.AsyncClient) -> None:
        await say(http, "Bonn?")
        stale = await stream(http, unread(), 0, turn_id="t1")
        assert (stale.status_code, stale.json()["code"]) == (412, "stale_version")
        assert (stale.json()["version"], stale.headers["etag"]) == (1, '"1"')
        assert "turn_id" not in stale.json()

    talking(database_url, talk)


def test_what_completes_a_turn_is_told_of_a_version_that_has_passed_before_it_is_read(
    database_url: str,
) -> None:
    async def unread() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    async def talk(http: httpx.AsyncClient) -> None:
        await stream(http, sent(WHOLE[:CUT]), 0, turn_id="t1")
        await say(http, "and in Rome?")
        stale = await stream(http, unread(), 1, turn_id="t1")
        assert (stale.status_code, stale.json()["version"]) == (412, 2)
        assert (await http.get(f"{TURNS}/t1")).json()["status"] == "interrupted"
        assert (await stream(http, sent(WHOLE), 2, turn_id="t1")).status_code == 200
        # The retry of that is stale by its own success, or by that of others.
        await say(http, "and in Oslo?")
        again = await stream(http, sent(WHOLE), 2, turn_id="t1")
        assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")

    talking(database_url, talk)


def test_a_conversation_that_is_absent_has_no_turns(database_url: str) -> None:
    async def talk(http: httpx.AsyncClient) -> None:
        assert (await stream(http, sent(WHOLE), 3)).status_code == 412
        assert (await http.get("/v1/conversations/c1")).status_code == 404
        assert (await stream(http, sent(WHOLE), 0)).status_code == 201

    talking(database_url, talk)


@pytest.mark.parametrize("query", [{"turn_id": "t1"}, {}])
@pytest.mark.parametrize("body", [WHOLE, WHOLE[:CUT]])
def test_a_stream_that_is_overtaken_is_stored_where_the_problem_says(
    database_url: str, query: dict[str, str], body: bytes
) -> None:
    async def talk(http: httpx.AsyncClient) -> None:
        await say(http, "Bonn?")
        answer = await stream(http, overtaken(http, body), 1, **query)
        problem: dict[str, Any] = answer.json()
        assert (answer.status_code, problem["code"]) == (412, "stale_version")
        assert (problem["version"], answer.headers["etag"]) == (3, '"3"')
        assert problem["turn_id"] == query.get("turn_id", problem["turn_id"])
        kept = (await http.get(f"{TURNS}/{problem['turn_id']}")).json()
        assert (kept["seq"], kept["payload_text"].encode()) == (3, body)
        assert kept.get("status", "complete") == ("complete" if body == WHOLE else "interrupted")
        assert (await http.get("/v1/conversations/c1/verify")).json()["ok"]

    talking(database_url, talk)


def test_a_stream_with_a_version_begins_no_conversation_that_was_erased_meanwhile(
    database_url: str,
) -> None:
    async def erased(http: httpx.AsyncClient) -> AsyncIterator[bytes]:
        yield WHOLE[:400]
        assert (await http.delete("/v1/conversations/c1")).status_code == 200
        yield WHOLE[400:]

    async def talk(http: httpx.AsyncClient) -> None:
        await say(http, "Bonn?")
        stale = await stream(http, erased(http), 1, turn_id="t1")
        assert (stale.status_code, stale.json()["version"]) == (412, 0)
        assert "turn_id" not in stale.json()
        assert (await http.get("/v1/conversations/c1")).status_code == 404

    talking(database_url, talk)


def test_the_retry_of_an_overtaken_stream_stores_nothing_again(database_url: str) -> None:
    async def talk(http: httpx.AsyncClient) -> None:
        await say(http, "Bonn?")
        for query, key in (({"turn_id": "t1"}, ""), ({}, "k1")):
            version = (await http.get("/v1/conversations/c1")).json()["version"]
            first = await stream(http, overtaken(http, WHOLE), version, key, **query)
            assert first.status_code == 412
            again = await stream(http, sent(WHOLE), version, key, **query)
            assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
            assert again.json()["turns"][0]["turn_id"] == first.json()["turn_id"]
        assert (await http.get("/v1/conversations/c1")).json()["version"] == 5

    talking(database_url, talk)


def test_an_interrupted_turn_is_completed_although_it_was_overtaken(database_url: str) -> None:
    async def talk(http: httpx.AsyncClient) -> None:
        await stream(http, sent(WHOLE[:CUT]), 0, turn_id="t1")
        answer = await stream(http, overtaken(http, WHOLE), 1, turn_id="t1")
        assert (answer.status_code, answer.json()["turn_id"]) == (412, "t1")
        kept = (await http.get(f"{TURNS}/t1")).json()
        assert (kept["seq"], "status" in kept, len(kept["earlier"])) == (1, False, 1)

    talking(database_url, talk)
