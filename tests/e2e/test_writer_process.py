"""The process that writes: it takes commands and gives receipts, and nothing hangs on its life."""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.database.test_failures import held
from tests.e2e.server import Server, serving, started, wait_until_ready
from tests.postgres import fresh_database


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_there(pid: int) -> bool:
    """A process that has ended and that nobody asked about is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def body(text: str, turn_id: str) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"provider": "openai", "turn_id": turn_id, "messages": [message]}


def post(server: Server, text: str, turn_id: str) -> httpx.Response:
    url = f"{server.url}/v1/conversations/c/turns"
    return httpx.post(url, json=body(text, turn_id), timeout=60)


def verified(server: Server) -> int:
    """How many turns there are, and each is what it was."""
    found = httpx.get(f"{server.url}/v1/conversations/c/verify", timeout=60).json()
    assert found["ok"], found
    turns: int = found["checked"]["turns"]
    return turns


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_when_it_dies_a_thread_takes_its_place(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "sqlite":
        with serving(tmp_path) as server:
            dies(server)
        return
    admin: str = request.getfixturevalue("postgres_url")
    with (
        fresh_database(admin, request.getfixturevalue("postgres_template")) as url,
        serving(tmp_path, "--database-url", url) as server,
    ):
        dies(server)


def dies(server: Server) -> None:
    assert post(server, "one", "t1").status_code == 201
    [writer] = children(server.process.pid)
    os.kill(writer, signal.SIGKILL)
    # The first one may be on its way to the dead process; who sends it again is safe.
    receipt = post(server, "two", "t2")
    if receipt.status_code == 503:
        assert "may have been stored" in receipt.json()["detail"]
        receipt = post(server, "two", "t2")
    assert receipt.status_code in (200, 201)
    assert post(server, "one", "t1").status_code == 200
    assert post(server, "three", "t3").status_code == 201
    assert verified(server) == 3
    wait_for(lambda: not children(server.process.pid))
    assert "the process that writes has died (status -9); a thread writes now" in (
        server.log.read_text()
    )


def test_it_ends_when_the_service_does(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        post(server, "one", "t1")
        [writer] = children(server.process.pid)
    assert server.process.returncode == 0
    assert not is_there(writer)


def commands(server: Server) -> float:
    """How many were taken."""
    lines = httpx.get(f"{server.url}/metrics", timeout=60).text.splitlines()
    [line] = [one for one in lines if one.startswith("turnkeep_commands_total ")]
    return float(line.split()[1])


def test_it_ends_when_the_service_is_killed_and_what_it_had_is_stored(tmp_path: Path) -> None:
    server = started(tmp_path, environment={"TURNKEEP_SEARCH": "false"})
    wait_until_ready(server)
    [writer] = children(server.process.pid)
    with ThreadPoolExecutor(3) as callers:
        with held(f"sqlite:///{tmp_path / 'turnkeep.db'}"):
            for number in range(1, 4):
                callers.submit(post, server, "hello", f"t{number}")
                wait_for(lambda least=number: commands(server) >= least)  # type: ignore[misc]
            server.process.kill()
            server.process.wait()
        wait_for(lambda: not is_there(writer))
    with serving(tmp_path) as server:
        assert verified(server) == 3


def test_whoever_waits_when_it_dies_hears_that_nobody_knows(tmp_path: Path) -> None:
    with serving(tmp_path, environment={"TURNKEEP_SEARCH": "false"}) as server:
        [writer] = children(server.process.pid)
        file = f"sqlite:///{tmp_path / 'turnkeep.db'}"
        with ThreadPoolExecutor(1) as callers, held(file):
            waiting = callers.submit(post, server, "one", "t1")
            wait_for(lambda: commands(server) >= 1)
            os.kill(writer, signal.SIGKILL)
            told = waiting.result(30)
        assert told.status_code == 503
        assert "may have been stored" in told.json()["detail"]
        assert post(server, "one", "t1").status_code == 201


def test_it_is_stopped_with_its_group_only_when_the_service_is_ready(tmp_path: Path) -> None:
    """As a terminal does it with Ctrl-C, and systemd with SIGTERM."""
    with serving(tmp_path) as server:
        [writer] = children(server.process.pid)
        for one in (signal.SIGINT, signal.SIGTERM):
            os.kill(writer, one)
        assert post(server, "one", "t1").status_code == 201
        assert children(server.process.pid) == [writer]


def test_what_is_large_is_written_by_a_thread_and_stays_in_order(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        for number in range(1, 7):
            text = "x" * (2 * 1024 * 1024 if number % 2 else 10)
            receipt = post(server, text, f"t{number}")
            assert (receipt.status_code, receipt.json()["version"]) == (201, number)
        assert verified(server) == 6
        # The index of words has some, too.
        assert commands(server) >= 6


def test_without_it_a_thread_writes(tmp_path: Path) -> None:
    with serving(tmp_path, environment={"TURNKEEP_WRITER_PROCESSES": "false"}) as server:
        assert post(server, "one", "t1").status_code == 201
        assert children(server.process.pid) == []
