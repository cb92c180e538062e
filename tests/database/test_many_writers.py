"""Nothing lost, nothing twice, no gap, no error, however many write at once."""

import asyncio
import multiprocessing
from collections import Counter
from itertools import chain

import pytest

from app.conversations.commands import Create
from app.database.database import Database
from app.model.errors import ConversationExists
from app.model.large import whole
from tests.database.specimens import append, append_many, labels

WRITERS, TURNS = 32, 5


def check(database: Database, cid: str, expected: list[str]) -> None:
    turns = database.read_now(lambda store: store.turns.page(cid))
    head = database.read_now(lambda store: store.conversations.head(cid))
    assert head
    assert [turn.seq for turn in turns] == list(range(1, len(expected) + 1))
    assert (head.version, head.head_hash) == (len(expected), b"%d" % len(expected))
    assert Counter(whole(turn.payload).decode() for turn in turns) == Counter(expected)
    calls = database.read_now(lambda store: store.ledger.calls(cid))
    assert len(calls) == 2 * len(expected)


@pytest.mark.parametrize("conversations", [1, 32])
def test_32_writers_in_one_process(database: Database, conversations: int) -> None:
    async def writer(number: int) -> None:
        cid = f"c{number % conversations}"
        for turn in range(TURNS):
            await database.write(append(cid, f"{number}-{turn}"))

    async def story() -> None:
        await asyncio.gather(*(writer(number) for number in range(WRITERS)))

    asyncio.run(story())
    for place in range(conversations):
        numbers = range(place, WRITERS, conversations)
        expected = [f"{number}-{turn}" for number in numbers for turn in range(TURNS)]
        check(database, f"c{place}", expected)
    assert database.counts().unavailable == 0


def test_several_processes_on_one_database(database: Database, database_url: str) -> None:
    """First they all write to one conversation, then to four at a time."""
    spawn = multiprocessing.get_context("spawn")
    names = ["p0", "p1", "p2"]
    groups = [["one"], ["a", "b", "c", "d"]]
    processes = [
        spawn.Process(target=append_many, args=(database_url, groups, name, 40)) for name in names
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    for cid in chain.from_iterable(groups):
        check(database, cid, [f"{name}-{number}" for name in names for number in range(40)])
        # Each process keeps its own order too.
        for name in names:
            mine = [label for label in labels(database, cid) if label.startswith(name)]
            assert mine == [f"{name}-{number}" for number in range(40)]


def test_only_one_of_many_creates(database_url: str) -> None:
    """Also where they write through several databases at once."""
    with Database(database_url) as one, Database(database_url) as other:

        async def story() -> list[object]:
            writes = (
                database.write(Create("c1", str(number), {}))
                for number in range(WRITERS)
                for database in (one, other)
            )
            return await asyncio.gather(*writes, return_exceptions=True)

        made = asyncio.run(story())
    assert sum(isinstance(receipt, dict) for receipt in made) == 1
    assert {type(receipt) for receipt in made} == {dict, ConversationExists}
