"""Law 4: every stored block is in the render, or a repair names its turn and block."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import example, given

from tests.histories import Render, posted
from tests.laws import found
from tests.laws.evidence import LOSSES, OF_ORPHANS, Unit, markers, reported, seen_in, units
from tests.laws.running import JUDGED, Window, tried, windows
from tests.laws.strategies import Bodies, histories


@tried(100)
@given(histories(), windows())
@example(found.OPAQUE_IN_THE_FIRST_SYSTEM_TURN, Window())
@example(found.REDACTED_THINKING_OF_A_PLAIN_THINKER, Window())
@example(found.THINKING_ALONE, Window())
@example(found.ERROR_BESIDE_A_VALUE, Window())
@example(found.ERROR_BESIDE_PARTS, Window())
@example(found.RESULT_OF_ONE_IMAGE, Window(tools="flatten"))
def test_what_was_stored_is_shown_or_reported(bodies: Bodies, window: Window) -> None:
    history = posted(*bodies)
    stored = list(units(window.must_show(history)))
    for target in JUDGED:
        render = window.of(history, target)
        seen = seen_in(render.request)
        shown = [unit for unit in stored if unit.times_in(seen)]
        lost = [unit for unit in stored if not unit.times_in(seen)]
        named = [unit for unit in lost if _is_named(unit, render)]
        assert len(stored) == len(shown) + len(named), f"{target}: {set(lost) - set(named)}"
        assert not _named_too_often(lost, stored, render), target


def _is_named(unit: Unit, render: Render) -> bool:
    codes = {repair.code for repair in reported(render, unit.turn_id, unit.place)}
    if unit.kind in OF_ORPHANS and "ORPHAN_RESULT" in codes:
        return True
    return bool(codes & (LOSSES[unit.kind] | {"DUP_RESULT_SUPERSEDED"}))


def _named_too_often(
    lost: Sequence[Unit], stored: Sequence[Unit], render: Render
) -> dict[tuple[str, int, str], int]:
    """Blocks with more losses reported than happened: they are shown all the same."""
    happened = Counter((unit.turn_id, unit.place, unit.kind) for unit in lost)
    places = {(unit.turn_id, unit.place, unit.kind) for unit in stored}
    told = Counter(
        (repair.turn_id, repair.block, kind)
        for repair in render.repairs
        for kind, codes in LOSSES.items()
        if repair.code in codes
    )
    return {
        place: told[place] - happened[place] for place in places if told[place] > happened[place]
    }


@tried(60)
@given(histories())
def test_nothing_is_shown_twice(bodies: Bodies) -> None:
    history = posted(*bodies)
    stored = list(units(history.remembered.turns))
    for target in JUDGED:
        seen = seen_in(history.render(target).request)
        assert not [unit for unit in stored if unit.times_in(seen) > 1], target


@tried(60)
@given(histories())
def test_the_neutral_form_keeps_everything_that_was_posted(bodies: Bodies) -> None:
    shown = posted(*bodies).render("neutral")
    sent = {marker for body in bodies for marker in markers(body)}
    assert set(markers(shown.raw.decode())) == sent
    assert not shown.repairs
