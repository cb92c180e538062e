"""What the plots show: figures along an axis."""

from statistics import median

from bench.client import Client
from bench.compare import peer_disk
from bench.costs import sqlite_bytes
from bench.load import load
from bench.rows import samples
from bench.stage import Stage, fill, replay_path, turns_path
from bench.turns import body, call_turn, encoded, history, results

Series = dict[str, list[float]]


def throughput(stage: Stage) -> tuple[list[int], Series]:
    """POSTs a second against clients."""
    clients = stage.sizes.clients
    found: Series = {}
    with (
        stage.floor() as floor,
        stage.turnkeep("SQLite") as sqlite,
        stage.turnkeep("PostgreSQL") as postgres,
        stage.textbook("SQLite") as textbook,
        stage.textbook("PostgreSQL") as textbook_postgres,
    ):
        subjects = {
            "FastAPI without work": floor,
            "Turnkeep, SQLite": sqlite,
            "Turnkeep, PostgreSQL": postgres,
            "textbook, SQLite": textbook,
            "textbook, PostgreSQL": textbook_postgres,
        }
        for server in subjects.values():
            stage.begin(server)
        for count in clients:
            for name, server in subjects.items():
                rate = load(server.port, stage.posts, count, stage.sizes.seconds).rate
                found.setdefault(name, []).append(rate)
    return clients, found


def latency(stage: Stage) -> tuple[list[int], Series]:
    """Milliseconds of one client against the length of the history."""
    lengths = stage.sizes.lengths
    found: Series = {}
    with stage.turnkeep("SQLite") as server, Client(server.port) as client:
        for turns in lengths:
            cid = f"h{turns}"
            fill(client, cid, list(history(stage.texts, turns)))
            for name, ms in _latencies(stage, client, cid, turns).items():
                found.setdefault(name, []).append(ms)
    return lengths, found


def _latencies(stage: Stage, client: Client, cid: str, turns: int) -> dict[str, float]:
    etag = client.get(replay_path(cid)).header("etag")
    since = replay_path(cid, f"&since={turns - 2}")
    found: dict[str, list[float]] = {}
    for _ in samples(stage.sizes):
        for name, reply in (
            ("GET, whole, read before", client.get(replay_path(cid))),
            ("GET since two turns ago", client.get(since)),
            ("GET last=4", client.get(replay_path(cid, "&last=4"))),
            ("GET, unchanged (304)", client.get(replay_path(cid), f"If-None-Match: {etag}")),
        ):
            found.setdefault(name, []).append(reply.ms)
    for number in samples(stage.sizes):
        name = f"late{number}"
        posted = client.post(turns_path(cid), body([call_turn(stage.texts, name)]))
        found.setdefault("append", []).append(posted.ms)
        client.post(turns_path(cid), body(results(stage.texts, name)))
    return {name: median(times) for name, times in found.items()}


def disk(stage: Stage) -> tuple[list[int], Series]:
    """Megabytes on disk against turns."""
    turns = stage.sizes.grown
    messages = list(history(stage.texts, max(turns)))
    payload = [float(sum(len(encoded(one)) for one in messages[:count])) for count in turns]
    ours = [float(sqlite_bytes(stage, messages[:count])) for count in turns]
    theirs = [float(size) for size in peer_disk(stage, "langgraph-sqlite", turns)]
    found = {"payload": payload, "Turnkeep": ours, "LangGraph SqliteSaver": theirs}
    return turns, {name: [size / 1e6 for size in sizes] for name, sizes in found.items()}
