"""A window costs the same however long the conversation is: counted, not timed."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest

from app.database.database import Database
from app.database.migrations import upgrade
from app.ledger.records import TurnRecord
from app.model.conversation import Turn
from app.replay import history as loading
from app.replay.kept import Renders
from app.replay.options import ReplayOptions
from app.replay.queries import replay
from app.turns.turnform import read_turn
from tests.turns.test_append_work import append, counted


def fill(database: Database, cid: str, turns: int) -> None:
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
        append(database, cid, {"provider": "openai", "messages": messages[first : first + 500]})


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    upgrade(database_url)
    with Database(database_url) as database:
        fill(database, "short", 60)
        fill(database, "long", 2_000)
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
            with counted(database, steps) as statements:
                database.read_now(partial(replay, cid=cid, options=options))
            work[cid] = (len(statements), len(read), len(steps))
        assert work["long"][:2] == work["short"][:2], options
        assert 4 < work["long"][1] < 100, options
        # A deeper tree costs a few more steps; reading the conversation would cost thousands.
        assert work["long"][2] <= work["short"][2] + 20, options


def test_the_newest_model_is_found_at_the_same_cost_however_far_back(database: Database) -> None:
    """A statement for a new head or a window, none for a head that was replayed before."""
    message = {"role": "user", "content": "more"}
    work: dict[str, list[tuple[int, int]]] = {}
    for cid, turns in (("near", 60), ("far", 2_000)):
        thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
        spoken = {"role": "assistant", "content": [thought, {"type": "text", "text": "so"}]}
        append(database, cid, {"provider": "anthropic", "model": "m-1", "messages": [spoken]})
        fill(database, cid, turns)
        renders = {model: Renders(100_000_000) for model in ("m-1", None)}
        work[cid] = []
        for last, more in ((None, 0), (None, 0), (None, 1), (4, 1)):
            for _ in range(more):
                append(database, cid, {"provider": "openai", "messages": [message]})
            counts, bodies = [], []
            for model, kept in renders.items():
                options = ReplayOptions("anthropic", model=model, last=last)
                steps: list[int] = []
                with counted(database, steps) as statements:
                    asked = partial(replay, cid=cid, options=options, renders=kept)
                    bodies.append(b"".join(database.read_now(asked)))
                counts.append((len(statements), len(steps)))
            assert bodies[0] == bodies[1]
            (named, _), (assumed, taken) = counts
            work[cid].append((assumed - named, taken))
    assert [count for count, _ in work["far"]] == [1, 0, 1, 1]
    assert [count for count, _ in work["near"]] == [1, 0, 1, 1]
    for (_, far), (_, near) in list(zip(work["far"], work["near"], strict=True))[1:]:
        assert far <= near + 20


@pytest.fixture
def as_by_a_process() -> None:
    """The commands of this file are functions, which cannot be sent to a process."""
