"""Appending costs the same however long the conversation is: counted, not timed."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection

from app.conversations.commands import Erase
from app.database.database import Database
from app.database.memory import MOST_NAMES
from app.database.migrations import upgrade
from app.jsontext.reading import loads_object
from app.ledger.slice import Change
from app.ledger.wanted import Facet, Wanted
from app.model.limits import Limits
from app.turns.commands import Append
from app.turns.posting import read_post
from app.turns.turnform import made_ready
from tests.database.specimens import Do
from tests.statements import noted, row_count


def command(cid: str, body: dict[str, Any]) -> Append:
    members, texts = loads_object(json.dumps(body), Limits())
    return Append(cid, made_ready(read_post(members, texts, Limits()).drafts))


def append(database: Database, cid: str, body: dict[str, Any]) -> None:
    database.write_now(command(cid, body))


def rounds(first: int, count: int, *, open_calls: bool = False) -> dict[str, Any]:
    """A call and its result, as two turns each; every tenth call is never answered."""
    messages: list[dict[str, Any]] = []
    for number in range(first, first + count):
        function = {"name": "f", "arguments": "{}"}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        answered = "nobody" if number % 10 == 0 and not open_calls else f"call_{number}"
        messages.append({"role": "tool", "tool_call_id": answered, "content": "done"})
    return {"provider": "openai", "messages": messages}


@contextmanager
def counted(database: Database, steps: list[int]) -> Iterator[list[str]]:
    """The statements that are run meanwhile; on SQLite also its machine's steps, by hundreds."""
    statements: list[str] = []

    def note(connection: Connection, statement: str, _: object) -> None:
        statements.append(statement)
        driver: Any = connection.connection.driver_connection
        if hasattr(driver, "set_progress_handler"):
            driver.set_progress_handler(lambda: steps.append(1), 100)

    with noted(note, database):
        yield statements


@pytest.fixture(params=[MOST_NAMES, 0], ids=["remembering", "asking"])
def database(database_url: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    """One whose writers remember conversations, and one that asks, as for those too long for it."""
    upgrade(database_url)
    database = Database(database_url, memory=request.param)
    yield database
    database.close()


@pytest.mark.own_database
def test_the_thousandth_turn_is_as_cheap_as_the_tenth(database: Database) -> None:
    work = {}
    for cid, turns in (("short", 10), ("long", 1_000)):
        for first in range(0, turns // 2, 500):
            append(database, cid, rounds(first, min(500, turns // 2)))
        steps: list[int] = []
        with counted(database, steps) as statements:
            append(database, cid, rounds(90_001, 1, open_calls=True))
            append(database, cid, {"provider": "openai", "messages": [{"role": "user"}]})
        work[cid] = (statements, len(steps))
    assert work["long"][0] == work["short"][0]
    # A deeper tree costs a few more steps; reading the conversation would cost thousands.
    assert work["long"][1] <= work["short"][1] + 20


def test_a_hundred_results_run_as_many_statements_as_two(database: Database) -> None:
    # On a slow machine a connection may be looked after in between: the least of three counts.
    few, many = (
        min(_statements(database, f"c-{count}-{attempt}", count) for attempt in range(3))
        for count in (2, 100)
    )
    assert few == many


def _statements(database: Database, cid: str, count: int) -> int:
    """How many a post of so many results runs."""
    calls, results = [], []
    for number in range(count):
        calls.append({"id": f"call_{number}", "function": {"name": "f", "arguments": "{}"}})
        results.append({"role": "tool", "tool_call_id": f"call_{number}", "content": "done"})
    asking = {"role": "assistant", "content": "", "tool_calls": calls}
    append(database, cid, {"provider": "openai", "messages": [asking]})
    with counted(database, []) as statements:
        append(database, cid, {"provider": "openai", "messages": results})
    return len(statements)


def facets_written(database: Database, *commands: Append | Erase) -> int:
    """How many the commands write, carried out together."""
    written: list[int] = []

    def note(_: Connection, statement: str, values: Any) -> None:
        if statement.startswith("INSERT INTO conversation_facets"):
            written.append(row_count(values))

    gate = threading.Event()
    with noted(note, database):
        database.write_soon(Do("c", lambda _: Change(gate.wait())))
        done: list[Future[Any]] = [database.write_soon(command) for command in commands]
        gate.set()
        for one in done:
            one.result()
    return sum(written)


def test_what_a_conversation_is_found_by_is_written_once(database: Database) -> None:
    first, same, other = (rounds(number, 1) for number in range(3))
    other["messages"][0]["tool_calls"][0]["function"]["name"] = "g"
    again = 2 * (not database._memory)
    assert facets_written(database, command("c", first)) == 2
    assert facets_written(database, command("c", same)) == again
    assert facets_written(database, command("c", other)) == again // 2 + 1
    # What is made anew has none, also where both happen at once.
    assert facets_written(database, Erase("c"), command("c", first)) == 2
    wanted = Wanted(facets=(Facet("tool", "f"), Facet("provider", "openai")))
    found = database.read_now(lambda store: store.finder.find(wanted, 9))
    assert [one.id for one in found] == ["c"]


@pytest.fixture
def as_by_a_process() -> None:
    """The commands of this file are functions, which cannot be sent to a process."""
