"""A database with conversations that is served meanwhile, and the command as people type it."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from app.cli import main
from app.main import create_app
from app.settings import Settings
from tests.postgres import fresh_database

# Takes over a terminal, if it gets there: ESC, the one-byte form of ESC [, writing backwards.
HOSTILE = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202e gnp.exe"


@dataclass(frozen=True)
class World:
    """The same conversations, in a database and behind an address."""

    database_url: str
    url: str

    def post(self, cid: str, *messages: Any, provider: str = "openai", **body: Any) -> Any:
        body = {"provider": provider, "messages": list(messages), **body}
        response = httpx.post(f"{self.url}/v1/conversations/{cid}/turns", json=body)
        assert response.status_code in (200, 201), response.text
        return response.json()


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in this process, in an empty folder, with nothing in its environment."""
    for name in [name for name in os.environ if name.startswith("TURNKEEP_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)

    def done(*args: str) -> Done:
        capsys.readouterr()
        try:
            code: Any = main(args)
        except SystemExit as end:
            code = end.code
        return Done(code, *capsys.readouterr())

    return done


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def world(
    request: pytest.FixtureRequest, quick_folder: Path, sqlite_template: Path
) -> Iterator[World]:
    """Those who share it change nothing but conversations of their own."""
    if request.param == "sqlite":
        file = shutil.copyfile(sqlite_template, quick_folder / "world.db")
        with served(f"sqlite:///{file}") as world:
            yield world
        return
    admin: str = request.getfixturevalue("postgres_url")
    template: str = request.getfixturevalue("postgres_template")
    with fresh_database(admin, template) as url, served(url) as world:
        yield world


@contextmanager
def served(database_url: str, *, filled: bool = True) -> Iterator[World]:
    """A real server in a thread, with a few conversations."""
    # The PostgreSQL of the tests syncs nothing.
    app = create_app(Settings(database_url=database_url, allow_unsafe=True))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        world = World(database_url, f"http://127.0.0.1:{port}")
        if filled:
            _fill(world)
        yield world
    finally:
        server.should_exit = True
        thread.join()


def call(raw_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": raw_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _fill(world: World) -> None:
    made = {"id": "trip", "title": f"To Paris {HOSTILE}", "metadata": {"user": "7"}}
    httpx.post(f"{world.url}/v1/conversations", json=made).raise_for_status()
    world.post(
        "trip",
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is the weather in Paris and in Rome?"},
        {
            "role": "assistant",
            "content": f"I look. {HOSTILE}",
            "tool_calls": [
                call("weather:0", "weather", '{"city": "Paris", "exact": 1.10}'),
                call("weather:1", "weather", '{"city": "Rome"}'),
            ],
        },
        {"role": "tool", "tool_call_id": "weather:0", "content": f"sunny {HOSTILE}"},
        {"role": "assistant", "content": "Paris is sunny."},
        provider="kimi",
        model="kimi-k2",
    )
    world.post(
        "trip",
        {"role": "user", "content": "And what time is it?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_01ABC", "name": "clock", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_01ABC", "content": "noon"}],
        },
        provider="anthropic",
        model="claude-sonnet-4-5",
        turn_ids=["asked", "called", None],
    )
    world.post(
        "hostile",
        {"role": "assistant", "content": None, "tool_calls": [call(HOSTILE, HOSTILE, HOSTILE)]},
        {"role": "tool", "tool_call_id": HOSTILE, "content": HOSTILE},
        {"role": "tool", "tool_call_id": f"lost {HOSTILE}", "content": HOSTILE},
        model=HOSTILE,
        metadata={HOSTILE: HOSTILE},
    )
    world.post("orphans", {"role": "tool", "tool_call_id": "call_lost", "content": "late"})
    world.post("plain", {"role": "user", "content": "hello"})
