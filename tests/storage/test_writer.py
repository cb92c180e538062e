import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from app.core.errors import ConversationNotFound, Unavailable
from app.storage.database import Database
from app.storage.store import Store
from tests.storage.specimens import append, labels


class Strange(BaseException):
    """Not even an Exception."""


def raising(error: BaseException, cid: str = "c1") -> Callable[[Store], None]:
    """A deed that writes first and fails then."""

    def deed(store: Store) -> None:
        append(cid, "failed")(store)
        raise error

    return deed


async def as_one_group(database: Database, *writes: Coroutine[Any, Any, Any]) -> list[Any]:
    """Hold the writers back until everything waits."""
    gate = threading.Event()
    names = [str(number) for number in range(16)]
    holding = [asyncio.ensure_future(database.write(n, lambda _: gate.wait())) for n in names]
    waiting = [asyncio.ensure_future(write) for write in writes]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*holding)
    return await asyncio.gather(*waiting, return_exceptions=True)


def test_deeds_that_wait_are_committed_together(database: Database) -> None:
    writes = [database.write("c1", append("c1", str(number))) for number in range(40)]
    assert asyncio.run(as_one_group(database, *writes)) == list(range(1, 41))
    counts = database.counts()
    assert counts.group_sizes[40] + counts.group_sizes[41:].count(1) == 1
    assert counts.deeds == 40 + 16
    assert counts.commits == sum(counts.group_sizes) < 40
    assert counts.retries == counts.unavailable == 0


def test_a_lone_deed_does_not_wait_for_company(database: Database) -> None:
    assert asyncio.run(database.write("c1", append("c1"))) == 1
    assert database.counts().group_sizes[1] == 1


def test_deeds_of_a_conversation_keep_their_order(database: Database) -> None:
    cids = [f"c{number % 3}" for number in range(30)]
    writes = [database.write(cid, append(cid, str(n))) for n, cid in enumerate(cids)]
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
def test_a_deed_that_fails_harms_no_neighbour(
    database: Database, error: BaseException, seen: type[Exception]
) -> None:
    async def story() -> list[Any]:
        return await as_one_group(
            database,
            database.write("c1", append("c1", "before")),
            database.write("c1", raising(error)),
            database.write("c1", append("c1", "after")),
            database.write("c1", raising(error)),
        )

    first, failed, second, last = asyncio.run(story())
    assert (first, second) == (1, 2)
    assert isinstance(failed, seen)
    assert isinstance(last, seen)
    assert labels(database, "c1") == ["before", "after"]


def test_a_lone_deed_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(database.write("c1", raising(ZeroDivisionError())))
    assert labels(database, "c1") == []
    assert asyncio.run(database.write("c1", append("c1"))) == 1


def test_a_statement_that_fails_harms_no_neighbour(database: Database) -> None:
    def broken(store: Store) -> None:
        store.insert_turns("absent", [])
        store.claim_key("absent", "key", b"body")

    async def story() -> list[Any]:
        return await as_one_group(
            database,
            database.write("c1", append("c1", "before")),
            database.write("c1", broken),
            database.write("c1", append("c1", "after")),
        )

    first, failed, last = asyncio.run(story())
    assert (first, type(failed).__name__, last) == (1, "IntegrityError", 2)


def test_a_deed_may_not_go_on_after_a_failed_statement(
    postgres_database_url: str,
) -> None:
    def stubborn(store: Store) -> str:
        with pytest.raises(Exception, match="fk_idempotency_keys_conversations"):
            store.claim_key("absent", "key", b"body")
        return "all is well"

    async def story(database: Database) -> list[Any]:
        with pytest.raises(RuntimeError, match="went on"):
            await database.write("c1", stubborn)
        return await as_one_group(
            database,
            database.write("c1", stubborn),
            database.write("c1", append("c1")),
            database.write("c1", stubborn),
        )

    with Database(postgres_database_url) as database:
        first, appended, last = asyncio.run(story(database))
    assert (type(first), appended, type(last)) == (RuntimeError, 1, RuntimeError)


def test_an_answer_comes_only_when_others_can_see_the_deed(
    database: Database, database_url: str
) -> None:
    async def story(other: Database) -> None:
        async def one(number: int) -> None:
            cid = f"c{number % 5}"
            seq = await database.write(cid, append(cid))
            head = await other.read(lambda store: store.conversation(cid))
            assert head
            assert head.version >= seq

        await asyncio.gather(*(one(number) for number in range(50)))

    with Database(database_url) as other:
        asyncio.run(story(other))


def test_a_deed_is_skipped_when_its_caller_left_before_it_began(database: Database) -> None:
    async def story() -> None:
        gate = threading.Event()
        first = asyncio.ensure_future(database.write("c1", lambda _: gate.wait()))
        second = asyncio.ensure_future(database.write("c1", append("c1", "left")))
        third = asyncio.ensure_future(database.write("c1", append("c1", "stayed")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, third)

    asyncio.run(story())
    assert labels(database, "c1") == ["stayed"]


def test_a_deed_that_began_completes_though_its_caller_left(database: Database) -> None:
    async def story() -> None:
        began, gate = threading.Event(), threading.Event()

        def deed(store: Store) -> None:
            began.set()
            gate.wait()
            append("c1", "began")(store)

        write = asyncio.ensure_future(database.write("c1", deed))
        await asyncio.to_thread(began.wait)
        write.cancel()
        await asyncio.sleep(0)
        gate.set()
        await database.write("c1", append("c1", "next"))

    asyncio.run(story())
    assert labels(database, "c1") == ["began", "next"]


def test_closing_finishes_what_waits_and_takes_nothing_more(database_url: str) -> None:
    database = Database(database_url)

    async def story() -> list[int]:
        writes = [asyncio.ensure_future(database.write("c1", append("c1"))) for _ in range(20)]
        await asyncio.sleep(0)
        database.close()
        with pytest.raises(Unavailable):
            await database.write("c1", append("c1"))
        return await asyncio.wait_for(asyncio.gather(*writes), timeout=60)

    assert asyncio.run(story()) == list(range(1, 21))


def test_answers_for_a_closed_loop_are_dropped(database: Database) -> None:
    gate = threading.Event()

    async def story() -> None:
        write = asyncio.ensure_future(database.write("c1", lambda _: gate.wait()))
        await asyncio.sleep(0)
        write.cancel()

    asyncio.run(story())
    gate.set()
    assert database.write_now(append("c1"), "c1") == 1


def test_a_read_sees_one_moment(database: Database) -> None:
    database.write_now(append("c1"))

    def versions(store: Any) -> tuple[int, int]:
        before = store.conversation("c1").version
        database.write_now(append("c1"))
        return before, store.conversation("c1").version

    assert database.read_now(versions) == (1, 1)


def test_a_read_cannot_write(database: Database) -> None:
    with pytest.raises(Unavailable):
        database.read_now(lambda store: append("c1")(Store(store._connection, "default")))
    assert labels(database, "c1") == []


def test_the_database_answers_and_is_at_the_newest_schema(database: Database) -> None:
    asyncio.run(database.ping())
    current, head = asyncio.run(database.schema_state())
    assert current == head is not None
