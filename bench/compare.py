"""Turnkeep over HTTP beside its peers in process: the same turn appended, the same history loaded.

Peers load Python objects; Turnkeep gives the bytes of a request, and `parsed_ms` also has the time
of making objects of them.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from app.convert.queries import convert_messages
from app.jsontext.reading import loads_object
from app.model.limits import Limits
from bench.client import Client
from bench.load import Requests
from bench.rows import interleaved
from bench.servers import Server
from bench.stage import DATABASES, WRITERS, Stage, fill, replay_path
from bench.turns import encoded
from tests.e2e.server import ROOT

# Which peers there are on which database.
PEERS = {
    "SQLite": {
        "Agents SDK SQLiteSession": "agents-sqlite",
        "Agents SDK SQLAlchemySession": "agents-sqlalchemy",
        "LangGraph SqliteSaver": "langgraph-sqlite",
        "ADK DatabaseSessionService": "adk",
        "llm LogStore": "llm",
    },
    "PostgreSQL": {
        "Agents SDK SQLAlchemySession": "agents-sqlalchemy",
        "LangGraph PostgresSaver": "langgraph-postgres",
        "ADK DatabaseSessionService": "adk",
    },
}
CONVERTERS = ("litellm", "pydantic-ai")
OURS = "Turnkeep over HTTP"
PYTHON = ROOT / ".venv-bench/bin/python"


@dataclass(frozen=True)
class Compared:
    """One store: milliseconds of one client, rates of many."""

    database: str
    name: str
    append_ms: float
    append_rate: float
    load_ms: float
    load_rate: float
    parsed_ms: float | None = None


class Peer:
    """A process that takes orders."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, work: str, **order: object) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"work": work, **order}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the peer ended: {self._process.args!r}"
        found: dict[str, float] = json.loads(line)
        return found


@contextmanager
def peer(name: str, *url: str) -> Iterator[Peer]:
    """A peer at work in its own environment."""
    process = subprocess.Popen(
        [str(PYTHON), "-m", "bench.peers.driver", name, *url],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Peer(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def compared(stage: Stage) -> Iterator[Compared]:
    """All stores on both databases."""
    for kind in DATABASES:
        yield from _compared(stage, kind)


def _compared(stage: Stage, kind: str) -> Iterator[Compared]:
    subjects: dict[str, Callable[[], float]] = {}
    with ExitStack() as stack:
        server = stack.enter_context(stage.turnkeep(kind))
        subjects |= _ours(stage, server)
        for name, code in PEERS[kind].items():
            url = stack.enter_context(stage.database(kind))
            other = stack.enter_context(peer(code, url))
            other.ask("fill", turns=stage.sizes.history)
            subjects |= _theirs(stage, name, other)
        found = interleaved(subjects, stage.sizes.peer_rounds)
    middle = {name: median(figures) for name, figures in found.items()}
    for name in (OURS, *PEERS[kind]):
        yield Compared(
            kind,
            name,
            append_ms=middle[f"{name} append_ms"],
            append_rate=middle[f"{name} append_rate"],
            load_ms=middle[f"{name} load_ms"],
            load_rate=middle[f"{name} load_rate"],
            parsed_ms=middle.get(f"{name} parsed_ms"),
        )


def _ours(stage: Stage, server: Server) -> dict[str, Callable[[], float]]:
    stage.begin(server)
    with Client(server.port) as client:
        fill(client, "h", stage.messages)
        client.get(replay_path("h"))
    gets = Requests("GET", replay_path("h"))
    return {
        f"{OURS} append_ms": lambda: stage.load(server, stage.posts, 1).median_ms,
        f"{OURS} append_rate": lambda: stage.load(server, stage.posts, WRITERS).rate,
        f"{OURS} load_ms": lambda: stage.load(server, gets, 1).median_ms,
        f"{OURS} load_rate": lambda: stage.load(server, gets, WRITERS).rate,
        f"{OURS} parsed_ms": partial(_parsed_ms, server),
    }


def _theirs(stage: Stage, name: str, other: Peer) -> dict[str, Callable[[], float]]:
    seconds = stage.sizes.seconds

    def figure(work: str, clients: int, which: str) -> float:
        return other.ask(work, clients=clients, seconds=seconds)[which]

    return {
        f"{name} append_ms": partial(figure, "append", 1, "ms"),
        f"{name} append_rate": partial(figure, "append", WRITERS, "rate"),
        f"{name} load_ms": partial(figure, "load", 1, "ms"),
        f"{name} load_rate": partial(figure, "load", WRITERS, "rate"),
    }


def _parsed_ms(server: Server) -> float:
    times = []
    with Client(server.port) as client:
        for _ in range(5):
            begun = perf_counter()
            client.get(replay_path("h")).json()
            times.append((perf_counter() - begun) * 1000)
    return median(times)


def conversions(stage: Stage) -> dict[str, float]:
    """Milliseconds of converting a history, OpenAI to Anthropic, nothing stored."""
    size, seconds = stage.sizes.history, stage.sizes.seconds
    with ExitStack() as stack:
        others = {name: stack.enter_context(peer(name)) for name in CONVERTERS}
        subjects: dict[str, Callable[[], float]] = {
            name: partial(_converted, other, size, seconds) for name, other in others.items()
        }
        subjects["Turnkeep in process, JSON read and checked"] = partial(_convert_ms, stage)
        found = interleaved(subjects, stage.sizes.peer_rounds)
    return {name: median(figures) for name, figures in found.items()}


def _converted(other: Peer, turns: int, seconds: float) -> float:
    return other.ask("convert", turns=turns, seconds=seconds)["ms"]


def _convert_ms(stage: Stage) -> float:
    order = {"from": "openai", "to": "anthropic", "messages": stage.messages}
    text = encoded(order).decode()
    limits = Limits()
    times = []
    for _ in range(5):
        begun = perf_counter()
        members, texts = loads_object(text, limits)
        convert_messages(members, texts, limits)
        times.append((perf_counter() - begun) * 1000)
    return median(times)


def peer_disk(stage: Stage, name: str, lengths: list[int]) -> list[int]:
    """The bytes of SQLite files of a peer that appended so many turns, one after the other."""
    sizes = []
    for turns in lengths:
        with stage.database("SQLite") as url:
            with peer(name, url) as other:
                other.ask("grow", turns=turns, session="h")
            file = Path(url.removeprefix("sqlite:///"))
            files = list(file.parent.glob(f"{file.name}*"))
            sizes.append(sum(one.stat().st_size for one in files))
            for one in files:
                one.unlink()
    return sizes


@dataclass(frozen=True)
class Wish:
    """What is wanted against the fastest peer, and what came of it."""

    database: str
    what: str
    peer: str
    ratio: float
    wanted: str
    is_met: bool


def wishes(found: list[Compared]) -> Iterator[Wish]:
    """Faster than all with many clients; with one, at most 1.5 times as slow as the fastest."""
    for kind in DATABASES:
        ours = next(one for one in found if one.database == kind and one.name == OURS)
        others = [one for one in found if one.database == kind and one.name != OURS]
        for what, rate in (("append", _append_rate), ("load", _load_rate)):
            best = max(others, key=rate)
            ratio = (ours.append_rate if what == "append" else ours.load_rate) / rate(best)
            yield Wish(kind, f"{what}, {WRITERS} clients", best.name, ratio, "> 1", ratio > 1)
        for what, ms in (("append", _append_ms), ("load", _load_ms)):
            best = min(others, key=ms)
            times = ms(ours) / ms(best)
            yield Wish(kind, f"{what}, one client", best.name, times, "≤ 1.5", times <= 1.5)


def _append_ms(one: Compared) -> float:
    return one.append_ms


def _load_ms(one: Compared) -> float:
    return one.load_ms


def _append_rate(one: Compared) -> float:
    """With many callers or with one, whichever is faster."""
    return max(one.append_rate, 1000 / one.append_ms)


def _load_rate(one: Compared) -> float:
    return max(one.load_rate, 1000 / one.load_ms)
