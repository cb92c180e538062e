"""`python -m tests.crash.appends`: 64 writers on one and on 50 conversations, half with `If-Match`.

Nothing may be lost, doubled or reordered, and a version may have one winner. Readers ask for
replays meanwhile: each must be the render of what some commit left, which is asked for again with
`until` when all is over.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import httpx

from tests.crash.checker import damages, faults, stored, summary
from tests.crash.posts import TURNS, Json, Post
from tests.crash.run import say, served
from tests.crash.victims import Service

WRITERS = 64
READERS = 4
EACH = 10
CONVERSATIONS = (1, 50)
TARGETS = ("openai", "anthropic", "gemini")
# What of a replay must be the same when it is asked for again.
COMPARED = ("request", "repairs", "pending", "prefix")


@dataclass(frozen=True)
class Write:
    """An append that succeeded: when it was asked for and told of, and the version it expected."""

    cid: str
    begun: float
    ended: float
    # The first of its turns.
    seq: int
    expected: int | None = None


@dataclass(frozen=True)
class Read:
    cid: str
    target: str
    replay: Json


@dataclass
class History:
    posts: list[Post] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    stale: int = 0


def reordered(writes: Iterable[Write]) -> list[str]:
    """What was told of before another was asked for stands before it."""
    said = []
    by_cid: dict[str, list[Write]] = defaultdict(list)
    for write in writes:
        by_cid[write.cid].append(write)
    for cid, its in by_cid.items():
        ended = sorted(its, key=lambda write: write.ended)
        newest, at = 0, 0
        for write in sorted(its, key=lambda write: write.begun):
            while ended[at].ended < write.begun:
                newest, at = max(newest, ended[at].seq), at + 1
            if write.seq < newest:
                said.append(f"{cid}: {write.seq} was asked for after {newest} was stored")
    return said


def wrong_winners(writes: Iterable[Write]) -> list[str]:
    """Who expected a version stands right behind it, alone."""
    conditional = [write for write in writes if write.expected is not None]
    counts = Counter((write.cid, write.expected) for write in conditional)
    return [
        *(
            f"{cid}: version {version} has {n} winners"
            for (cid, version), n in counts.items()
            if n > 1
        ),
        *(
            f"{write.cid}: {write.seq} expected version {write.expected}"
            for write in conditional
            if write.seq - 1 != write.expected
        ),
    ]


def halves(reads: Iterable[Read]) -> list[str]:
    """Replays that end inside of a post."""
    return [
        f"{read.cid}: a replay of version {read.replay['version']}"
        for read in reads
        if read.replay["version"] % TURNS
    ]


def tried(
    service: Service, conversations: int, each: int, writers: int = WRITERS
) -> tuple[list[str], str]:
    """What is wrong, and a line that says what was done."""
    history = asyncio.run(_raced(service.url, conversations, each, writers))
    turns = stored(service.database_url)
    mine = {cid: found for cid, found in turns.items() if cid.startswith(f"{conversations}-")}
    found = faults(history.posts, mine)
    wrong = [f"{fault.kind}: {fault.text}" for fault in found]
    wrong += reordered(history.writes) + wrong_winners(history.writes) + halves(history.reads)
    if not wrong:
        wrong = asyncio.run(_asked_again(service.url, history.reads, mine))
    wrong += damages(service.database_url, service.folder)
    conditional = sum(write.expected is not None for write in history.writes)
    versions = len({(read.cid, read.replay["version"]) for read in history.reads})
    return wrong, (
        f"{writers} writers on {conversations}: {len(history.writes)} appends, {conditional} of"
        f" them conditional after {history.stale} times 412; {summary(found)};"
        f" {len(history.reads)} replays of {versions} versions; {len(wrong)} complaints"
    )


async def _raced(url: str, conversations: int, each: int, count: int) -> History:
    history, over = History(), asyncio.Event()
    limits = httpx.Limits(max_connections=count + READERS)
    async with (
        httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as http,
        asyncio.TaskGroup() as readers,
    ):
        for _ in range(READERS):
            readers.create_task(_read(http, history, conversations, over))
        async with asyncio.TaskGroup() as writers:
            for writer in range(count):
                cid = f"{conversations}-{writer % conversations}"
                writers.create_task(_write(http, history, cid, writer, each))
        over.set()
    return history


async def _write(
    http: httpx.AsyncClient, history: History, cid: str, writer: int, each: int
) -> None:
    conditional, version = writer % 2 == 1, 0
    for number in range(each):
        post = Post(cid, f"{writer}-{number}")
        history.posts.append(post)
        while post.receipt is None:
            condition = {"If-Match": f'"{version}"'} if conditional else {}
            begun = time.monotonic()
            response = await http.post(
                post.path, content=post.body(), headers={**post.headers, **condition}
            )
            if response.status_code == 412:
                assert conditional
                history.stale += 1
                version = int(response.headers["ETag"].strip('"'))
                continue
            assert response.status_code == 201, response.text
            post.receipt = response.json()
            seq = post.receipt["turns"][0]["seq"]
            expected = version if conditional else None
            history.writes.append(Write(cid, begun, time.monotonic(), seq, expected))
            version = post.receipt["version"]


async def _read(
    http: httpx.AsyncClient, history: History, conversations: int, over: asyncio.Event
) -> None:
    while not over.is_set():
        cid, target = f"{conversations}-{random.randrange(conversations)}", random.choice(TARGETS)
        response = await http.get(_replay(cid), params={"provider": target})
        if response.status_code != 404:
            assert response.status_code == 200, response.text
            history.reads.append(Read(cid, target, response.json()))


async def _asked_again(url: str, reads: Sequence[Read], turns: dict[str, list[Json]]) -> list[str]:
    """Replays that are not the render of the turns up to their version."""
    said = []
    known: dict[tuple[str, str, int], Json] = {}
    async with httpx.AsyncClient(base_url=url, timeout=120) as http:
        for read in reads:
            version = read.replay["version"]
            key = (read.cid, read.target, version)
            if key not in known:
                asked = {"provider": read.target, "until": turns[read.cid][version - 1]["turn_id"]}
                known[key] = (await http.get(_replay(read.cid), params=asked)).json()
            said += [
                f"{read.cid}: {name} for {read.target} at version {version}"
                for name in COMPARED
                if read.replay[name] != known[key][name]
            ]
    return said


def _replay(cid: str) -> str:
    return f"/v1/conversations/{cid}/replay"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.appends")
    parser.add_argument("--each", type=int, default=EACH, help="appends of each writer")
    args = parser.parse_args()
    red = False
    for name in ("SQLite, 2 workers", "PostgreSQL, 2 workers"):
        with served(name) as service:
            for conversations in CONVERSATIONS:
                wrong, line = tried(service, conversations, args.each)
                say("\n    ".join([f"{name}: {line}", *wrong[:10]]))
                red = red or bool(wrong)
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
