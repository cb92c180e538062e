"""Thirty-two writers at once, through the real server: nothing lost, nothing twice, no gap."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.e2e.server import Server

WRITERS = 32
EACH = 6


async def write(http: httpx.AsyncClient, cid: str, writer: int) -> None:
    for number in range(EACH):
        name = f"{writer}-{number}"
        call = {"id": "call_0", "function": {"name": "f", "arguments": "{}"}}
        body = {
            "provider": "openai",
            "turn_id": f"t-{name}",
            "messages": [{"role": "assistant", "content": name, "tool_calls": [call]}],
        }
        # Every write is sent twice, as a client does that lost the first answer.
        first, second = await asyncio.gather(
            *(http.post(f"/v1/conversations/{cid}/turns", json=body) for _ in range(2))
        )
        assert {first.status_code, second.status_code} == {200, 201}, first.text + second.text


async def run(url: str, conversations: int) -> list[list[dict[str, Any]]]:
    cids = [f"{number}-of-{conversations}" for number in range(conversations)]
    limits = httpx.Limits(max_connections=WRITERS)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as http:
        await asyncio.gather(
            *(write(http, cids[writer % conversations], writer) for writer in range(WRITERS))
        )
        found = []
        for cid in cids:
            turns = await http.get(f"/v1/conversations/{cid}/turns?limit=1000")
            assert (await http.get(f"/v1/conversations/{cid}/verify")).json()["ok"]
            found.append(turns.json()["data"])
        return found


@pytest.mark.parametrize("conversations", [1, WRITERS])
def test_nothing_is_lost_or_doubled(four_workers: Server, conversations: int) -> None:
    found = asyncio.run(run(four_workers.url, conversations))
    for turns in found:
        assert [turn["seq"] for turn in turns] == list(range(1, len(turns) + 1))
    said = sorted(turn["turn_id"] for turns in found for turn in turns)
    assert said == sorted(f"t-{w}-{n}" for w in range(WRITERS) for n in range(EACH))
