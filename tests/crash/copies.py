"""Copies of posts, and the processes that send them. They import nothing of the program."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from tests.crash.posts import Post

PROCESSES = 3
CONVERSATIONS = 20
# Requests of one process at a time.
AT_ONCE = 12
COPIES = 5
CUT = 0.2
# A copy is sent while about so many later posts are; and hangs up after so many seconds.
SPREAD = 60
SOON = 0.03
# For a response that is final, with so many seconds between them.
TRIES = 100
PAUSE = 0.05


@dataclass(frozen=True)
class Copy:
    """One sending of a post. `cut` are the seconds after which it hangs up."""

    number: int
    cut: float | None = None
    changed: bool = False

    def post(self) -> Post:
        return Post(f"c{self.number % CONVERSATIONS}", f"0-{self.number}")

    def body(self) -> bytes:
        return self.post().body() + (b" " if self.changed else b"")


@dataclass(frozen=True)
class Got:
    """What a copy was told; None for a response that was cut off. `broken` connections came
    before it."""

    copy: Copy
    status: int | None = None
    text: str = ""
    broken: int = 0


def copies(count: int, chance: random.Random) -> list[list[Copy]]:
    """All copies in the order of sending, a list for each process."""
    timed = [
        (number + chance.uniform(0, SPREAD), number, chance.uniform(0, SOON) if cut else None)
        for number in range(count)
        for cut in (chance.random() < CUT for _ in range(chance.randint(1, COPIES)))
    ]
    shares: list[list[Copy]] = [[] for _ in range(PROCESSES)]
    for _, number, seconds in sorted(timed, key=lambda one: one[0]):
        chance.choice(shares).append(Copy(number, seconds))
    return shares


def send(url: str, share: Sequence[Copy]) -> list[Got]:
    """What one process does."""
    return asyncio.run(_send(url, iter(share)))


async def _send(url: str, share: Iterator[Copy]) -> list[Got]:
    got: list[Got] = []

    async def take(http: httpx.AsyncClient) -> None:
        for copy in share:
            if copy.cut is None:
                got.append(await _heard(http, copy))
            else:
                await _cut_off(url, copy, copy.cut)
                got.append(Got(copy))

    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as http:
        await asyncio.gather(*(take(http) for _ in range(AT_ONCE)))
    return got


async def _heard(http: httpx.AsyncClient, copy: Copy) -> Got:
    post = copy.post()
    broken = 0
    for _ in range(TRIES):
        try:
            response = await http.post(post.path, content=copy.body(), headers=post.headers)
        except httpx.TransportError:
            # As when the server closes an idle connection just now; that is what keys are for.
            broken += 1
        else:
            # Other than these: the first copy is still running, or there is no room just now.
            if response.status_code not in (409, 503):
                return Got(copy, response.status_code, response.text, broken)
        await asyncio.sleep(PAUSE)
    return Got(copy, 0, f"no receipt after {TRIES} tries", broken)


async def _cut_off(url: str, copy: Copy, seconds: float) -> None:
    parts = urlsplit(url)
    post, body = copy.post(), copy.body()
    told: Mapping[str, str] = {
        "Host": parts.netloc,
        "Content-Length": str(len(body)),
        **post.headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(f"POST {post.path} HTTP/1.1\r\n{head}\r\n".encode() + body)
    await writer.drain()
    await asyncio.sleep(seconds)
    writer.transport.abort()
