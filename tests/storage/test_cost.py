"""What an append asks costs the same in a long conversation: statements, and work for each."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from app.core.records import AssignedId
from app.storage.database import Database
from app.storage.store import ReadStore, Store
from tests.storage.specimens import call, result, turn

SHORT, LONG = 10, 10_000
Statements = list[tuple[str, Any]]


def fill(cid: str, length: int) -> Callable[[Store], None]:
    """Turns with an open and an answered call each, all under the same raw id."""

    def deed(store: Store) -> None:
        seqs = range(1, length + 1)
        calls = [call(seq, index, answered=index == 1) for seq in seqs for index in (0, 1)]
        assigned = [AssignedId("kimi", f"functions.read:{n}", c.id, n) for n, c in enumerate(calls)]
        store.create(cid, None, b"{}")
        store.insert_turns(cid, [turn(seq) for seq in seqs])
        store.insert_calls(cid, calls)
        store.insert_assigned(cid, assigned)
        store.insert_results(cid, [result(seq, 0, call_id=call(seq, 1).id) for seq in seqs])
        store.insert_results(cid, [result(seq, 1, f"early{seq}") for seq in seqs])

    return deed


def ask(cid: str) -> Callable[[ReadStore], None]:
    def deed(store: ReadStore) -> None:
        book = store.book(cid)
        store.conversation(cid)
        store.turn(cid, "turn-5")
        store.turns(cid, after=4, limit=2)
        book.by_canonical(call(5).id)
        for key in ("call_0", "functions.read:8", "nowhere"):
            for kind in ("raw", "provider_id", "normalized"):
                book.open(kind, key)
                book.answered(kind, key)
        book.newest_open()
        store.used_canonical(cid, [call(5).id])
        store.highest_ordinal(cid, "kimi")
        store.taken_ids(cid, "kimi", ["functions.read:8", "nowhere"])
        store.waiting_orphans(cid, ["early5", "nowhere"], ["early6"])
        store.idempotent_answer(cid, "key")
        store.calls(cid, limit=1, after=(5, 0))

    return deed


@pytest.fixture
def filled(database: Database) -> Database:
    database.write_now(fill("short", SHORT))
    database.write_now(fill("long", LONG))
    return database


@contextmanager
def recorded(database: Database) -> Iterator[Statements]:
    seen: Statements = []

    def record(_: object, __: object, statement: str, values: Any, *___: object) -> None:
        seen.append((statement, values))

    event.listen(database._reading, "before_cursor_execute", record)
    yield seen
    event.remove(database._reading, "before_cursor_execute", record)


def statements_of(database: Database, cid: str) -> Statements:
    with recorded(database) as seen:
        database.read_now(ask(cid))
    return seen


def test_a_long_conversation_needs_no_more_statements(filled: Database) -> None:
    short, long = statements_of(filled, "short"), statements_of(filled, "long")
    assert [statement for statement, _ in long] == [statement for statement, _ in short]
    # Each question is one statement; two where an id that a replay showed is found.
    assert len(short) == 35


def test_sqlite_takes_no_more_steps_in_a_long_conversation(sqlite_database_url: str) -> None:
    with Database(sqlite_database_url) as database:
        database.write_now(fill("short", SHORT))
        database.write_now(fill("long", LONG))

        def steps(cid: str) -> Callable[[ReadStore], int]:
            def deed(store: ReadStore) -> int:
                taken = iter(range(10**9))
                driver: Any = store._connection.connection.driver_connection
                driver.set_progress_handler(lambda: next(taken) < 0, 1)
                ask(cid)(store)
                driver.set_progress_handler(None, 1)
                return next(taken)

            return deed

        short, long = database.read_now(steps("short")), database.read_now(steps("long"))
        assert 0 < long <= short * 1.05


def test_postgresql_reads_no_row_in_vain(postgres_database_url: str) -> None:
    with Database(postgres_database_url) as database:
        database.write_now(fill("long", LONG))
        asked = statements_of(database, "long")

        def plans(store: ReadStore) -> list[str]:
            run = store._connection.exec_driver_sql
            explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
            return ["\n".join(run(explain + sql, values).scalars()) for sql, values in asked]

        for (sql, _), plan in zip(asked, database.read_now(plans), strict=True):
            touched = re.findall(r"actual rows=(\d+)|Rows Removed by \D+: (\d+)", plan)
            assert max(int(a or b) for a, b in touched) < 20, f"{sql}\n{plan}"
