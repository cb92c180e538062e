from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.replay.tokens import estimated_text_tokens
from app.replay.window import estimated_tokens, last_turns, within_tokens
from tests.replay.paired import Steps, ai, human, steps_of, system, tool


def texts(steps: Steps) -> list[str]:
    """What each step says first, and the names of its calls."""
    return [getattr(step.items[0].block, "text", None) or "call" for step in steps]


def last(count: int, *turns: dict[str, Any]) -> list[str]:
    return texts(last_turns(steps_of(*turns), list(range(1, len(turns) + 1)), count))


def test_the_last_turns_are_the_last_turns() -> None:
    assert last(2, human("a"), human("b"), human("c")) == ["b", "c"]


def test_more_turns_than_there_are_is_all_of_them() -> None:
    assert last(9, human("a"), human("b")) == ["a", "b"]


def test_no_turns_of_no_history_is_nothing() -> None:
    assert last_turns([], [], 3) == []


def test_leading_system_turns_belong_to_every_window() -> None:
    assert last(1, system("s"), human("a"), human("b")) == ["s", "b"]
    assert last(0, system("s"), human("a")) == ["s"]


def test_a_system_turn_inside_the_history_is_a_turn_like_others() -> None:
    assert last(1, human("a"), system("s"), human("b")) == ["b"]


def test_a_window_that_begins_with_a_result_is_widened_to_its_call() -> None:
    turns = [human("a"), ai("x"), tool("x"), human("b")]
    assert last(2, *turns) == ["call", "b"]
    assert last(1, *turns) == ["b"]


def test_a_widened_window_says_so() -> None:
    steps = steps_of(human("a"), ai("x"), tool("x"))
    (kept,) = last_turns(steps, [1, 2, 3], 1)
    assert [repair.code for repair in kept.repairs] == ["WINDOW_ALIGNED"]


def test_a_window_that_fits_says_nothing() -> None:
    steps = steps_of(human("a"), ai("x"), tool("x"))
    assert [step.repairs for step in last_turns(steps, [1, 2, 3], 2)] == [[]]


def test_a_late_result_brings_its_call_into_the_window() -> None:
    assert last(1, ai("x"), human("a"), tool("x")) == ["call"]


def test_a_budget_keeps_the_newest_steps() -> None:
    steps = steps_of(human("a" * 400), human("b" * 400), human("c" * 400))
    assert [text[0] for text in texts(within_tokens(steps, 140))] == ["b", "c"]


def test_a_budget_always_leaves_the_newest_step() -> None:
    assert texts(within_tokens(steps_of(human("a"), human("b")), 0)) == ["b"]


def test_a_budget_keeps_leading_system_turns_and_counts_them() -> None:
    steps = steps_of(system("s" * 400), human("a" * 400), human("b" * 400))
    assert [text[0] for text in texts(within_tokens(steps, 150))] == ["s", "b"]


def test_a_budget_parts_no_call_from_its_results() -> None:
    steps = steps_of(human("a"), ai("x"), tool("x"))
    (kept,) = within_tokens(steps, 1)
    assert (len(kept.items), len(kept.answers)) == (1, 1)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcdefgh", 2), ("日本語", 3), ("ab日", 2)]
)
def test_tokens_are_estimated_without_a_tokenizer(text: str, tokens: int) -> None:
    assert estimated_text_tokens(text) == tokens


def test_a_step_counts_its_calls_and_its_results() -> None:
    with_result = estimated_tokens(steps_of(ai("x"), tool("x", "r" * 400))[0])
    without = estimated_tokens(steps_of(ai("x"))[0])
    assert with_result - without == 68


some_turns = st.lists(
    st.sampled_from([human("h"), system("s"), ai("x"), ai("y", "z"), tool("x"), tool("z")]),
    min_size=1,
    max_size=12,
)


@given(some_turns, st.integers(0, 14))
def test_a_window_is_a_choice_of_steps_in_their_order(
    turns: list[dict[str, Any]], count: int
) -> None:
    steps = steps_of(*turns)
    kept = last_turns(steps, list(range(1, len(turns) + 1)), count)
    assert kept == [step for step in steps if step in kept]
    wanted = range(len(turns) - count + 1, len(turns) + 1)
    assert all(step in kept for step in steps if step.seqs & set(wanted))


@given(some_turns, st.integers(0, 400))
def test_a_budget_is_kept_or_only_the_newest_step_is_left(
    turns: list[dict[str, Any]], budget: int
) -> None:
    steps = steps_of(*turns)
    kept = within_tokens(steps, budget)
    spoken = [step for step in kept if step.role != "system"]
    assert sum(map(estimated_tokens, kept)) <= budget or len(spoken) <= 1
