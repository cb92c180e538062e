"""A conversation that is exported and imported again is the same one, whatever came in which order.

Streams break and are completed long after, when other calls have their ids and results came that
name a call which both versions of the turn make, or only one of them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, example, given, settings

from app.audit.queries import Page, tool_calls
from app.database.database import Database
from app.database.store import ReadStore
from app.formats.registry import TARGETS
from app.jsontext.writing import dumps_utf8
from app.model.limits import Limits
from app.replay.options import ReplayOptions
from app.replay.queries import replay
from app.transfer.commands import store_history
from app.transfer.importers.histories import Line, Reading
from app.transfer.importers.lists import read_line
from app.transfer.planning import read_history
from app.transfer.queries import export
from app.verify.queries import verify
from tests.laws.running import tried
from tests.laws.test_remembered import Step, Talk, command, outcome, steps

LIMITS = Limits()


@pytest.fixture(scope="module")
def homes(new_database: Callable[[], str]) -> Iterator[list[Database]]:
    """Two databases: conversations begin in the first and move to the second."""
    opened = [Database(new_database(), search=False) for _ in range(2)]
    yield opened
    for database in opened:
        database.close()


def exported(store: ReadStore, cid: str) -> bytes:
    return export(store, cid, ReplayOptions("neutral")).line


def imported(database: Database, line: bytes, batch: int) -> int:
    """Stores an export in batches of so many turns; gives how many turns were stored."""
    [history] = read_line(Line(1, line.decode()), Reading(LIMITS)).histories
    plan = read_history(history, replace(LIMITS, turns=batch))
    return sum(counted.result().stored for counted in store_history(database, plan))


def seen(store: ReadStore, cid: str) -> list[bytes]:
    """What callers see of a conversation, but for times."""
    shown = [replay(store, cid, ReplayOptions(target)) for target in TARGETS]
    audit = dumps_utf8(tool_calls(store, cid, Page(limit=10_000)))
    audit = re.sub(rb'"created_at":"[^"]*"', b"", audit)
    return [*map(b"".join, shown), audit]


_cids = map("c{}".format, range(10**9))


@pytest.mark.parametrize("batch", [1, 3, 1000])
@settings(tried(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
# The result of a call came before a broken turn was completed, which makes a call of that name.
@example(
    [
        ("call", 8, 1, False),
        ("call", 5, 0, False),
        ("result", 8, 0, False),
        ("complete", 0, 1, False),
    ]
)
# A call has its Kimi id before the one that the completed turn makes.
@example([("call", 5, 0, False), ("call", 1, 1, False), ("complete", 0, 1, False)])
# A result lost its call, and an earlier one has the same name.
@example(
    [
        ("call", 6, 1, False),
        ("result", 6, 0, False),
        ("call", 15, 1, False),
        ("result", 6, 0, False),
        ("complete", 0, 0, False),
    ]
)
def test_a_conversation_that_moves_stays_the_same(
    homes: list[Database], batch: int, steps: list[Step]
) -> None:
    old, new = homes
    talk, stored = Talk(next(_cids)), False
    for what, name, more, _ in steps:
        if what == "again":
            continue
        said = outcome(old.write_soon(command(talk.cid, talk.body(what, name, more))))
        talk.learn(said if isinstance(said, dict) else {})
        stored = stored or isinstance(said, dict)
    if not stored:
        return
    line = old.read_now(partial(exported, cid=talk.cid))
    imported(new, line, batch)
    assert old.read_now(partial(seen, cid=talk.cid)) == new.read_now(partial(seen, cid=talk.cid))
    assert new.read_now(partial(exported, cid=talk.cid)) == line
    assert new.read_now(partial(verify, cid=talk.cid))["ok"]
    for database in homes:
        assert imported(database, line, batch) == 0
