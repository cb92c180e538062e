"""Notes: kept in their places, shown in the neutral form, and without any trace in all others."""

import json
from typing import Any

from hypothesis import given

from app.formats.registry import TARGETS
from tests.histories import History, posted
from tests.laws.running import Window, spoken, tried, windows, with_turns
from tests.laws.strategies import Bodies, histories

PROVIDERS = tuple(target for target in TARGETS if target != "neutral")


def _without_notes(history: History) -> History:
    return with_turns(history, spoken(history.remembered.turns))


@tried(150)
@given(histories(), windows())
def test_a_provider_is_shown_the_same_as_if_there_were_no_notes(
    bodies: Bodies, window: Window
) -> None:
    history = posted(*bodies)
    plain = _without_notes(history)
    for target in PROVIDERS:
        one, other = window.of(history, target), window.of(plain, target)
        assert (one.raw, one.repairs) == (other.raw, other.repairs), target


@tried(100)
@given(histories(), windows())
def test_the_neutral_form_shows_each_note_with_the_turn_that_it_follows(
    bodies: Bodies, window: Window
) -> None:
    history = posted(*bodies)
    shown = _shown(history, window)
    plain = _shown(_without_notes(history), window)
    assert [one for one in shown if one["speaker"] != "note"] == plain
    places = {one["turn_id"] for one in plain}
    expected, inside = [], True
    for turn in window.stored(history):
        inside = inside if turn.speaker == "note" else turn.turn_id in places
        expected += [turn.turn_id] if inside else []
    assert [one["turn_id"] for one in shown] == expected


def _shown(history: History, window: Window) -> list[Any]:
    done = history.render(
        "neutral", until=window.until, last=window.last, max_tokens=window.max_tokens
    )
    turns: list[Any] = json.loads(done.raw)["turns"]
    return turns
