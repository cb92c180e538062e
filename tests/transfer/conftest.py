"""Databases to import into, and the command run in this process."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.database.database import Database
from app.jsontext.reading import loads
from app.replay.options import ReplayOptions
from app.replay.queries import replay
from app.turns import queries as turns
from app.verify.queries import verify

FILES = Path(__file__).parent / "files"


@dataclass(frozen=True)
class Told:
    """What a run of the command came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Told]


@pytest.fixture
def turnkeep(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command with these words on this database; what it printed before is forgotten."""

    def run(url: str, *words: object) -> Told:
        capfdbinary.readouterr()
        code = main([*map(str, words), "--database-url", url])
        printed = capfdbinary.readouterr()
        return Told(code, printed.out.decode(), printed.err.decode())

    return run


@pytest.fixture
def other_database_url(request: pytest.FixtureRequest, database_url: str) -> str:
    """An empty database of the other kind than `database_url`."""
    other = "postgres" if database_url.startswith("sqlite") else "sqlite"
    url: str = request.getfixturevalue(f"{other}_database_url")
    return url


def stored(url: str, cid: str) -> list[Any]:
    """The turns of a conversation, each with what was posted; the conversation verifies."""
    with Database(url) as database:
        checked = database.read_now(lambda store: verify(store, cid))
        assert checked["ok"], checked
        page = database.read_now(
            lambda store: turns.listed(store, cid, turns.Page(limit=10_000), raw=True)
        )
    listed: Any = loads(page.decode())
    found: list[Any] = listed["data"]
    return found


def spoken(url: str, cid: str) -> list[tuple[str, str]]:
    """Who said what, in short."""
    return [(turn["speaker"], " ".join(map(_short, turn["blocks"]))) for turn in stored(url, cid)]


def _short(block: dict[str, Any]) -> str:
    match block["type"]:
        case "tool_call":
            return f"{block['name']}()"
        case "tool_result":
            return f"={block.get('result', block.get('content'))}"
        case kind:
            return str(block.get("text") or kind)


def replayed(url: str, cid: str, target: str) -> bytes:
    with Database(url) as database:
        return b"".join(database.read_now(lambda store: replay(store, cid, ReplayOptions(target))))
