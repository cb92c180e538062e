"""Writers that post until they are told to stop, and retry until they are acknowledged."""

import asyncio
import random
from dataclasses import dataclass, field

import httpx

from tests.crash.posts import Post

WRITERS = 32
CONVERSATIONS = 8
# Seconds between tries: a server that is away must not be asked all the time.
PAUSE = 0.05
# Enough for minutes; who never gets a receipt says so.
TRIES = 3000
# One in so many gives up when its connection breaks, and never learns what became of its post.
GIVES_UP = 8


@dataclass
class Log:
    """What was posted, and every response that nobody should get."""

    posts: list[Post] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    retries: int = 0
    # Set by every receipt: what was just told is what a kill may find undone.
    told: asyncio.Event = field(default_factory=asyncio.Event)

    def acknowledged(self) -> int:
        return sum(post.receipt is not None for post in self.posts)


async def write_until(stop: asyncio.Event, url: str, log: Log, chance: random.Random) -> None:
    """All writers; returns when each has its last receipt."""
    limits = httpx.Limits(max_connections=WRITERS)
    async with httpx.AsyncClient(base_url=url, timeout=30, limits=limits) as http:
        seeds = [chance.random() for _ in range(WRITERS)]
        await asyncio.gather(
            *(_write(stop, http, log, number, seed) for number, seed in enumerate(seeds))
        )


async def _write(
    stop: asyncio.Event, http: httpx.AsyncClient, log: Log, writer: int, seed: float
) -> None:
    chance, number = random.Random(seed), 0
    while not stop.is_set():
        post = Post(f"c{writer % CONVERSATIONS}", f"{writer}-{number}")
        number += 1
        log.posts.append(post)
        for _ in range(TRIES):
            if await _is_done(http, log, post, chance):
                break
            log.retries += 1
            await asyncio.sleep(PAUSE)
        else:
            log.surprises.append(f"{post.key}: not acknowledged after {TRIES} tries")


async def _is_done(http: httpx.AsyncClient, log: Log, post: Post, chance: random.Random) -> bool:
    try:
        response = await http.post(post.path, content=post.body(), headers=post.headers)
    except httpx.TransportError:
        return chance.randrange(GIVES_UP) == 0
    if response.status_code in (200, 201):
        post.receipt = response.json()
        log.told.set()
        return True
    # Busy or out of reach, or the first of two is still running.
    if response.status_code not in (409, 503):
        log.surprises.append(f"{post.key}: {response.status_code} {response.text[:200]}")
        return True
    return False
