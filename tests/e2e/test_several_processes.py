"""A server of two processes, on a database of each kind in turn.

One for all tests here: to start it costs more than what is asked of it.
"""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.server import Server, serving
from tests.e2e.test_listening import LISTENERS, listening, post, told
from tests.e2e.test_same_bytes import tell
from tests.postgres import fresh_database

WRITERS = 32
EACH = 3


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("processes")
    if request.param == "sqlite":
        shutil.copyfile(sqlite_template, folder / "turnkeep.db")
        with serving(folder, "--workers", "2") as server:
            yield server
        return
    admin: str = request.getfixturevalue("postgres_url")
    with (
        fresh_database(admin, request.getfixturevalue("postgres_template")) as url,
        serving(folder, "--database-url", url, "--workers", "2") as server,
    ):
        yield server


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
def test_nothing_is_lost_or_doubled(server: Server, conversations: int) -> None:
    """Thirty-two writers at once: nothing lost, nothing twice, no gap."""
    found = asyncio.run(run(server.url, conversations))
    for turns in found:
        assert [turn["seq"] for turn in turns] == list(range(1, len(turns) + 1))
    said = sorted(turn["turn_id"] for turns in found for turn in turns)
    assert said == sorted(f"t-{w}-{n}" for w in range(WRITERS) for n in range(EACH))


def test_listeners_of_all_processes_hear_of_every_version(server: Server) -> None:
    post(server, "heard")
    with ExitStack() as stack:
        ears = [stack.enter_context(listening(server, "heard")) for _ in range(LISTENERS)]
        heard = [told(lines) for lines in ears]
        assert [next(versions) for versions in heard] == [1] * LISTENERS
        for version in (2, 3, 4):
            post(server, "heard")
            assert [next(versions) for versions in heard] == [version] * LISTENERS


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    with serving(tmp_path_factory.mktemp("one")) as one:
        return tell(one.url)


def test_one_process_and_two_on_either_database_give_the_same_bytes(
    server: Server, expected: list[bytes]
) -> None:
    assert tell(server.url) == expected
