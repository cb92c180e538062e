import asyncio
from typing import Any

import httpx
import pytest

from app.access.http import Access
from app.edge import context
from app.main import create_app
from app.settings import Settings
from tests.database.test_failures import held
from tests.http_api import user


async def race(database_url: str) -> list[httpx.Response]:
    """Four requests with one key, begun before any of them can have ended."""
    app = create_app(Settings(database_url=database_url))
    body: dict[str, Any] = {"provider": "openai", "messages": [user("pay 5")]}
    headers = {"Idempotency-Key": "k"}
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            # Who comes first of all waits until it is known whether there are keys.
            await http.get("/v1/conversations")
            sent = [
                http.post("/v1/conversations/c1/turns", json=body, headers=headers)
                for _ in range(4)
            ]
            answers = list(await asyncio.gather(*sent))
            answers.append(await http.get("/v1/conversations/c1"))
            return answers


def test_a_key_that_is_still_running_is_told_to_wait(database_url: str) -> None:
    *posts, conversation = asyncio.run(race(database_url))
    statuses = sorted(answer.status_code for answer in posts)
    assert statuses == [201, 409, 409, 409]
    waiting = next(answer for answer in posts if answer.status_code == 409)
    assert (waiting.json()["code"], waiting.headers["retry-after"]) == (
        "idempotency_key_in_flight",
        "1",
    )
    assert conversation.json()["version"] == 1


async def burst(database_url: str, count: int) -> list[httpx.Response]:
    """Requests that come at once while another program holds the file, and a first one, for which
    the writer waits."""
    app = create_app(Settings(database_url=database_url))
    body: dict[str, Any] = {"provider": "openai", "messages": [user("x")]}
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:

            def post(cid: str) -> "asyncio.Task[httpx.Response]":
                return asyncio.create_task(http.post(f"/v1/conversations/{cid}/turns", json=body))

            with held(database_url) as other:
                first = post("first")
                while not app.state.context.database.counts().commands:
                    await asyncio.sleep(0.01)
                posts = [post(f"c{number}") for number in range(count)]
                while not any(one.done() for one in (first, *posts)):
                    await asyncio.sleep(0.01)
                other.execute("ROLLBACK")
            return list(await asyncio.gather(first, *posts))


def test_of_many_that_come_at_once_few_wait(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have all been let in before the first of them waits for the writer."""
    monkeypatch.setattr(context, "MOST_WAITING", 2)
    key_of = Access.key_of
    begun = 0
    all_here = asyncio.Event()

    async def together(self: Access, request: Any) -> Any:
        nonlocal begun
        begun += 1
        if begun == 21:
            all_here.set()
        if begun > 1:
            await all_here.wait()
        return await key_of(self, request)

    monkeypatch.setattr(Access, "key_of", together)
    answers = asyncio.run(burst(sqlite_database_url, 20))
    refused = [one for one in answers if one.status_code == 503]
    assert [one.status_code for one in answers].count(201) == 3
    assert len(refused) == 18
    for one in refused:
        assert one.headers["retry-after"] == "1"
        assert one.json()["detail"] == "Too many requests wait to be stored."
