"""Rows of long histories, over the same on short ones: what must not grow with the history."""

from collections.abc import Callable, Iterator
from statistics import median

from bench import servers
from bench.client import Client
from bench.rows import Row, ratio, samples
from bench.stage import Stage, fill, replay_path, turns_path
from bench.turns import body, call_turn, history, results

SHORT = 10


def growth(stage: Stage) -> Iterator[Row]:
    url = stage.long_database
    with servers.turnkeep(url) as server, Client(server.port) as client:
        for cid in ("short", "warm", *_fresh(stage)):
            fill(client, cid, list(history(stage.texts, SHORT)))
    yield _last(stage, url)
    with servers.turnkeep(url) as server, Client(server.port) as client:
        for cid in ("short", "long"):
            client.get(replay_path(cid))
        yield _since(stage, client)
        yield _unchanged(stage, client)
        yield _append(stage, client)


def _fresh(stage: Stage) -> list[str]:
    """Short conversations, each to be appended to once."""
    return [f"short{number}" for number in range(stage.sizes.samples)]


def _since(stage: Stage, client: Client) -> Row:
    def ask(cid: str) -> float:
        turns = SHORT if cid == "short" else stage.sizes.long
        return client.get(replay_path(cid, f"&since={turns - 2}")).ms

    return _row(stage, "`since` two turns ago", ask, target=2, remark="read before")


def _unchanged(stage: Stage, client: Client) -> Row:
    tags = {cid: client.get(replay_path(cid)).header("etag") for cid in ("short", "long")}

    def ask(cid: str) -> float:
        reply = client.get(replay_path(cid), f"If-None-Match: {tags[cid]}")
        assert reply.status == 304
        return reply.ms

    return _row(stage, "`If-None-Match`, unchanged", ask, target=1.5)


def _append(stage: Stage, client: Client) -> Row:
    """Appends of call turns. Their results follow, so that nothing piles up that waits."""
    times: dict[str, list[float]] = {"short": [], "long": []}
    for number, fresh in zip(samples(stage.sizes), _fresh(stage), strict=False):
        pair = [("short", fresh), ("long", "long")]
        for which, cid in pair if number % 2 == 0 else reversed(pair):
            name = f"append{number}"
            turn = body([call_turn(stage.texts, name)])
            times[which].append(client.post(turns_path(cid), turn).ms)
            client.post(turns_path(cid), body(results(stage.texts, name)))
    return _compared(stage, "append", times, target=1.15)


def _last(stage: Stage, url: str) -> Row:
    """Each start gives one sample of each; another conversation pays for what comes once."""
    times: dict[str, list[float]] = {"short": [], "long": []}
    for number in range(stage.sizes.starts):
        with servers.turnkeep(url) as server, Client(server.port) as client:
            client.get(replay_path("warm", "&last=4"))
            pair = ["short", "long"]
            for cid in pair if number % 2 == 0 else reversed(pair):
                times[cid].append(client.get(replay_path(cid, "&last=4")).ms)
    return _compared(stage, "`last=4`", times, target=3, remark="first read after start")


def _row(
    stage: Stage, name: str, ask: Callable[[str], float], target: float, remark: str = ""
) -> Row:
    times: dict[str, list[float]] = {"short": [], "long": []}
    for _ in samples(stage.sizes):
        for cid, found in times.items():
            found.append(ask(cid))
    return _compared(stage, name, times, target, remark)


def _compared(
    stage: Stage, name: str, times: dict[str, list[float]], target: float, remark: str = ""
) -> Row:
    return Row(
        f"{name}, {stage.sizes.long:,} turns",
        median(times["long"]),
        "ms",
        target,
        wants="at most",
        ratio=ratio(times["long"], times["short"]),
        over=median(times["short"]),
        over_name=f"{SHORT} turns",
        remark=remark,
    )
