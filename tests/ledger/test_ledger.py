"""How a result finds its call: every rule of docs/concepts.md, and their order."""

import re
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.registry import ID_RULES
from app.ledger.append import enter, with_canonical_ids
from app.ledger.book import Book
from app.ledger.records import Call
from app.ledger.rules import Match, match
from app.model import ids
from app.model.conversation import ToolCall, ToolResult, Turn
from tests.histories import History, posted, said

FREE = "hist_tool_" + "f" * 24


class Found(NamedTuple):
    """Where a result went: `seq.call_index` of its call, by which rule, and whether repeated."""

    call: str | None
    by: str
    repeat: bool = False


def ai(*raw_ids: str | None, name: str = "read") -> dict[str, Any]:
    return {"speaker": "ai", "blocks": [call(raw_id, name) for raw_id in raw_ids]}


def call(raw_id: str | None, name: str) -> dict[str, Any]:
    return {"type": "tool_call", "id": raw_id, "name": name, "parameters": {}}


def tool(*raw_ids: str | None, name: str | None = None) -> dict[str, Any]:
    blocks = [
        {"type": "tool_result", "call_id": raw_id, "name": name, "result": "done"}
        for raw_id in raw_ids
    ]
    return {"speaker": "tool", "blocks": blocks}


def human() -> dict[str, Any]:
    return {"speaker": "human", "blocks": [{"type": "text", "text": "go on"}]}


def by(provider: str, *turns: dict[str, Any]) -> dict[str, Any]:
    return {"provider": provider, "format": "neutral", "messages": list(turns)}


def found(history: History) -> list[Found]:
    """For each result, in the order they came."""
    ledger = history.remembered.ledger
    places = {c.id: f"{c.seq}.{c.call_index}" for c in ledger.calls.values()}
    results = [ledger.results[place] for place in sorted(ledger.results)]
    return [Found(places.get(r.call_id or ""), r.matched_by, r.repeat) for r in results]


def calls_of(history: History) -> list[Call]:
    return list(history.remembered.ledger.calls.values())


# Each rule alone.


def test_a_result_with_the_canonical_id_finds_its_call() -> None:
    canonical = calls_of(said(ai("a")))[0].id
    assert found(said(ai("a"), tool(canonical))) == [Found("1.0", "canonical")]


def test_a_result_with_the_raw_id_finds_its_call() -> None:
    assert found(said(ai("a", "b"), tool("b"), tool("a"))) == [
        Found("1.1", "raw"),
        Found("1.0", "raw"),
    ]


@pytest.mark.parametrize("target", ["openai", "anthropic", "kimi", "mistral"])
def test_a_result_may_use_the_id_that_any_replay_showed(target: str) -> None:
    before = said(human(), ai("a"))
    shown = _provider_id(before, target)
    assert found(said(human(), ai("a"), tool(shown))) == [Found("2.0", "provider_id")]


def _provider_id(history: History, target: str) -> str:
    (one,) = calls_of(history)
    prefixes = {"openai": "call_", "anthropic": "toolu_"}
    return one.provider_ids.get(target) or ids.with_prefix(one.id, prefixes[target])


@pytest.mark.parametrize(
    ("called", "answered"),
    [
        ("call_7", "7"),
        ("7", "call_7"),
        ("call_7", "toolu_7"),
        ("call_7", "fc_7"),
        ("call_7", "hist_tool_7"),
        ("call7", "call_7"),
        ("call_7|fc_1", "call_7"),
        ("call_7|fc_1", "7"),
        ("call_7", "call_7|fc_1"),
        ("call_7|fc_1", "call_7|fc_2"),
        ("call_7__thought__c2ln", "call_7"),
        ("call_7", "call_7__thought__c2ln"),
    ],
)
def test_decorations_that_gateways_add_or_lose_are_looked_through(
    called: str, answered: str
) -> None:
    assert found(said(ai(called), tool(answered))) == [Found("1.0", "normalized")]


def test_a_composite_raw_id_is_still_found_whole() -> None:
    assert found(said(ai("call_7|fc_1"), tool("call_7|fc_1"))) == [Found("1.0", "raw")]


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_result_without_id_finds_its_call_by_name(nothing: str | None) -> None:
    turn = {"speaker": "ai", "blocks": [call("a", "read"), call("b", "write")]}
    assert found(said(turn, tool(nothing, name="write"))) == [Found("1.1", "name")]


def test_two_results_by_one_name_take_its_calls_in_order() -> None:
    assert found(said(ai("a", "b"), tool(None, None, name="read"))) == [
        Found("1.0", "name"),
        Found("1.1", "name"),
    ]


@pytest.mark.parametrize("nothing", [None, ""])
def test_results_with_neither_id_nor_name_take_the_calls_in_order(nothing: str | None) -> None:
    assert found(said(ai("a", "b"), tool(nothing), tool(nothing))) == [
        Found("1.0", "position"),
        Found("1.1", "position"),
    ]


def test_a_name_that_no_open_call_has_leaves_the_position() -> None:
    assert found(said(ai("a"), tool(None, name="other"))) == [Found("1.0", "position")]


def test_a_second_result_is_a_repeat() -> None:
    assert found(said(ai("a"), tool("a"), tool("a"))) == [
        Found("1.0", "raw"),
        Found("1.0", "raw", repeat=True),
    ]


@pytest.mark.parametrize("rule", ["canonical", "provider_id", "normalized"])
def test_a_repeat_is_known_by_every_kind_of_id(rule: str) -> None:
    one = calls_of(said(ai("call_a")))[0]
    again = {"canonical": one.id, "provider_id": one.provider_ids["mistral"], "normalized": "a"}[
        rule
    ]
    history = said(ai("call_a"), tool("call_a"), tool(again))
    assert found(history)[1] == Found("1.0", rule, repeat=True)


def test_a_repeat_by_raw_id_goes_to_the_newest_answered_call() -> None:
    history = said(ai("a"), tool("a"), ai("a"), tool("a"), tool("a"))
    assert found(history)[2] == Found("3.0", "raw", repeat=True)


def test_a_result_whose_id_nobody_knows_is_an_orphan() -> None:
    assert found(said(ai("a"), tool("b"))) == [Found(None, "none")]


def test_a_result_without_id_and_without_open_calls_is_an_orphan() -> None:
    assert found(said(ai("a"), tool("a"), tool(None, name="read")))[1] == Found(None, "none")


# The order of the rules: where two could hold, the earlier one does.


def test_the_canonical_id_goes_before_the_same_text_as_a_raw_id() -> None:
    history = said(ai(FREE), ai(FREE), tool(FREE))
    assert calls_of(history)[1].raw_id == FREE
    assert found(history) == [Found("1.0", "canonical")]


def test_a_raw_id_goes_before_the_id_that_a_replay_showed() -> None:
    """A host that restarts its count sends `functions.read:0` for a new call."""
    history = posted(by("openai", ai("call_x")), by("kimi", ai("functions.read:0")))
    assert [one.provider_ids["kimi"] for one in calls_of(history)] == [
        "functions.read:0",
        "functions.read:1",
    ]
    history = posted(
        by("openai", ai("call_x")),
        by("kimi", ai("functions.read:0"), tool("functions.read:0"), tool("functions.read:0")),
    )
    assert found(history) == [Found("2.0", "raw"), Found("1.0", "provider_id")]


def test_a_provider_id_goes_before_a_normalized_one() -> None:
    shown = calls_of(said(ai("x")))[0].provider_ids["mistral"]
    assert found(said(ai("x"), ai(f"call_{shown}"), tool(shown))) == [Found("1.0", "provider_id")]


def test_a_shown_prefix_goes_before_a_normalized_one() -> None:
    core = calls_of(said(ai("x")))[0].id.removeprefix("hist_tool_")
    history = said(ai("x"), ai(f"fc_{core}"), tool(f"call_{core}"))
    assert found(history) == [Found("1.0", "provider_id")]


def test_an_open_call_by_a_weaker_rule_goes_before_an_answered_one() -> None:
    history = said(ai("call_7"), tool("call_7"), ai("7"), tool("call_7"))
    assert found(history)[1] == Found("3.0", "normalized")


def test_a_name_goes_before_the_position() -> None:
    turn = {"speaker": "ai", "blocks": [call("a", "read"), call("b", "write")]}
    assert found(said(turn, tool(None, name="write"), tool(None))) == [
        Found("1.1", "name"),
        Found("1.0", "position"),
    ]


def test_a_result_with_an_unknown_id_is_never_matched_by_name_or_position() -> None:
    assert found(said(ai("a"), tool("zzz", name="read"))) == [Found(None, "none")]


def test_a_name_finds_its_open_call_behind_newer_open_calls_of_other_tools() -> None:
    history = said(ai("a", name="write"), human(), ai("b"), tool(None, name="write"))
    assert found(history) == [Found("1.0", "name")]


def test_a_name_means_the_newest_turn_with_an_open_call_of_that_name() -> None:
    turns = [ai("a", "b", name="write"), ai("c", "d", name="write"), ai("e")]
    history = said(*turns, tool(*[None] * 4, name="write"))
    assert found(history) == [Found(call, "name") for call in ("2.0", "2.1", "1.0", "1.1")]


def test_a_name_whose_calls_are_all_answered_leaves_the_position() -> None:
    history = said(ai("a", name="write"), tool("a"), ai("b"), tool(None, name="write"))
    assert found(history)[1] == Found("3.0", "position")


@pytest.mark.parametrize("other", [None, "unknown"])
def test_a_result_that_names_its_tool_goes_before_one_of_its_turn_that_does_not(
    other: str | None,
) -> None:
    calls = {"speaker": "ai", "blocks": [call("a", "read"), call("b", "write")]}
    results = tool(None, name=other)["blocks"] + tool(None, name="read")["blocks"]
    history = said(calls, {"speaker": "tool", "blocks": results})
    assert found(history) == [Found("1.1", "position"), Found("1.0", "name")]


def test_a_turn_whose_calls_are_answered_is_no_open_turn() -> None:
    history = said(ai("a"), ai("b"), tool("b"), tool(None))
    assert found(history)[1] == Found("1.0", "position")


# Raw ids repeat.


def test_a_raw_id_used_in_many_turns_means_the_newest_open_one() -> None:
    history = said(ai("call_0"), tool("call_0"), ai("call_0"), tool("call_0"), ai("call_0"))
    assert found(history) == [Found("1.0", "raw"), Found("3.0", "raw")]
    assert len({one.id for one in calls_of(history)}) == 3


def test_a_raw_id_left_open_in_an_old_turn_does_not_take_the_new_ones_result() -> None:
    assert found(said(ai("call_0"), ai("call_0"), tool("call_0"), tool("call_0"))) == [
        Found("2.0", "raw"),
        Found("1.0", "raw"),
    ]


def test_one_raw_id_twice_in_one_turn_is_answered_oldest_first() -> None:
    history = said(ai("a", "a"), tool("a", "a"))
    assert found(history) == [Found("1.0", "raw"), Found("1.1", "raw")]


def test_one_raw_id_twice_in_one_turn_and_once_before() -> None:
    history = said(ai("a"), ai("a", "a"), tool("a", "a", "a", "a"))
    assert found(history) == [
        Found("2.0", "raw"),
        Found("2.1", "raw"),
        Found("1.0", "raw"),
        Found("2.1", "raw", repeat=True),
    ]


@pytest.mark.parametrize("nothing", [None, ""])
def test_calls_without_id_are_different_calls(nothing: str | None) -> None:
    history = said(ai(nothing, nothing), tool(nothing, nothing))
    assert len({one.id for one in calls_of(history)}) == 2
    assert found(history) == [Found("1.0", "position"), Found("1.1", "position")]


def test_a_call_without_id_is_found_by_the_id_it_was_shown_under() -> None:
    shown = calls_of(said(ai(None)))[0].provider_ids["kimi"]
    assert found(said(ai(None), tool(shown))) == [Found("1.0", "provider_id")]


# Results late, early, out of order, twice.


def test_a_late_result_finds_its_call_after_other_turns() -> None:
    history = said(ai("a"), human(), ai("b"), tool("b"), human(), tool("a"))
    assert found(history) == [Found("3.0", "raw"), Found("1.0", "raw")]


def test_an_early_result_waits_and_is_adopted_by_its_call() -> None:
    assert found(said(tool("a"))) == [Found(None, "none")]
    assert found(said(tool("a"), human(), ai("a"))) == [Found("3.0", "raw")]


def test_an_early_result_closes_its_call() -> None:
    history = said(tool("a"), ai("a"), tool("a"))
    assert calls_of(history)[0].answered
    assert found(history)[1] == Found("2.0", "raw", repeat=True)


def test_of_two_early_results_for_one_call_the_second_is_a_repeat() -> None:
    assert found(said(tool("a"), tool("a"), ai("a"))) == [
        Found("3.0", "raw"),
        Found("3.0", "raw", repeat=True),
    ]


def test_two_early_results_go_to_two_calls_with_their_id() -> None:
    assert found(said(tool("a"), tool("a"), ai("a", "a"))) == [
        Found("3.0", "raw"),
        Found("3.1", "raw"),
    ]


def test_an_adopted_result_waits_no_longer() -> None:
    history = said(tool("a"), ai("a"), ai("a"))
    assert found(history) == [Found("2.0", "raw")]
    assert [one.answered for one in calls_of(history)] == [True, False]


@pytest.mark.parametrize(
    ("early", "rule"), [(FREE, "canonical"), ("call_" + "f" * 24, "provider_id")]
)
def test_an_early_result_may_use_the_canonical_or_a_provider_id(early: str, rule: str) -> None:
    assert found(said(tool(early), ai(FREE))) == [Found("2.0", rule)]


def test_an_early_result_is_adopted_through_its_decorations() -> None:
    assert found(said(tool("7"), ai("call_7|fc_1"))) == [Found("2.0", "normalized")]


def test_an_early_result_without_id_is_never_guessed_onto_a_later_call() -> None:
    history = said(tool(None, name="read"), ai("a"))
    assert found(history) == [Found(None, "none")]
    assert not calls_of(history)[0].answered


def test_a_result_in_the_turn_of_its_call_is_found() -> None:
    turn = {"speaker": "ai", "blocks": [call("a", "read"), *tool("a")["blocks"]]}
    assert found(said(turn)) == [Found("1.0", "raw")]


def test_an_early_result_goes_before_one_in_the_turn_of_the_call() -> None:
    turn = {"speaker": "ai", "blocks": [call("a", "read"), *tool("a")["blocks"]]}
    assert found(said(tool("a"), turn)) == [
        Found("2.0", "raw"),
        Found("2.0", "raw", repeat=True),
    ]


# Across providers.


def test_a_call_made_by_kimi_may_be_answered_through_mistral() -> None:
    before = posted(by("kimi", human(), ai("functions.read:0")))
    shown = calls_of(before)[0].provider_ids["mistral"]
    history = posted(by("kimi", human(), ai("functions.read:0")), by("mistral", tool(shown)))
    assert found(history) == [Found("2.0", "provider_id")]


def test_kimi_ids_rise_although_the_host_restarts_its_count() -> None:
    history = posted(
        by("kimi", ai("functions.read:0"), tool("functions.read:0")),
        by("kimi", ai("functions.read:0", "functions.read:1"), tool("functions.read:1")),
    )
    shown = [one.provider_ids["kimi"] for one in calls_of(history)]
    assert shown == ["functions.read:0", "functions.read:1", "functions.read:2"]
    assert found(history) == [Found("1.0", "raw"), Found("3.1", "raw")]


def test_kimi_counts_calls_of_every_provider() -> None:
    history = posted(
        by("openai", ai("call_a")), by("kimi", ai("functions.read:7")), by("anthropic", ai("t"))
    )
    shown = [one.provider_ids["kimi"] for one in calls_of(history)]
    assert shown == ["functions.read:0", "functions.read:7", "functions.read:8"]


def test_a_native_mistral_id_used_twice_is_shown_as_two_ids() -> None:
    history = posted(by("mistral", ai("D681PevKs"), tool("D681PevKs"), ai("D681PevKs")))
    first, second = (one.provider_ids["mistral"] for one in calls_of(history))
    assert first == "D681PevKs"
    assert second != first
    assert re.fullmatch("[A-Za-z0-9]{9}", second)


def test_native_mistral_ids_repeated_inside_one_turn_differ_too() -> None:
    history = posted(by("mistral", ai("D681PevKs", "D681PevKs")))
    assert len({one.provider_ids["mistral"] for one in calls_of(history)}) == 2


# Canonical ids that come in from outside.


def test_a_well_formed_canonical_id_is_kept_when_it_is_free() -> None:
    assert [one.id for one in calls_of(said(ai(FREE)))] == [FREE]


def test_a_well_formed_canonical_id_that_is_taken_is_hashed_and_stays_as_raw_id() -> None:
    first, second = calls_of(said(ai(FREE), ai(FREE)))
    assert (first.id, second.raw_id) == (FREE, FREE)
    assert second.id == ids.canonical_id("neutral", FREE, "read", second.turn_id, 0)


def test_a_canonical_id_twice_in_one_turn_is_kept_once() -> None:
    first, second = calls_of(said(ai(FREE, FREE)))
    assert first.id == FREE
    assert second.id == ids.canonical_id("neutral", FREE, "read", second.turn_id, 1)


@pytest.mark.parametrize("legacy", ["hist_tool_abc", "hist_tool_" + "f" * 25, "hist_tool_"])
def test_an_ill_formed_history_id_is_hashed_once_and_stays_as_raw_id(legacy: str) -> None:
    history = said(ai(legacy), tool(legacy))
    (one,) = calls_of(history)
    assert one.id == ids.canonical_id("neutral", legacy, "read", one.turn_id, 0)
    assert found(history) == [Found("1.0", "raw")]


def test_an_exported_call_keeps_its_canonical_and_its_raw_id() -> None:
    export = {"type": "tool_call", "id": FREE, "raw_id": "call_7", "name": "f", "parameters": {}}
    (one,) = calls_of(said({"speaker": "ai", "blocks": [export]}))
    assert (one.id, one.raw_id) == (FREE, "call_7")


def test_a_forged_canonical_id_does_not_break_the_turn_it_was_taken_from() -> None:
    future = ids.canonical_id("neutral", "a", "read", ids.turn_id("c1", 2), 0)
    history = said(ai(future), ai("a"), tool("a"), tool(future))
    first, second = calls_of(history)
    assert first.id == future
    assert ids.is_canonical(second.id)
    assert found(history) == [Found("2.0", "raw"), Found("1.0", "canonical")]


def test_a_forged_id_in_the_same_turn_does_not_break_its_neighbour() -> None:
    future = ids.canonical_id("neutral", "a", "read", ids.turn_id("c1", 1), 1)
    assert len({one.id for one in calls_of(said(ai(future, "a")))}) == 2


def test_a_provider_is_part_of_the_identity() -> None:
    one, other = (calls_of(posted(by(p, ai("a"))))[0].id for p in ("openai", "kimi"))
    assert one != other


def test_the_call_index_counts_calls_and_not_blocks() -> None:
    text = {"type": "text", "text": "hm"}
    turn = {"speaker": "ai", "blocks": [text, call("a", "read"), text, call("b", "read")]}
    assert [one.call_index for one in calls_of(said(turn))] == [0, 1]
    assert calls_of(said(turn))[1].id == ids.canonical_id(
        "neutral", "b", "read", ids.turn_id("c1", 1), 1
    )


# The parts by themselves.


def test_ids_are_put_on_calls_only() -> None:
    blocks = (ToolResult("a", "r"), ToolCall("a", "read", "{}"))
    result, one = with_canonical_ids(blocks, "openai", "turn-1", Book())
    assert result == blocks[0]
    assert isinstance(one, ToolCall)
    assert one.id == ids.canonical_id("openai", "a", "read", "turn-1", 0)


def test_giving_ids_twice_changes_nothing() -> None:
    once = with_canonical_ids((ToolCall("a", "read", "{}"),), "openai", "t", Book())
    assert with_canonical_ids(once, "kimi", "other", Book()) == once


def test_an_empty_book_knows_no_call() -> None:
    assert match(ToolResult("a"), Book(), ID_RULES.prefixes) == Match(None, "none")
    assert match(ToolResult(None), Book(), ID_RULES.prefixes) == Match(None, "none")


def test_entering_a_turn_says_what_it_brought() -> None:
    ledger = Book()
    early = Turn(1, "t1", "tool", (ToolResult("a", "r"),), "x")
    later = Turn(2, "t2", "ai", (ToolCall("a", "read", "{}", FREE),), "x", "m")
    assert enter(early, ledger, ID_RULES).adopted == []
    entered = enter(later, ledger, ID_RULES)
    assert [one.id for one in entered.calls] == [FREE]
    assert [(r.seq, r.call_id, r.matched_by) for r in entered.adopted] == [(1, FREE, "raw")]


def test_a_turn_that_cannot_be_read_changes_nothing() -> None:
    entered = enter(Turn(1, "t1", "ai", None, "x"), Book(), ID_RULES)
    assert (entered.calls, entered.results, entered.adopted) == ([], [], [])


def test_every_id_that_a_target_gives_is_in_the_mapping_table() -> None:
    ledger = said(ai("a", "b")).remembered.ledger
    assert {(one.target, one.call_id) for one in ledger.entries().provider_ids} == {
        (target, one) for target in ID_RULES.assigned for one in ledger.calls
    }


# Random histories: few ids, so that they repeat, and every order of arrival.

few_ids = st.sampled_from(["a", "call_a", "b", "call_0", "functions.read:0", "", None, FREE])
some_ids = st.lists(few_ids, min_size=1, max_size=3)
some_turns = st.builds(lambda i: ai(*i), some_ids) | st.builds(lambda i: tool(*i), some_ids)
histories = st.lists(some_turns, min_size=1)


@given(histories)
def test_a_call_has_at_most_one_result_that_is_no_repeat(turns: list[dict[str, Any]]) -> None:
    first = [one.call for one in found(said(*turns)) if one.call and not one.repeat]
    assert len(first) == len(set(first))


@given(histories)
def test_a_call_is_answered_exactly_when_a_result_points_to_it(turns: list[dict[str, Any]]) -> None:
    history = said(*turns)
    pointed = {r.call_id for r in history.remembered.ledger.results.values()}
    assert all(one.answered is (one.id in pointed) for one in calls_of(history))


@given(histories, histories)
def test_appending_changes_no_match_except_that_orphans_are_adopted(
    turns: list[dict[str, Any]], more: list[dict[str, Any]]
) -> None:
    before, after = found(said(*turns)), found(said(*turns, *more))
    for old, new in zip(before, after, strict=False):
        assert old == new or old.by == "none"


@given(histories)
def test_ids_are_unique_in_a_conversation(turns: list[dict[str, Any]]) -> None:
    calls = calls_of(said(*turns))
    assert all(ids.is_canonical(one.id) for one in calls)
    for target in ID_RULES.assigned:
        assert len({one.provider_ids[target] for one in calls}) == len(calls)
