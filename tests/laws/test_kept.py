"""A replay from what is kept in memory, and one from an empty memory, are the same bytes."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.conversations.commands import Erase
from app.database.database import Database
from app.database.store import ReadStore
from app.formats.registry import TARGETS
from app.jsontext.reading import loads_object
from app.model.errors import ConversationNotFound
from app.model.json_values import Json
from app.model.limits import Limits
from app.replay import segments
from app.replay.kept import Renders
from app.replay.options import ReplayOptions
from app.replay.queries import Replaying, replay
from app.tools.commands import PutTools, read_order
from app.turns.commands import Append
from app.turns.posting import read_post
from app.turns.turnform import made_ready
from tests.laws.running import tried


@dataclass
class Talk:
    """A conversation in the neutral form; `calls` have been made, `broken` are not complete."""

    database: Database
    calls: int = 0
    turns: int = 0
    broken: list[tuple[str, list[Any]]] = field(default_factory=list)

    def append(self, speaker: str, blocks: list[Any], **members: Any) -> None:
        self.turns += 1
        message = {"speaker": speaker, "blocks": blocks, "turn_id": f"t{self.turns}", **members}
        self.post(message)

    def post(self, turn: dict[str, Any]) -> None:
        body = json.dumps({"provider": "neutral", "messages": [turn]})
        post = read_post(*loads_object(body, Limits()), Limits())
        self.database.write_now(Append("c", made_ready(post.drafts)))

    def text(self, speaker: str) -> None:
        self.append(speaker, [{"type": "text", "text": f"said {self.turns}"}])

    def think(self, number: int) -> None:
        """One of two models of Anthropic's, or nobody knows which; its reasoning is signed."""
        native = {"type": "thinking", "thinking": "hm", "signature": f"s{self.turns}"}
        thought = {"type": "thinking", "text": "hm", "native": native, "wire": "anthropic"}
        said = {"type": "text", "text": f"said {self.turns}"}
        model: dict[str, str] = {"model": f"claude-{number % 3}"} if number % 3 else {}
        blocks = [thought, said] if number < 4 else [said]
        self.append("ai", blocks, provider="anthropic", **model)

    def call(self, count: int, *results: int, status: str = "complete") -> None:
        """With results of calls that were made, if the provider gives them itself."""
        blocks: list[Any] = [{"type": "text", "text": "so"}, *map(self.given, results)]
        for _ in range(count):
            self.calls += 1
            blocks.append({"type": "tool_call", "id": f"r{self.calls}", "name": "f"})
        if status != "complete":
            self.broken.append((f"t{self.turns + 1}", blocks))
        self.append("ai", blocks, **({"status": status} if status != "complete" else {}))

    def result(self, number: int) -> None:
        """Of a call that was made, or that is yet to come."""
        self.append("tool", [self.given(number)])

    def given(self, number: int) -> dict[str, Any]:
        return {"type": "tool_result", "call_id": f"r{number}", "result": f"ok {self.turns}"}

    def complete(self, number: int, *results: int) -> None:
        """With one call more, or without those it had; with these results more."""
        if not self.broken:
            return
        name, blocks = self.broken.pop(number % len(self.broken))
        self.calls += 1
        more = {"type": "tool_call", "id": f"r{self.calls}", "name": "f"}
        kept = blocks[:1] if number % 2 else [*blocks, more]
        kept += map(self.given, results)
        self.post({"speaker": "ai", "blocks": kept, "turn_id": name})

    def tools(self, count: int) -> None:
        schema: Json = {"type": "object", "properties": {}}
        tools: list[Json] = [{"name": f"f{n}", "input_schema": schema} for n in range(count)]
        order = read_order({"provider": "anthropic", "tools": tools}, b"{}", Limits())
        self.database.write_now(PutTools("c", order))

    def again(self) -> None:
        """Another conversation under the same id."""
        with suppress(ConversationNotFound):
            erased = self.database.write_now(Erase("c"))
            # A long one is removed step by step.
            while not erased.is_gone and self.database.sweep_now(cid="c"):
                pass
        self.broken.clear()
        self.text("human")

    def do(self, name: str, number: int) -> None:
        match name:
            case "human" | "ai" | "system" | "note":
                self.text(name)
            case "think":
                self.think(number)
            case "call":
                self.call(1 + number % 3)
            case "interrupted":
                results = range(max(1, self.calls - 1), self.calls + 1) if number > 3 else ()
                self.call(number % 2, *results, status="interrupted")
            case "result":
                self.result(max(1, self.calls + 2 - number))
            case "complete":
                self.complete(number, *([max(1, self.calls - 1)] if number > 3 else ()))
            case "tools":
                self.tools(number % 3)
            case _:
                self.again()


NAMES = ("human", "ai", "call", "call", "result", "result", "result", "interrupted", "complete")
RARE = ("system", "note", "tools", "again", "think", "think")
doing = st.tuples(st.sampled_from((*NAMES, *NAMES, *RARE)), st.integers(0, 6))
asked = st.builds(
    ReplayOptions,
    st.sampled_from((*TARGETS, "anthropic")),
    reasoning=st.sampled_from(("auto", "text")),
    tools=st.sampled_from(("include", "omit")),
    ready=st.just(value=False),
)


@pytest.fixture(scope="module")
def database(new_database: Callable[[], str]) -> Iterator[Database]:
    with Database(new_database(), search=False) as opened:
        yield opened


def body(
    database: Database, options: ReplayOptions, renders: Renders | None = None
) -> Sequence[bytes]:
    done = database.read_now(lambda store: replay(store, "c", options, renders=renders))
    return b"".join(done).split(b",")


@pytest.mark.parametrize("fine", [2, 16])
@settings(tried(60, long=480), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(doing, min_size=1, max_size=24), st.lists(asked, min_size=3, max_size=3), st.data())
def test_what_is_kept_changes_no_byte(
    database: Database,
    fine: int,
    done: list[tuple[str, int]],
    options: list[ReplayOptions],
    data: st.DataObject,
) -> None:
    """Other talks at each run; what was found to go wrong has tests of its own below."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FINE", fine)
        talk = Talk(database)
        talk.again()
        renders = Renders(10_000_000)
        for name, number in done:
            talk.do(name, number)
            head = database.read_now(lambda store: store.conversations.head("c"))
            assert head is not None
            for one in options:
                if data.draw(st.booleans(), "read now"):
                    assert body(database, one, renders) == body(database, one)
                    later = replace(one, since=data.draw(st.integers(0, head.version), "since"))
                    assert body(database, later, renders) == body(database, later)


def test_another_conversation_of_the_same_id_is_not_mixed_with_the_first(
    database: Database,
) -> None:
    talk, renders, options = Talk(database), Renders(10_000_000), ReplayOptions("openai")
    for more in range(3):
        talk.again()
        for _ in range(40 + more):
            talk.text("human")
            talk.text("ai")
        assert body(database, options, renders) == body(database, options)


def test_a_late_result_is_shown_at_its_call(database: Database) -> None:
    talk, renders, options = Talk(database), Renders(10_000_000), ReplayOptions("openai")
    talk.again()
    talk.call(1)
    for _ in range(8):
        talk.text("human")
        talk.text("ai")
    body(database, options, renders)
    talk.result(talk.calls)
    assert body(database, options, renders) == body(database, options)


def test_a_result_that_loses_its_call_is_told_from_then_on(database: Database) -> None:
    talk, renders, options = Talk(database), Renders(10_000_000), ReplayOptions("openai")
    talk.again()
    talk.result(talk.calls + 1)
    for _ in range(4):
        talk.text("human")
        talk.text("ai")
    talk.call(1, status="interrupted")
    talk.text("human")
    body(database, options, renders)
    talk.complete(1)
    talk.text("ai")
    assert body(database, options, renders) == body(database, options)
    assert any(b"ORPHAN_RESULT" in piece for piece in body(database, options, renders))


@pytest.mark.parametrize("change", ["gained", "lost", "lost, and has an earlier one"])
def test_a_result_that_a_completion_brings_or_takes_is_told_from_then_on(
    database: Database, change: str
) -> None:
    talk, renders, options = Talk(database), Renders(10_000_000), ReplayOptions("openai")
    talk.again()
    talk.call(1)
    one = talk.calls
    if "earlier" in change:
        talk.result(one)
    for _ in range(4):
        talk.text("human")
        talk.text("ai")
    talk.call(0, *([] if change == "gained" else [one]), status="interrupted")
    talk.text("human")
    before = body(database, options, renders)
    talk.complete(1, *([one] if change == "gained" else []))
    talk.text("ai")
    after = body(database, options, renders)
    assert after == body(database, options)
    shown = b"".join(before), b"".join(after)
    assert [b"No result was recorded" in text for text in shown] == [
        change == "gained",
        change == "lost",
    ]


def test_repairs_come_in_one_order_however_long_the_conversation_is(database: Database) -> None:
    talk, renders, options = Talk(database), Renders(10_000_000), ReplayOptions("mistral")
    talk.again()
    for _ in range(14):
        talk.text("human")
        talk.text("human")
        talk.call(1)
        talk.result(talk.calls)
        assert body(database, options, renders) == body(database, options)


def test_a_reader_with_an_older_snapshot_is_not_shown_what_came_later(database: Database) -> None:
    talk, renders, options = Talk(database), Renders(10_000_000), ReplayOptions("openai")
    talk.again()
    for _ in range(8):
        talk.text("human")
        talk.text("ai")
    talk.call(1, status="interrupted")
    for _ in range(4):
        talk.text("human")
        talk.text("ai")

    def seen(store: ReadStore, renders: Renders) -> tuple[str, list[bytes]]:
        replaying = Replaying.of(store, "c", options)
        return replaying.etag, replaying.body(renders)

    def query(store: ReadStore) -> list[tuple[str, list[bytes]]]:
        before = seen(store, Renders())
        talk.complete(0)
        body(database, options, renders)
        return [before, seen(store, renders)]

    before, then = database.read_now(query)
    assert before == then
    assert body(database, options, renders) == body(database, options)


def test_what_does_not_fit_is_not_kept(database: Database) -> None:
    talk = Talk(database)
    talk.again()
    for _ in range(5):
        talk.text("human")
    small, none = Renders(100), Renders(0)
    for renders in (small, none):
        body(database, ReplayOptions("openai"), renders)
        assert (renders.size, len(renders._kept)) == (0, 0)


def test_the_least_recently_used_goes_first(database: Database) -> None:
    talk = Talk(database)
    talk.again()
    renders = Renders(10_000_000)
    body(database, ReplayOptions("openai"), renders)
    one = renders.size
    renders.limit = int(one * 2.5)
    for target in ("mistral", "openai", "kimi"):
        body(database, ReplayOptions(target), renders)
    assert [key.options.provider for key in renders._kept] == ["openai", "kimi"]
    assert renders.size <= renders.limit


def test_nothing_is_kept_of_what_is_forgotten(database: Database) -> None:
    talk = Talk(database)
    talk.again()
    renders = Renders(10_000_000)
    body(database, ReplayOptions("openai"), renders)
    renders.forget("default", "other")
    renders.forget("other", "c")
    assert renders.size
    renders.forget("default", "c")
    assert (renders.size, len(renders._kept)) == (0, 0)
