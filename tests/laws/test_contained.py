"""Law 9: a turn that cannot be read is named, and the rest renders."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.formats.registry import TARGETS
from tests import judges
from tests.histories import posted
from tests.laws.evidence import seen_in, units
from tests.laws.running import JUDGED, spoken, tried, with_turns
from tests.laws.strategies import Bodies, histories


@tried(60)
@given(histories(), st.sets(st.integers(1, 14), min_size=1, max_size=3))
def test_unreadable_turns_are_quarantined_and_the_rest_is_valid(
    bodies: Bodies, damaged: set[int]
) -> None:
    healthy = posted(*bodies)
    turns = [
        replace(turn, blocks=None) if turn.seq in damaged else turn
        for turn in healthy.remembered.turns
    ]
    history = with_turns(healthy, turns)
    for target in TARGETS:
        # A provider misses nothing of a note, which it would not be shown anyway.
        expected = turns if target == "neutral" else spoken(turns)
        unreadable = [turn.turn_id for turn in expected if turn.blocks is None]
        render = history.render(target)
        named = [one.turn_id for one in render.repairs if one.code == "TURN_QUARANTINED"]
        assert named == unreadable, target
        if target in JUDGED and spoken(turns):
            found = judges.history_complaints(target, render.request)
            assert not found, f"{target}: {found}"


@tried(40)
@given(histories(), st.integers(1, 14))
def test_of_the_other_turns_nothing_is_lost(bodies: Bodies, damaged: int) -> None:
    history = posted(*bodies)
    turns = [
        replace(turn, blocks=None) if turn.seq == damaged else turn
        for turn in history.remembered.turns
    ]
    texts = [unit for unit in units(spoken(turns)) if unit.kind == "text"]
    for target in JUDGED:
        seen = seen_in(with_turns(history, turns).render(target).request)
        assert all(unit.times_in(seen) == 1 for unit in texts), target
