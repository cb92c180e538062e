"""Segments: where one may be closed, and that a render costs no more than its turns."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from app.replay.options import ReplayOptions
from app.replay.rendering import render
from app.replay.segments import Render
from tests.histories import History, said
from tests.operations import operations
from tests.replay.paired import ai, human, system, tool

JOINING = ("anthropic", "bedrock", "gemini")


@pytest.mark.parametrize("target", JOINING)
def test_neighbours_of_a_message_that_is_left_out_are_joined(target: str) -> None:
    thought = {"type": "thinking", "text": "hm", "native": {}, "wire": target}
    thinking = {"speaker": "ai", "blocks": [thought]}
    done = said(human("a"), thinking, human("b"), provider=target).render(target)
    (messages,) = (value for value in done.request.values() if isinstance(value, list))
    assert len(messages) == 1
    assert {"THINKING_DROPPED", "ROLES_MERGED"} <= done.codes


def test_a_raw_id_is_reported_where_it_is_used_again() -> None:
    done = said(ai("x"), tool("x"), ai("x"), tool("x")).render("openai")
    (again,) = (repair for repair in done.repairs if repair.code == "ID_REMAPPED")
    assert again.turn_id == said(ai("x"), tool("x"), ai("x")).remembered.turns[2].turn_id


@pytest.mark.parametrize("target", ["openai", "neutral"])
def test_a_segment_is_as_new_as_what_it_holds_and_what_closes_it(target: str) -> None:
    told, options = said(*[human("a")] * 200).remembered, ReplayOptions(target)
    at_once = render(told.loaded(target), options).render
    extended = Render()
    for turn in told.turns:
        kept = extended.before(turn.seq)
        new = told.turns[max(kept.next - 1, 0) : turn.seq]
        loaded = replace(told.loaded(target), turns=new)
        extended = render(loaded, options, kept=kept).render
    for done in (at_once, extended):
        assert len(done.segments) < 60
        assert all(one.version == following.first for one, following in pairwise(done.segments))
        assert done.segments[-1].version == 200


SPEECHES: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "one speaker": lambda count: [human("a")] * count,
    "the system": lambda count: [system("a")] * count,
    "rounds": lambda count: [
        turn for n in range(count // 2) for turn in (ai(f"x{n}"), tool(f"x{n}"))
    ],
}


# What a window shows is found in one way for all targets; hence for one.
@pytest.mark.parametrize(
    ("target", "options"),
    [
        *((target, {}) for target in ("openai", "anthropic", "mistral", "neutral")),
        *(("mistral", window) for window in ({"last": 100}, {"max_tokens": 10_000})),
    ],
    ids=str,
)
@pytest.mark.parametrize("speech", SPEECHES)
def test_four_times_the_turns_are_four_times_the_work(
    target: str, speech: str, options: dict[str, int]
) -> None:
    def work(history: History) -> int:
        return operations(lambda: history.render(target, **options))

    short, long = (said(*SPEECHES[speech](count)) for count in (100, 400))
    work(short)
    assert work(long) <= 4.4 * work(short)
