"""Rows of throughput and of the time of one client, against the floors and the textbook."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from statistics import median
from typing import TypeAlias

from bench import servers
from bench.client import Client
from bench.floors import commit_ms
from bench.load import Loaded, Requests
from bench.rows import Row, interleaved, ratio, samples
from bench.servers import Server
from bench.stage import DATABASES, READERS, WRITERS, Stage, fill, replay_path, turns_path
from bench.turns import body, going_on

Post: TypeAlias = Callable[[Server, int], Loaded]


def appends(stage: Stage) -> Iterator[Row]:
    """POST with many clients, over a POST that does nothing; with one, over bare commits."""
    subjects: dict[str, Callable[[], float]] = {}
    with ExitStack() as stack:
        floor = stack.enter_context(stage.floor())
        subjects["floor"] = partial(stage.floor_rate, floor, stage.posts, WRITERS)
        for kind in DATABASES:
            bare = stack.enter_context(stage.database(kind))
            ours = stack.enter_context(stage.turnkeep(kind))
            textbook = stack.enter_context(stage.textbook(kind))
            for name, server, post in (
                (kind, ours, stage.written),
                (f"{kind} textbook", textbook, stage.posted),
            ):
                stage.begin(server)
                subjects[f"{name} rate"] = partial(_rate_of, post, server)
                subjects[f"{name} ms"] = partial(_median_ms_of, post, server)
            subjects[f"{kind} commit"] = partial(commit_ms, bare, stage.sizes.seconds)
        found = interleaved(subjects, stage.sizes.rounds)
    for kind in DATABASES:
        yield _many(kind, found)
    for kind in DATABASES:
        yield _one(kind, found)


def _many(kind: str, found: Mapping[str, list[float]]) -> Row:
    return Row(
        f"POST {kind}, {WRITERS} clients",
        median(found[f"{kind} rate"]),
        "/s",
        target=0.25,
        goal=0.40,
        ratio=ratio(found[f"{kind} rate"], found["floor"]),
        over=median(found["floor"]),
        over_name="FastAPI without work",
        textbook=median(found[f"{kind} textbook rate"]),
    )


def _one(kind: str, found: Mapping[str, list[float]]) -> Row:
    commits = found[f"{kind} commit"]
    commit = median(commits)
    return Row(
        f"POST {kind}, one client",
        median(found[f"{kind} ms"]),
        "ms",
        target=1,
        goal=(commit + 1) / (2 * commit + 1),
        wants="at most",
        ratio=ratio(found[f"{kind} ms"], [2 * one + 1 for one in commits]),
        over=2 * commit + 1,
        over_name="two commits + 1 ms",
        textbook=median(found[f"{kind} textbook ms"]),
        remark=f"one commit: {commit:.2f} ms",
    )


def replays(stage: Stage) -> Iterator[Row]:
    """GET of a whole history, over the same bytes from memory."""
    gets = Requests("GET", replay_path("h"))
    with (
        stage.floor() as floor,
        stage.database("SQLite") as url,
        stage.textbook("SQLite") as textbook,
    ):
        with Client(textbook.port) as client:
            fill(client, "h", stage.messages)
        with servers.turnkeep(url) as server, Client(server.port) as client:
            fill(client, "h", stage.messages)
            client.get(replay_path("h"))
            rates = interleaved(
                {
                    "floor": partial(stage.floor_rate, floor, gets, READERS),
                    "ours": partial(_rate, stage, server, gets, READERS),
                    "textbook": partial(_slow_rate, textbook),
                },
                stage.sizes.rounds,
            )
        yield Row(
            f"GET {stage.sizes.history:,} turns, read before, {READERS} clients",
            median(rates["ours"]),
            "/s",
            target=0.50,
            goal=0.75,
            ratio=ratio(rates["ours"], rates["floor"]),
            over=median(rates["floor"]),
            over_name="the same bytes from memory",
            textbook=median(rates["textbook"]),
        )
        yield _first_read(stage, floor, url)
        yield _after_append(stage, floor, url)


def _first_read(stage: Stage, floor: Server, url: str) -> Row:
    times: list[float] = []
    memory: list[float] = []
    with Client(floor.port) as bare:
        for _ in range(stage.sizes.starts):
            with servers.turnkeep(url) as server, Client(server.port) as client:
                times.append(client.get(replay_path("h")).ms)
            memory.append(median(bare.get(replay_path("h")).ms for _ in range(5)))
    name = f"GET {stage.sizes.history:,} turns, first read after start"
    return _over_memory(name, times, memory, target=0.08, goal=0.20)


def _after_append(stage: Stage, floor: Server, url: str) -> Row:
    times: list[float] = []
    memory: list[float] = []
    with (
        servers.turnkeep(url) as server,
        Client(server.port) as client,
        Client(floor.port) as bare,
    ):
        client.get(replay_path("h"))
        more = going_on(stage.texts, stage.sizes.samples)
        for _, message in zip(samples(stage.sizes), more, strict=False):
            client.post(turns_path("h"), body([message]))
            times.append(client.get(replay_path("h")).ms)
            memory.append(bare.get(replay_path("h")).ms)
    name = f"GET {stage.sizes.history:,} turns, after one more append"
    return _over_memory(name, times, memory, target=0.40, goal=0.70)


def _over_memory(
    name: str, times: list[float], memory: list[float], *, target: float, goal: float
) -> Row:
    return Row(
        name,
        median(times),
        "ms",
        target,
        goal,
        ratio=ratio(memory, times),
        over=median(memory),
        over_name="the same bytes from memory",
    )


def workers(stage: Stage) -> Iterator[Row]:
    """Two processes on PostgreSQL, over one."""
    gets = Requests("GET", replay_path("h"))
    with stage.turnkeep("PostgreSQL") as one, stage.turnkeep("PostgreSQL", workers=2) as two:
        subjects: dict[str, Callable[[], float]] = {}
        for name, server in (("one", one), ("two", two)):
            stage.begin(server)
            with Client(server.port) as client:
                fill(client, "h", stage.messages)
            _wake(server)
            subjects[f"{name} writes"] = partial(_rate_of, stage.written, server)
            subjects[f"{name} reads"] = partial(_rate, stage, server, gets, READERS)
        rates = interleaved(subjects, stage.sizes.rounds)
    for what, clients in (("writes", WRITERS), ("reads", READERS)):
        yield Row(
            f"two workers on PostgreSQL, {what}, {clients} clients",
            median(rates[f"two {what}"]),
            "/s",
            target=1.6,
            ratio=ratio(rates[f"two {what}"], rates[f"one {what}"]),
            over=median(rates[f"one {what}"]),
            over_name="one worker",
        )


def _wake(server: Server) -> None:
    """Ask on many connections, one after the other, so that every worker has read once."""
    for _ in range(16):
        with Client(server.port) as client:
            client.get(replay_path("h", "&last=4"))


def _rate(stage: Stage, server: Server, requests: Requests, clients: int) -> float:
    return stage.load(server, requests, clients).rate


def _rate_of(post: Post, server: Server) -> float:
    return post(server, WRITERS).rate


def _median_ms_of(post: Post, server: Server) -> float:
    return post(server, 1).median_ms


def _slow_rate(server: Server) -> float:
    """The rate of one client, for who may need longer than a run of the load generator takes."""
    with Client(server.port) as client:
        return 1000 / client.get(replay_path("h")).ms
