"""Laws 2 and 3: every render is accepted, and every call stands with its own result."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given

from app.formats.registry import TARGETS
from app.formats.shared.placeholders import MARK
from app.model.conversation import Turn
from tests import judges
from tests.histories import History, Render, posted
from tests.judges.wellformed import leaves
from tests.laws import found, oracle
from tests.laws.evidence import markers
from tests.laws.running import JUDGED, Window, all_ids, messages, tried, windows
from tests.laws.strategies import Bodies, histories


@tried(60)
@given(histories(), windows())
@example(found.OPAQUE_IN_A_SYSTEM_TURN, Window())
@example(found.UNSIGNED_THINKING, Window())
@example(found.HALF_AN_EMOJI_IN_REASONING, Window())
@example(found.HALF_AN_EMOJI_IN_SIGNED_THINKING, Window())
@example(found.UNREADABLE_ADDRESSES, Window())
@example(found.HALF_AN_EMOJI_IN_A_FILE_NAME, Window())
@example(found.SIGNATURE_THAT_IS_NO_BASE64, Window())
@example(found.SIGNATURE_WITH_BITS_TO_SPARE, Window())
@example(found.TEXT_BEHIND_A_CALL, Window())
@example(found.THINKING_BEHIND_EVERYTHING, Window())
@example(found.EMPTY_SIGNATURE, Window())
@example(found.MEDIA_THAT_CONVERSE_REFUSES, Window())
@example(found.RAW_ID_OF_A_RESULT, Window(model="kimi-k2-thinking"))
@example(found.RAW_ID_OF_A_RESULT, Window(model="deepseek-reasoner"))
def test_every_render_is_accepted_by_its_provider(bodies: Bodies, window: Window) -> None:
    accepted(bodies, window)


# In shares, so that all processes have their part; each share has a window of its own kind.
@pytest.mark.parametrize("ready", [False, True])
@pytest.mark.parametrize("tools", ["include", "omit", "flatten"])
@pytest.mark.parametrize("reasoning", ["auto", "text", "drop"])
def test_every_kind_of_render_is_accepted_by_its_provider(
    reasoning: str, tools: str, ready: bool
) -> None:
    """Five thousand renders, all judged, and other histories at each run.

    The examples above are tried every time, and the zoo has each class of failure by name. The long
    run judges thirty times as many.
    """
    kind = windows().map(lambda one: replace(one, reasoning=reasoning, tools=tools, ready=ready))
    share = _share(reasoning, tools, ready)
    many = tried(int(1_300 * share), long=int(14_160 * share))
    many(given(histories(), kind)(accepted))()


def _share(reasoning: str, tools: str, ready: bool) -> float:
    """Of all histories; the usual kinds have more of them."""
    likely = (2 if reasoning == "auto" else 1) * (2 if tools == "include" else 1)
    return likely * (1 if ready else 2) / 48


def accepted(bodies: Bodies, window: Window) -> None:
    history = posted(*bodies)
    for target in JUDGED:
        render = window.of(history, target)
        judge = judges.complaints if window.ready else judges.history_complaints
        faults = judge(target, render.request, model=window.judged_model)
        assert not faults, f"{target}: {faults}"
        if not window.turns(history) and not window.ready:
            assert (render.codes, messages(render, target)) == ({"EMPTY_HISTORY"}, [])


@tried(100)
@given(histories(), windows())
def test_a_ready_render_differs_at_its_end_only_and_says_so(bodies: Bodies, window: Window) -> None:
    history = posted(*bodies)
    for target in JUDGED:
        shown = replace(window, ready=False).of(history, target)
        ready = replace(window, ready=True).of(history, target)
        old, new = messages(shown, target), messages(ready, target)
        assert new[: len(old) - 1] == old[:-1], target
        assert len(new) - len(old) in (0, 1), target
        named = Counter(ready.repairs) - Counter(shown.repairs)
        assert (ready.raw != shown.raw) == bool(named), target
        assert {one.code for one in named} <= {"BRIDGE_USER", "MARKED_AS_PREFIX"}, target


@tried(200)
@given(histories())
@example(found.RAW_ID_OPEN_IN_TWO_TURNS)
def test_a_result_finds_the_call_that_the_design_says(bodies: Bodies) -> None:
    history = posted(*bodies)
    expected = {place: one.call.id for one in _made(history) for place in one.answers}
    links = {place: link.call_id for place, link in history.remembered.links().items()}
    assert links == expected


@tried(100)
@given(histories(), windows())
@example(found.RESULT_BEFORE_ITS_INTERRUPTION, Window())
def test_each_call_is_shown_once_with_its_own_result(bodies: Bodies, window: Window) -> None:
    history = posted(*bodies)
    turns = window.turns(history)
    made = {one.call.id: one for one in _made(history) if one.turn in turns}
    for target in JUDGED:
        render = window.of(history, target)
        ids = {shown[target]: call for call, shown in all_ids(history).items()}
        pairs = judges.calls_and_results(target, render.request)
        shown = [ids[str(call_id)] for call_id, *_ in pairs]
        kept = [call for call in made if call in set(shown)]
        assert shown == kept, f"{target}: calls are missing, doubled or out of order"
        needed = {call.id for turn in window.must_show(history) for call in turn.calls()}
        if window.tools == "flatten":
            assert not pairs, f"{target}: a call is shown where calls were to be text"
            continue
        assert needed <= set(shown), target
        for call, (_, _, _, result) in zip(shown, pairs, strict=True):
            _assert_own_result(made[call], turns, "\n".join(leaves(result)), render)


def _made(history: History) -> list[oracle.Made]:
    shown = {call: frozenset(ids.values()) for call, ids in all_ids(history).items()}
    return oracle.matched(history.remembered.turns, shown)


def _assert_own_result(one: oracle.Made, turns: Sequence[Turn], shown: str, render: Render) -> None:
    given_result = oracle.chosen(one, turns)
    if given_result is None:
        assert MARK in shown
        assert "outcome unknown" in shown
        return
    _, result = given_result
    said = [result.error, result.result, *(getattr(p, "text", "") for p in result.parts or ())]
    own = [marker for value in said for marker in markers(value)]
    assert sorted(markers(shown)) == sorted(own), "the result of another call, or none, is shown"
    state = {"denied": "was denied", "interrupted": "was interrupted", "unknown": "unknown"}
    assert state.get(result.status, "") in shown
    if result.result is False or result.result == 0:
        assert str(result.result).lower() in shown.lower()


@tried(60)
@given(histories())
def test_results_that_are_not_shown_are_named(bodies: Bodies) -> None:
    history = posted(*bodies)
    turns = history.remembered.turns
    made = _made(history)
    shown = {best[0] for one in made if (best := oracle.chosen(one, turns))}
    answers = {place for one in made for place in one.answers}
    names = {turn.seq: turn.turn_id for turn in turns}
    for target in JUDGED:
        named = {
            (repair.code, repair.turn_id, repair.block) for repair in history.render(target).repairs
        }
        for place, _ in oracle.all_results(turns):
            where = (names[place[0]], place[1])
            assert (("ORPHAN_RESULT", *where) in named) == (place not in answers), target
            hidden = place in answers - shown
            assert (("DUP_RESULT_SUPERSEDED", *where) in named) == hidden, target


@tried(40)
@given(histories())
@example(found.PROVIDERS_TOOL_UNDER_ONE_ID_TWICE)
def test_a_tool_that_the_provider_ran_is_shown_whole_or_not_at_all(bodies: Bodies) -> None:
    render = posted(*bodies).render("anthropic")
    for message in render.request["messages"]:
        blocks = [block for block in message["content"] if isinstance(block, dict)]
        uses = [block["id"] for block in blocks if block["type"] == "server_tool_use"]
        done = [b["tool_use_id"] for b in blocks if b["type"] == "web_search_tool_result"]
        assert uses == done


@pytest.mark.parametrize("target", TARGETS)
def test_an_empty_history_is_empty_for_everybody(target: str) -> None:
    assert messages(posted().render(target), target) == []
