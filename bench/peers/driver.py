"""`python -m bench.peers.driver PEER URL`: does the work of the benchmark with one peer.

Orders come as lines of JSON on the standard input, figures go back the same way:
`{"work": "append", "clients": 32, "seconds": 5}` gives appends a second and the median of their
milliseconds, `fill` stores a history (`turns`) in the session `h`, `load` reads it, `grow` stores
one turn by turn.
"""

import asyncio
import importlib
import inspect
import json
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from statistics import median
from typing import Any

from bench.turns import Message, Texts, call_turn, history

PEERS = {
    "agents-sqlite": "bench.peers.agents_sdk:Sqlite",
    "agents-sqlalchemy": "bench.peers.agents_sdk:Sqlalchemy",
    "langgraph-sqlite": "bench.peers.langgraph_savers:Sqlite",
    "langgraph-postgres": "bench.peers.langgraph_savers:Postgres",
    "adk": "bench.peers.adk:Service",
    "llm": "bench.peers.llm_logs:Logs",
}
CONVERTERS = {
    "litellm": "bench.peers.converters:Litellm",
    "pydantic-ai": "bench.peers.converters:PydanticAi",
}
# Sessions of a client, which it appends to in turn; as many in all as Turnkeep's clients have.
_SESSIONS = 2
_READY = 64


class Driver:
    """One peer at work."""

    def __init__(self, peer: Any) -> None:
        self._peer = peer
        self._texts = Texts()
        self._names = count()

    async def append(self, clients: int, seconds: float) -> dict[str, float]:
        run = next(self._names)
        turns = {
            one: [call_turn(self._texts, f"{run}-{one}-{n}") for n in range(_READY)]
            for one in range(clients)
        }

        async def once(do: Any, client: int, number: int) -> None:
            session = f"{run}-{client}-{number % _SESSIONS}"
            await do(self._peer.append, session, turns[client][number % _READY])

        return await self._timed(once, clients, seconds)

    async def load(self, clients: int, seconds: float) -> dict[str, float]:
        async def once(do: Any, client: int, number: int) -> None:
            await do(self._peer.load, "h")

        return await self._timed(once, clients, seconds)

    async def fill(self, turns: int, session: str = "h") -> dict[str, float]:
        """A history, to be loaded. Who can store it at once need not append turn by turn."""
        messages = list(history(self._texts, turns, session))
        if hasattr(self._peer, "store"):
            self._peer.store(session, messages)
            return {}
        return await self.grow(messages, session)

    async def grow(self, turns: int | list[Message], session: str) -> dict[str, float]:
        """A history, turn by turn."""
        messages = history(self._texts, turns, session) if isinstance(turns, int) else turns
        for message in messages:
            await _directly(self._peer.append, session, message)
        return {}

    async def _timed(self, once: Any, clients: int, seconds: float) -> dict[str, float]:
        """Let clients do something again and again, each when it is done with the last."""
        times: list[float] = []
        with ThreadPoolExecutor(clients) as threads:
            do = _directly if clients == 1 else partial(_beside, threads)
            for client in range(clients):
                await once(do, client, 0)
            begun = time.perf_counter()

            async def client_at_work(client: int) -> None:
                for number in count(1):
                    start = time.perf_counter()
                    await once(do, client, number)
                    times.append(time.perf_counter() - start)
                    if time.perf_counter() - begun > seconds:
                        return

            await asyncio.gather(*map(client_at_work, range(clients)))
        took = time.perf_counter() - begun
        return {"rate": len(times) / took, "ms": median(times) * 1000}


async def _directly(work: Callable[..., Any], *arguments: Any) -> Any:
    done = work(*arguments)
    return await done if inspect.isawaitable(done) else done


async def _beside(threads: ThreadPoolExecutor, work: Callable[..., Any], *arguments: Any) -> Any:
    """Plain functions run on threads, so that clients do not wait for one another."""
    if inspect.iscoroutinefunction(work):
        return await work(*arguments)
    return await asyncio.get_running_loop().run_in_executor(threads, partial(work, *arguments))


class Converting:
    """Conversion without storage."""

    def __init__(self, converter: Any) -> None:
        self._converter = converter

    async def convert(self, turns: int, seconds: float) -> dict[str, float]:
        prepared = self._converter.prepared(list(history(Texts(), turns)))
        convert = partial(self._converter.convert, prepared)
        times: list[float] = []
        end = time.perf_counter() + seconds
        await asyncio.to_thread(convert)
        while not times or time.perf_counter() < end:
            begun = time.perf_counter()
            await asyncio.to_thread(convert)
            times.append(time.perf_counter() - begun)
        return {"ms": median(times) * 1000}


def _named(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(module), name)


async def main() -> None:
    name, *url = sys.argv[1:]
    # What the libraries print must not come between the figures.
    figures, sys.stdout = sys.stdout, sys.stderr
    worker: Any = (
        Driver(_named(PEERS[name])(*url))
        if name in PEERS
        else Converting(_named(CONVERTERS[name])())
    )
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        work: Callable[..., Awaitable[object]] = getattr(worker, order.pop("work"))
        print(json.dumps(await work(**order)), file=figures, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
