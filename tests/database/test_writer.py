import asyncio
import threading
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from sqlalchemy import event

from app.database.database import Database, log
from app.ledger.load_request import Keys
from app.ledger.slice import Change, Slice
from app.model.errors import ConversationNotFound, Unavailable
from tests.database.specimens import Do, append, labels, result, rows, turn
from tests.statements import noted


class Strange(BaseException):
    """Not even an Exception."""


def raising(error: BaseException, cid: str = "c1") -> Do[int]:
    """A command that has decided already, and fails then."""

    def how(known: Slice) -> Change[int]:
        append(cid, "failed").decide(known)
        raise error

    return Do(cid, how)


def waiting_for(gate: threading.Event, cid: str = "c1") -> Do[None]:
    """A command that holds the writer."""

    def how(known: Slice) -> Change[None]:
        gate.wait()
        return Change(None)

    return Do(cid, how)


async def as_one_group(database: Database, *writes: Coroutine[Any, Any, Any]) -> list[Any]:
    """Hold the writers back until everything waits."""
    gate = threading.Event()
    names = [str(number) for number in range(16)]
    holding = [asyncio.ensure_future(database.write(waiting_for(gate, n))) for n in names]
    waiting = [asyncio.ensure_future(write) for write in writes]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*holding)
    return await asyncio.gather(*waiting, return_exceptions=True)


def test_commands_that_wait_are_committed_together(database: Database) -> None:
    writes = [database.write(append("c1", str(number))) for number in range(40)]
    assert asyncio.run(as_one_group(database, *writes)) == list(range(1, 41))
    counts = database.counts()
    assert counts.commands == 40 + 16
    # Of each writer: those that held it back, then all that waited.
    assert counts.commits <= 2 * len(database._threads)
    # A transaction knows one moment.
    turns = database.read_now(lambda store: store.turns.page("c1"))
    assert len({turn.created_at for turn in turns}) == 1
    assert counts.retries == counts.unavailable == 0


def test_a_lone_command_does_not_wait_for_company(database: Database) -> None:
    assert asyncio.run(database.write(append("c1"))) == 1
    assert database.counts().commits == database.counts().commands == 1


def test_commands_of_a_conversation_keep_their_order(database: Database) -> None:
    cids = [f"c{number % 3}" for number in range(30)]
    writes = [database.write(append(cid, str(n))) for n, cid in enumerate(cids)]
    asyncio.run(as_one_group(database, *writes))
    for first, cid in enumerate(("c0", "c1", "c2")):
        assert labels(database, cid) == [str(number) for number in range(first, 30, 3)]


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (ConversationNotFound("c9"), ConversationNotFound),
        (ZeroDivisionError(), ZeroDivisionError),
        (StopIteration(), RuntimeError),
        (Strange(), RuntimeError),
        (SystemExit(), RuntimeError),
    ],
    ids=repr,
)
def test_a_command_that_fails_harms_no_neighbour(
    database: Database, error: BaseException, seen: type[Exception]
) -> None:
    async def story() -> list[Any]:
        return await as_one_group(
            database,
            database.write(append("c1", "before")),
            database.write(raising(error)),
            database.write(append("c1", "after")),
            database.write(raising(error)),
        )

    first, failed, second, last = asyncio.run(story())
    assert (first, second) == (1, 2)
    assert isinstance(failed, seen)
    assert isinstance(last, seen)
    assert labels(database, "c1") == ["before", "after"]


def test_a_lone_command_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(database.write(raising(ZeroDivisionError())))
    assert labels(database, "c1") == []
    assert asyncio.run(database.write(append("c1"))) == 1


def test_a_statement_that_fails_harms_no_neighbour(database: Database) -> None:
    twice = rows("c1", results=[result(1), result(1)])
    unknown = Do("c1", lambda known: Change(None, turns=(turn(1, "a"), turn(1, "b"))))

    async def story() -> list[Any]:
        return await as_one_group(
            database,
            database.write(append("c1", "before")),
            database.write(unknown),
            database.write(append("c1", "after")),
            database.write(twice),
        )

    first, failed, last, _ = asyncio.run(story())
    # Another process may have been first, so it was tried again; then nobody can help.
    assert (first, type(failed), last) == (1, Unavailable, 2)
    assert labels(database, "c1") == ["before", "after"]


def test_nothing_is_read_after_something_was_written(database: Database) -> None:
    transactions: list[list[str]] = []

    def begin(_: Any) -> None:
        transactions.append([])

    def note(_: object, statement: str, __: object) -> None:
        reads = statement.lstrip().startswith(("SELECT", "WITH"))
        transactions[-1].append("read" if reads else "write")

    event.listen(database._writing, "begin", begin)
    writes = [database.write(append(f"c{number % 4}", str(number))) for number in range(20)]
    with noted(note, database):
        asyncio.run(as_one_group(database, *writes))
    assert any({"read", "write"} <= set(ran) for ran in transactions)
    for ran in transactions:
        assert ran == sorted(ran), ran


def test_an_answer_comes_only_when_others_can_see_the_change(
    database: Database, database_url: str
) -> None:
    async def story(other: Database) -> None:
        async def one(number: int) -> None:
            cid = f"c{number % 5}"
            seq = await database.write(append(cid))
            head = await other.read(lambda store: store.conversations.head(cid))
            assert head
            assert head.version >= seq

        await asyncio.gather(*(one(number) for number in range(50)))

    with Database(database_url) as other:
        asyncio.run(story(other))


def test_a_command_is_skipped_when_its_caller_left_before_it_began(database: Database) -> None:
    async def story() -> None:
        gate = threading.Event()
        first = asyncio.ensure_future(database.write(waiting_for(gate)))
        while database.counts().commands < 1:
            await asyncio.sleep(0.01)
        second = asyncio.ensure_future(database.write(append("c1", "left")))
        third = asyncio.ensure_future(database.write(append("c1", "stayed")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, third)

    asyncio.run(story())
    assert labels(database, "c1") == ["stayed"]


def test_a_command_that_began_completes_though_its_caller_left(database: Database) -> None:
    async def story() -> None:
        began, gate = threading.Event(), threading.Event()

        def how(known: Slice) -> Change[int]:
            began.set()
            gate.wait()
            return append("c1", "began").decide(known)

        write = asyncio.ensure_future(database.write(Do("c1", how)))
        await asyncio.to_thread(began.wait)
        write.cancel()
        await asyncio.sleep(0)
        gate.set()
        await database.write(append("c1", "next"))

    asyncio.run(story())
    assert labels(database, "c1") == ["began", "next"]


def test_closing_finishes_what_waits_and_takes_nothing_more(database_url: str) -> None:
    database = Database(database_url)

    async def story() -> list[int]:
        writes = [asyncio.ensure_future(database.write(append("c1"))) for _ in range(20)]
        await asyncio.sleep(0)
        database.close()
        with pytest.raises(Unavailable):
            await database.write(append("c1"))
        return await asyncio.wait_for(asyncio.gather(*writes), timeout=60)

    assert asyncio.run(story()) == list(range(1, 21))


def test_closing_waits_for_a_long_command_no_longer_than_it_is_told(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(log, "warning", told.append)
    database, gate = Database(database_url), threading.Event()
    written = database.write_soon(waiting_for(gate))
    while not database.counts().commands:
        time.sleep(0.01)
    ending = threading.Thread(target=database.close, args=[0.05], daemon=True)
    ending.start()
    ending.join(30)
    assert not ending.is_alive()
    assert not written.done()
    assert "what was begun may be undone" in told[0]
    gate.set()


def test_closing_waits_for_what_comes_behind_a_long_command(database_url: str) -> None:
    database, gate = Database(database_url), threading.Event()
    database.write_soon(waiting_for(gate))
    while not database.counts().commands:
        time.sleep(0.01)
    behind = database.write_soon(waiting_for(gate))
    ending = threading.Thread(target=database.close, args=[0.05], daemon=True)
    ending.start()
    ending.join(0.5)
    assert ending.is_alive()
    gate.set()
    ending.join(30)
    assert behind.done()


def test_answers_for_a_closed_loop_are_dropped(database: Database) -> None:
    gate = threading.Event()

    async def story() -> None:
        write = asyncio.ensure_future(database.write(waiting_for(gate)))
        await asyncio.sleep(0)
        write.cancel()

    asyncio.run(story())
    gate.set()
    assert database.write_now(append("c1")) == 1


def test_a_read_sees_one_moment(database: Database) -> None:
    database.write_now(append("c1"))

    def versions(store: Any) -> tuple[int, int]:
        before = store.conversations.head("c1").version
        database.write_now(append("c1"))
        return before, store.conversations.head("c1").version

    assert database.read_now(versions) == (1, 1)


def test_a_read_cannot_write(database: Database) -> None:
    with pytest.raises(Unavailable):
        database.read_now(
            lambda store: store._connection.exec_driver_sql("DELETE FROM conversations")
        )
    assert labels(database, "c1") == []


def test_the_database_answers_and_is_at_the_newest_schema(database: Database) -> None:
    asyncio.run(database.check_fit(unsafe=True))
    current, head = asyncio.run(database.schema_state())
    assert current == head is not None


def test_a_command_that_cannot_say_what_it_asks_harms_no_neighbour(database: Database) -> None:
    class Unclear(Do[int]):
        def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
            raise ConversationNotFound("c9")

    def refused(known: Slice) -> Change[int]:
        raise ConversationNotFound("c9")

    async def story() -> list[Any]:
        return await as_one_group(
            database,
            database.write(append("c1", "before")),
            database.write(Unclear("c1", refused)),
            database.write(append("c1", "after")),
        )

    first, failed, last = asyncio.run(story())
    assert (first, type(failed), last) == (1, ConversationNotFound, 2)
    assert database.counts().retries == 0
