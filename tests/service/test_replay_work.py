"""A window costs the same however long the conversation is: counted, not timed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest
from sqlalchemy import Engine, event

from app.core.conversation import Turn
from app.core.json.text import loads_object
from app.core.ledger.records import TurnRecord
from app.core.limits import Limits
from app.core.render.options import ReplayOptions
from app.service import loading
from app.service.append import Append
from app.service.newturn import made_ready
from app.service.posting import read_post
from app.service.replay import replay
from app.service.turnform import read_turn
from app.storage.database import Database
from app.storage.migrations import upgrade


def append(database: Database, cid: str, turns: int) -> None:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}]
    for number in range(turns // 4):
        call = {"id": f"call_{number}", "function": {"name": "f", "arguments": "{}"}}
        messages += [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": "done"},
            {"role": "assistant", "content": "seen"},
        ]
    for first in range(0, len(messages), 500):
        body = json.dumps({"provider": "openai", "messages": messages[first : first + 500]})
        members, texts = loads_object(body, Limits())
        post = read_post(members, texts, Limits())
        database.write_now(Append(cid, post, made_ready(post, searches=True)))


@contextmanager
def counted(steps: list[int]) -> Iterator[list[str]]:
    """The statements that are run meanwhile; on SQLite also its machine's steps, by hundreds."""
    statements: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)
        driver = connection.connection.driver_connection
        if hasattr(driver, "set_progress_handler"):
            driver.set_progress_handler(lambda: steps.append(1), 100)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    upgrade(database_url)
    with Database(database_url) as database:
        append(database, "short", 60)
        append(database, "long", 2_000)
        yield database


WINDOWS = (
    ReplayOptions("openai", last=4),
    ReplayOptions("openai", max_tokens=60),
    ReplayOptions("openai", last=4, since=50),
)


def test_a_window_reads_what_it_shows(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[TurnRecord] = []

    def noting(record: TurnRecord) -> Turn:
        read.append(record)
        return read_turn(record)

    monkeypatch.setattr(loading, "read_turn", noting)
    for target, window in product(("openai", "kimi", "neutral"), WINDOWS):
        options = replace(window, provider=target)
        work = {}
        for cid in ("short", "long"):
            read.clear()
            steps: list[int] = []
            with counted(steps) as statements:
                database.read_now(partial(replay, cid=cid, options=options))
            work[cid] = (len(statements), len(read), len(steps))
        assert work["long"][:2] == work["short"][:2], options
        assert 4 < work["long"][1] < 100, options
        # A deeper tree costs a few more steps; reading the conversation would cost thousands.
        assert work["long"][2] <= work["short"][2] + 20, options
