"""What an append asks costs the same in a long conversation: statements, and work for each."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from app.core.ledger.records import AssignedId
from app.storage import sqlite
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
        # Results that wait are few, however long the conversation is.
        store.insert_results(cid, [result(seq, 1, f"early{seq}") for seq in seqs[:SHORT]])

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
        for answered in (None, False, True):
            store.call_page(cid, limit=1, answered=answered)
            store.call_page(cid, limit=1, at=(5, 0), answered=answered, newest_first=False)
        store.turn_versions(cid, [4, 5])

    return deed


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


@pytest.mark.own_database
def test_a_long_conversation_costs_no_more_than_a_short_one(database: Database) -> None:
    database.write_now(fill("short", SHORT))
    database.write_now(fill("long", LONG))
    short, long = statements_of(database, "short"), statements_of(database, "long")
    # Each question is one statement; two where an id that a replay showed is found.
    assert len(short) == 53
    assert [statement for statement, _ in long] == [statement for statement, _ in short]
    if database._kind is sqlite:
        assert 0 < steps(database, "long") <= steps(database, "short") * 1.05
    else:
        check_plans(database, long)


def steps(database: Database, cid: str) -> int:
    """How many instructions SQLite carries out."""

    def deed(store: ReadStore) -> int:
        taken = iter(range(10**9))
        driver: Any = store._connection.connection.driver_connection
        driver.set_progress_handler(lambda: next(taken) < 0, 1)
        ask(cid)(store)
        driver.set_progress_handler(None, 1)
        return next(taken)

    return database.read_now(deed)


def check_plans(database: Database, asked: Statements) -> None:
    """PostgreSQL touches no row that is not in the answer, though it knows nothing of the data."""

    def plans(store: ReadStore) -> list[str]:
        run = store._connection.exec_driver_sql
        explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
        return ["\n".join(run(explain + sql, values).scalars()) for sql, values in asked]

    for (sql, _), plan in zip(asked, database.read_now(plans), strict=True):
        touched = re.findall(r"actual rows=(\d+)|Rows Removed by \D+: (\d+)", plan)
        assert max(int(a or b) for a, b in touched) < 20, f"{sql}\n{plan}"
