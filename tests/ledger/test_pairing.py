from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.ledger.pairing import Step, steps
from app.model.conversation import Text, ToolCall, ToolResult, Turn
from app.model.ids import turn_id
from tests.replay.paired import Steps, ai, human, steps_of, system, tool


def codes(steps_made: Steps) -> list[str]:
    return [repair.code for step in steps_made for repair in step.repairs]


def answers(step: Step) -> list[tuple[str | None, Any]]:
    """The raw id of each call and the result shown for it."""
    return [(a.call.raw_id, a.result.result if a.result else None) for a in step.answers]


def test_turns_without_tools_are_steps_of_their_own() -> None:
    made = steps_of(system("s"), human("h"), ai(text="a"))
    assert [step.role for step in made] == ["system", "human", "ai"]
    assert codes(made) == []


def test_a_result_stands_with_its_call() -> None:
    (step,) = steps_of(ai("x"), tool("x", "r"))
    assert answers(step) == [("x", "r")]
    assert step.seqs == {1, 2}
    assert step.repairs == []


def test_answers_stand_in_call_order() -> None:
    (step,) = steps_of(ai("x", "y"), tool("y", "2"), tool("x", "1"))
    assert answers(step) == [("x", "1"), ("y", "2")]
    assert codes([step]) == ["RESULTS_REORDERED"]


def test_a_call_without_result_has_an_answer_that_says_nothing() -> None:
    (step,) = steps_of(ai("x"))
    assert answers(step) == [("x", None)]


def test_text_between_results_is_shown_behind_them() -> None:
    between: dict[str, Any] = {"speaker": "tool", "blocks": []}
    between["blocks"] = [*human("note")["blocks"], *tool("x", "1")["blocks"]]
    first, second = steps_of(ai("x"), between)
    assert answers(first) == [("x", "1")]
    assert second.role == "human"
    assert codes([first, second]) == ["RESULTS_REORDERED"]


def test_text_behind_results_is_no_repair() -> None:
    turn = {"speaker": "tool", "blocks": [*tool("x")["blocks"], *human("note")["blocks"]]}
    assert codes(steps_of(ai("x"), turn)) == []


def test_a_late_result_is_moved_to_its_call() -> None:
    made = steps_of(ai("x"), human("h"), tool("x", "r"))
    assert answers(made[0]) == [("x", "r")]
    assert codes(made) == ["RESULTS_MOVED_TO_CALL"]


def test_a_late_result_that_the_model_spoke_before_is_reported_twice() -> None:
    made = steps_of(ai("x"), human("h"), ai(text="waiting"), tool("x", "r"))
    assert codes(made) == ["RESULTS_MOVED_TO_CALL", "LATE_RESULT_APPLIED"]


def test_an_early_result_is_moved_to_its_call() -> None:
    made = steps_of(tool("x", "r"), human("h"), ai("x"))
    assert [step.role for step in made] == ["human", "ai"]
    assert answers(made[1]) == [("x", "r")]
    assert codes(made) == ["RESULTS_MOVED_TO_CALL"]


def test_the_last_real_result_wins() -> None:
    made = steps_of(ai("x"), tool("x", "old"), tool("x", "new"))
    assert answers(made[0]) == [("x", "new")]
    assert codes(made) == ["DUP_RESULT_SUPERSEDED"]


def test_a_bare_interruption_does_not_win_over_a_real_result() -> None:
    made = steps_of(ai("x"), tool("x", "real"), tool("x", "", status="interrupted"))
    assert answers(made[0]) == [("x", "real")]


def test_an_interruption_is_shown_when_there_is_nothing_else() -> None:
    made = steps_of(ai("x"), tool("x", "half", status="interrupted"))
    assert answers(made[0]) == [("x", "half")]


def test_an_orphan_is_shown_as_marked_text_in_its_place() -> None:
    made = steps_of(human("h"), tool("zzz", "lost"), ai(text="a"))
    block = made[1].items[0].block
    assert isinstance(block, Text)
    assert block.text.startswith("[turnkeep] Result of a tool")
    assert codes(made) == ["ORPHAN_RESULT"]


def test_a_result_found_by_a_weak_rule_says_so() -> None:
    assert codes(steps_of(ai("call_7"), tool("7"))) == ["MATCHED_BY_FALLBACK"]
    assert codes(steps_of(ai("x"), tool(None))) == ["MATCHED_BY_FALLBACK"]


def test_an_unreadable_turn_is_named_and_the_rest_is_shown() -> None:
    turns = [
        Turn(1, "t1", "human", (Text("a"),), "x"),
        Turn(2, "t2", "ai", None, "x"),
        Turn(3, "t3", "human", (Text("b"),), "x"),
    ]
    made = steps(turns, {})
    assert [len(step.items) for step in made] == [1, 0, 1]
    assert [(repair.code, repair.turn_id) for repair in made[1].repairs] == [
        ("TURN_QUARANTINED", "t2")
    ]


def test_results_of_an_unreadable_turn_are_orphans() -> None:
    turns = [Turn(1, "t1", "ai", None, "x"), Turn(2, "t2", "tool", (ToolResult("a", "r"),), "x")]
    assert codes(steps(turns, {})) == ["TURN_QUARANTINED", "ORPHAN_RESULT"]


def test_an_empty_turn_is_named() -> None:
    made = steps_of({"speaker": "human", "blocks": []})
    assert codes(made) == ["CONTENT_NORMALISED"]


def test_parallel_calls_over_several_result_turns_are_one_group() -> None:
    (step,) = steps_of(ai("x", "y", "z"), tool("x"), tool("y"), tool("z"))
    assert step.seqs == {1, 2, 3, 4}
    assert step.repairs == []


def test_no_history_has_no_steps() -> None:
    assert steps([], {}) == []


some_turns = st.lists(
    st.sampled_from(
        [
            human("h"),
            system("s"),
            ai("x"),
            ai("y", "x"),
            ai(text="t"),
            tool("x"),
            tool("y"),
            tool("x", "late", status="interrupted"),
            tool("lost"),
            tool(None),
        ]
    ),
    min_size=1,
    max_size=12,
)


@given(some_turns)
def test_every_call_has_exactly_one_answer_in_call_order(turns: list[dict[str, Any]]) -> None:
    for step in steps_of(*turns):
        calls = [item.block for item in step.items if isinstance(item.block, ToolCall)]
        assert [answer.call for answer in step.answers] == calls


@given(some_turns)
def test_every_block_is_shown_or_named(turns: list[dict[str, Any]]) -> None:
    made = steps_of(*turns)
    seen: set[tuple[str | None, int | None]]
    seen = {(item.turn.turn_id, item.place) for step in made for item in step.items}
    seen |= {(a.turn.turn_id, a.place) for step in made for a in step.answers if a.result}
    seen |= {(r.turn_id, r.block) for step in made for r in step.repairs}
    places = [(seq, at) for seq, t in enumerate(turns, 1) for at in range(len(t["blocks"]))]
    assert all((turn_id("c1", seq), at) in seen for seq, at in places)


@given(some_turns)
def test_every_turn_belongs_to_a_step(turns: list[dict[str, Any]]) -> None:
    made = steps_of(*turns)
    assert {seq for step in made for seq in step.seqs} == set(range(1, len(turns) + 1))
