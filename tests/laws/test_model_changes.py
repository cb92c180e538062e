"""Law 7 where models take turns: earlier messages change exactly where `MODEL_CHANGED` says so."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.histories import History, Render, said
from tests.laws.running import messages, tried

# One of Gemini's models demands signatures of calls, the other does not.
MODELS = {
    "anthropic": ("claude-a", "claude-b", None),
    "gemini": ("gemini-2.5-pro", "gemini-3-pro", None),
}
# Whose turn it is, by which of the models, and what it holds.
turns = st.tuples(
    st.sampled_from(("own", "own", "own", "other")),
    st.integers(0, 2),
    st.sampled_from(("words", "reasoning", "reasoning", "call")),
)


def blocks(target: str, content: str, number: int) -> list[dict[str, Any]]:
    words = {"type": "text", "text": f"words {number}"}
    if content == "call":
        return [
            words,
            {"type": "tool_call", "id": f"call_{number}", "name": "f", "arguments": "{}"},
        ]
    if content == "words":
        return [words]
    if target == "gemini":
        return [words | {"signature": f"c2ln{number}A=="}]
    native = {"type": "thinking", "thinking": "hm", "signature": f"s{number}"}
    thought = {"type": "thinking", "text": "hm", "native": native, "wire": "anthropic"}
    return [thought, words]


def history(target: str, spoken: list[tuple[str, int, str]]) -> History:
    told: list[dict[str, Any]] = []
    for number, (whose, model, content) in enumerate(spoken):
        by = {"provider": target if whose == "own" else "acme"}
        if name := MODELS[target][model]:
            by["model"] = name
        ai = {"speaker": "ai", "blocks": blocks(target, content, number), **by}
        told += [{"speaker": "human", "blocks": [{"type": "text", "text": "so?"}]}, ai]
        if content == "call":
            result = {"type": "tool_result", "call_id": f"call_{number}", "result": "ok"}
            told.append({"speaker": "tool", "blocks": [result]})
    told.append({"speaker": "human", "blocks": [{"type": "text", "text": "thanks"}]})
    return said(*told)


def changes(history: History, render: Render) -> set[int]:
    seqs = {turn.turn_id: turn.seq for turn in history.remembered.turns}
    return {seqs[one.turn_id or ""] for one in render.repairs if one.code == "MODEL_CHANGED"}


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize("reasoning", ["auto", "text", "drop"])
def test_a_prefix_changes_exactly_where_the_model_is_said_to_have_changed(
    target: str, reasoning: str
) -> None:
    @tried(60)
    @given(st.lists(turns, min_size=1, max_size=7))
    def holds(spoken: list[tuple[str, int, str]]) -> None:
        whole = history(target, spoken)
        people = [one.seq for one in whole.remembered.turns if one.speaker == "human"]
        renders = {seq: whole.render(target, until=seq, reasoning=reasoning) for seq in people}
        for then, now in pairwise(people):
            old, new = (messages(renders[seq], target) for seq in (then, now))
            named = {seq for seq in changes(whole, renders[now]) if seq > then}
            assert (new[: len(old)] != old) is bool(named), (then, now)
        for then in people:
            for now in people:
                old, new = (messages(renders[seq], target) for seq in (then, now))
                if then < now and new[: len(old)] != old:
                    assert max(changes(whole, renders[now]), default=0) > then

    holds()
