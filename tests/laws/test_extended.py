"""A render that was extended turn by turn, and one from an empty memory, are the same bytes."""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.registry import CODECS, TARGETS, provider_id
from app.ledger.pairing import Link
from app.model.conversation import Text, Turn
from app.replay import segments
from app.replay.builder import Wire
from app.replay.options import ReplayOptions
from app.replay.pipeline import extend
from app.replay.segments import Render
from tests.histories import History, posted
from tests.laws.running import tried
from tests.laws.strategies import Bodies, histories

Past = tuple[list[Turn], dict[tuple[int, int], Link]]


def past(history: History, version: int) -> Past:
    """The turns and links that a conversation had when it had that version."""
    turns = [_then(turn, version) for turn in history.remembered.turns if turn.seq <= version]
    return turns, {
        place: link for place, link in history.remembered.links().items() if place[0] <= version
    }


def _then(turn: Turn, version: int) -> Turn:
    """Interrupted turns are completed two turns later, and say more then."""
    if turn.status != "interrupted" or turn.blocks is None:
        return turn
    if version < turn.seq + 2:
        return replace(turn, blocks=turn.blocks[:-1])
    return replace(turn, status="complete", completed_at=turn.seq + 1)


def changed(before: Past, after: Past) -> int:
    """The first turn that is new, or has other blocks, results or calls than before."""
    old, new = (dict(_facts(*each)) for each in (before, after))
    return min((seq for seq in new if old.get(seq) != new[seq]), default=len(new) + 1)


def _facts(turns: Sequence[Turn], links: dict[tuple[int, int], Link]) -> Iterator[tuple[int, Any]]:
    calls = {call.id: turn.seq for turn in turns for call in turn.calls()}
    for turn in turns:
        results = [
            (place, link)
            for place, link in links.items()
            if (place[0] == turn.seq or calls.get(link.call_id) == turn.seq)
            and link.call_id in calls
        ]
        # The neutral form names a call that is yet to come.
        named = [link for place, link in links.items() if place[0] == turn.seq]
        yield turn.seq, (turn, results, named)


def wire(history: History, options: ReplayOptions) -> Wire:
    ids = {
        call.id: provider_id(options.provider, call.id, call.provider_ids)
        for call in history.remembered.ledger.calls.values()
    }
    return Wire(CODECS[options.provider], options, ids)


def shown(render: Render, to: Wire) -> tuple[Any, ...]:
    return (
        to.codec.write,
        to.beside(render),
        list(render.lines()),
        list(render.repairs()),
        segments.joined_told(render.segments),
        told_turns(render),
    )


def told_turns(render: Render) -> list[tuple[str, ...]]:
    """The turns that each message tells."""
    return [origin.turns for origin in render.origins()]


@pytest.fixture(scope="module", params=["short", "long"])
def joins_soon(request: pytest.FixtureRequest) -> Iterator[None]:
    """In long conversations segments are joined; in short ones too, where that is asked for."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "long":
            patch.setattr(segments, "FINE", 2)
        yield


some_options = st.builds(
    ReplayOptions,
    st.sampled_from(TARGETS),
    model=st.sampled_from((None, "gemini-3-pro", "kimi-k2-thinking")),
    reasoning=st.sampled_from(("auto", "text", "drop")),
    tools=st.sampled_from(("include", "flatten")),
    ready=st.booleans(),
)


@pytest.mark.usefixtures("joins_soon")
@tried(80)
@given(histories(), st.lists(some_options, min_size=4, max_size=4))
def test_a_render_that_was_extended_is_the_same(bodies: Bodies, asked: list[ReplayOptions]) -> None:
    history = posted(*bodies)
    for options in asked:
        to = wire(history, options)
        kept, before = Render(), past(history, 0)
        for version in range(1, len(history.remembered.turns) + 1):
            now = past(history, version)
            kept = extend(kept.before(changed(before, now)), *now, to)
            fresh = extend(Render(), *now, to)
            assert shown(kept, to) == shown(fresh, to), (options, version)
            before = now


@pytest.mark.usefixtures("joins_soon")
@tried(60)
@given(histories(), st.integers(0, 14), st.lists(some_options, min_size=4, max_size=4))
def test_what_is_said_to_stand_since_a_version_stood_there_then(
    bodies: Bodies, version: int, asked: list[ReplayOptions]
) -> None:
    history = posted(*bodies)
    newest = len(history.remembered.turns)
    for options in asked:
        to = wire(history, options)
        kept = extend(Render(), *past(history, newest), to).as_of(version)
        then = past(history, min(version, newest))
        assert shown(extend(kept, *then, to), to) == shown(extend(Render(), *then, to), to)


@pytest.mark.usefixtures("joins_soon")
@tried(30)
@given(histories(), st.lists(some_options, min_size=4, max_size=4))
def test_messages_know_their_turns_and_are_the_same(
    bodies: Bodies, asked: list[ReplayOptions]
) -> None:
    history = posted(*bodies)
    now = past(history, len(history.remembered.turns))
    for options in asked:
        plain, told = (
            extend(Render(), *now, wire(history, replace(options, tokens=tokens)))
            for tokens in (False, True)
        )
        assert list(told.lines()) == list(plain.lines())
        turns = told_turns(told)
        assert len(turns) == told.count
        shown_turns = {turn for one in turns for turn in one}
        assert shown_turns <= {turn.turn_id for turn in now[0]}
        for turn in now[0]:
            texts = [one.text for one in turn.blocks or () if isinstance(one, Text)]
            if turn.speaker == "human" and any(text.strip() for text in texts):
                assert turn.turn_id in shown_turns


def test_only_the_end_of_a_long_history_is_written_again() -> None:
    said = [{"role": role, "content": "x"} for _ in range(50) for role in ("user", "assistant")]
    history = posted({"provider": "openai", "messages": said})
    for target in TARGETS:
        to = wire(history, ReplayOptions(target))
        whole = extend(Render(), *past(history, 100), to)
        kept = whole.before(101)
        assert kept.next >= 99, target
        turn = Turn(101, "new", "human", (Text("y"),), "openai")
        turns = [*(one for one in history.remembered.turns if one.seq >= kept.next), turn]
        extended = extend(kept, turns, {}, to)
        assert list(extended.lines())[:99] == list(whole.lines())[:99]
        assert all(map(operator.is_, extended.segments, kept.segments))
