"""A writer that remembers, and one that asks its database every time, decide the same.

Another process writes to the first one's conversation now and then, so that what it remembers is
not so any more; names repeat and are forged, so that what it remembers does not do.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.conversations.commands import Erase, Erased
from app.database.database import Database
from app.database.store import ReadStore
from app.jsontext.reading import loads, loads_object
from app.ledger import book
from app.ledger.slice import Change, Command
from app.model import ids
from app.model.errors import TurnkeepError
from app.model.limits import Limits
from app.turns.commands import Append, Appended
from app.turns.posting import read_post
from app.turns.turnform import made_ready
from tests.database.specimens import Do
from tests.laws.running import tried

NAMES = ("a", "call_a", "b", "toolu_b", "123456789", "functions.f:0", "functions.f:1", None, "late")
Step = tuple[str, int, int, bool]
steps = st.lists(
    st.tuples(
        st.sampled_from(("text", "call", "call", "result", "result", "complete", "again")),
        st.integers(0, 40),
        st.integers(0, 5),
        # Whether it comes through another process.
        st.integers(0, 5).map(lambda number: number == 5),
    ),
    min_size=2,
    max_size=30,
)


@dataclass
class Talk:
    """What is said, so that later steps can name it. `seen`: ids that calls were given."""

    cid: str
    seen: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    number: Iterator[int] = field(default_factory=count)

    def body(self, what: str, name: int, more: int) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": f"so {next(self.number)}"}]
        turn: dict[str, Any] = {"speaker": "ai", "blocks": blocks}
        if what == "call":
            for place in range(more % 3):
                raw_id = self.named(name + place)
                blocks.append(
                    {"type": "tool_call", "name": f"f{name % 3}"}
                    | ({"id": raw_id} if raw_id else {})
                )
        elif what == "result":
            raw_id = self.named(name)
            given = {"call_id": raw_id} if raw_id else {}
            turn = {"speaker": "tool", "blocks": [{"type": "tool_result", "result": 1, **given}]}
        if more == 5:
            # The id that another turn has, or that one would derive.
            turn["turn_id"] = ids.turn_id(self.cid, name)
        if what == "call" and name % 5 == 0:
            turn |= {"status": "interrupted", "turn_id": f"broken-{len(self.broken)}"}
            self.broken.append(turn["turn_id"])
        if what == "complete" and self.broken:
            turn["turn_id"] = self.broken[name % len(self.broken)]
            blocks += [{"type": "tool_call", "name": "f", "id": "late"}] * (more % 2)
        return {"provider": "neutral", "messages": [turn]}

    def named(self, number: int) -> str | None:
        known = (*NAMES, *self.seen[-20:])
        return known[number % len(known)]

    def learn(self, receipt: Any) -> None:
        for turn in receipt.get("turns", ()):
            for call in turn["tool_calls"]:
                bare = call["id"].removeprefix(ids.CANONICAL_PREFIX)
                self.seen += [call["id"], f"toolu_{bare}", bare]


@pytest.fixture(scope="module")
def databases(new_database: Callable[[], str]) -> Iterator[list[Database]]:
    """One that remembers, another process on the same file, and one that remembers nothing."""
    urls = [new_database(), new_database()]
    opened = [
        Database(urls[0], search=False, memory=2_000),
        Database(urls[0], search=False, memory=0),
        Database(urls[1], search=False, memory=0),
    ]
    yield opened
    for database in opened:
        database.close()


def command(cid: str, body: dict[str, Any] | None) -> Command[Any]:
    if body is None:
        return Erase(cid)
    members, texts = loads_object(json.dumps(body), Limits())
    post = read_post(members, texts, Limits())
    return Append(cid, made_ready(post.drafts))


def carried_out(database: Database, commands: Sequence[Command[Any]]) -> list[object]:
    """What the commands give, which are carried out in one transaction."""
    gate = threading.Event()
    opened = database.write_soon(Do("gate", lambda _: Change(gate.wait())))
    given = [database.write_soon(command) for command in commands]
    gate.set()
    opened.result()
    return list(map(outcome, given))


def outcome(given: "Future[Any]") -> object:
    try:
        done = given.result()
    except TurnkeepError as error:
        return type(error).__name__, error.detail
    if isinstance(done, Erased):
        return done.counts, done.is_gone
    return loads(done.receipt.decode()) if isinstance(done, Appended) else done


def ledger(cid: str) -> Callable[[ReadStore], object]:
    return lambda store: (
        store.ledger.calls(cid),
        store.ledger.results(cid),
        [(turn.turn_id, turn.status, turn.hash) for turn in store.turns.page(cid)],
        set(store.stored.rows("conversation_facets", ("kind", "value_sha256"), cid)),
    )


def batched(steps: list[Step], size: int) -> Iterator[list[Step]]:
    for start in range(0, len(steps), size):
        yield steps[start : start + size]


_cids = map("c{}".format, count())


@pytest.mark.parametrize(("kept", "together"), [(1, 1), (4, 1), (2, 3)])
@settings(tried(120, long=240), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
# A result with the bare form of an id whose call is not among the newest.
@example([("call", name, 1, False) for name in (1, 2, 3, 4)] + [("result", 0, 0, False)])
# A result of a call that came through another process.
@example([("call", 1, 1, False), ("call", 2, 1, True), ("result", 2, 0, False)])
# A turn below those that are remembered gets a new call, and its result at once.
@example(
    [
        ("call", 5, 0, False),
        *([("call", 1, 2, False)] * 5),
        ("complete", 0, 1, False),
        ("result", 8, 0, False),
    ]
)
# A turn that is stored makes the writer ask, behind a call that is not saved yet.
@example(
    [("call", 1, 1, False)] * 4
    + [("call", 2, 5, False), ("text", 1, 1, False), ("call", 1, 1, False)]
)
def test_what_is_remembered_is_what_is_stored(
    databases: list[Database], kept: int, together: int, steps: list[Step]
) -> None:
    remembering, beside, asking = databases
    talk = Talk(next(_cids))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "_REMEMBERED", kept)
        for bunch in batched(steps, together):
            commands = [
                command(talk.cid, None if what == "again" else talk.body(what, name, more))
                for what, name, more, _ in bunch
            ]
            elsewhere = any(one[-1] for one in bunch)
            said = carried_out(beside if elsewhere else remembering, commands)
            assert said == [carried_out(asking, [one])[0] for one in commands]
            for one in said:
                talk.learn(one if isinstance(one, dict) else {})
    assert not remembering.counts().retries
    assert remembering.read_now(ledger(talk.cid)) == asking.read_now(ledger(talk.cid))
