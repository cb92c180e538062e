"""Appending costs the same however long the conversation is: counted, not timed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection

from app.core.json.reading import loads_object
from app.core.limits import Limits
from app.service.append import Append
from app.service.posting import read_post
from app.service.turnform import made_ready
from app.storage.database import Database
from app.storage.memory import MOST_NAMES
from app.storage.migrations import upgrade
from tests.statements import noted


def append(database: Database, cid: str, body: dict[str, Any]) -> None:
    members, texts = loads_object(json.dumps(body), Limits())
    post = read_post(members, texts, Limits())
    database.write_now(Append(cid, post, made_ready(post)))


def rounds(first: int, count: int, *, open_calls: bool = False) -> dict[str, Any]:
    """A call and its result, as two turns each; every tenth call is never answered."""
    messages: list[dict[str, Any]] = []
    for number in range(first, first + count):
        call = {"id": f"call_{number}", "function": {"name": "f", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        answered = "nobody" if number % 10 == 0 and not open_calls else f"call_{number}"
        messages.append({"role": "tool", "tool_call_id": answered, "content": "done"})
    return {"provider": "openai", "messages": messages}


@contextmanager
def counted(steps: list[int]) -> Iterator[list[str]]:
    """The statements that are run meanwhile; on SQLite also its machine's steps, by hundreds."""
    statements: list[str] = []

    def note(connection: Connection, statement: str, _: object) -> None:
        statements.append(statement)
        driver: Any = connection.connection.driver_connection
        if hasattr(driver, "set_progress_handler"):
            driver.set_progress_handler(lambda: steps.append(1), 100)

    with noted(note):
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
        with counted(steps) as statements:
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
    with counted([]) as statements:
        append(database, cid, {"provider": "openai", "messages": results})
    return len(statements)
