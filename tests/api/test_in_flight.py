import asyncio
from typing import Any

import httpx

from app.main import create_app
from app.settings import Settings
from tests.api.conftest import user


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
