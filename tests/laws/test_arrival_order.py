"""Laws 1 and 3: whenever and however results arrive, the messages are the same bytes (Z08)."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.histories import posted
from tests.laws.running import JUDGED, tried
from tests.laws.said import Answer, Said, Words
from tests.laws.strategies import NEUTRAL, Bodies, Rounds, body, rounds

NOTE = body(NEUTRAL, [Said("note", (Words("seen by nobody"),))])


@tried(60)
@given(rounds(), st.data())
def test_results_in_any_order_and_in_any_number_of_posts_give_the_same_bytes(
    asked: Rounds, data: st.DataObject
) -> None:
    first = posted(*asked.bodies, *_arriving(asked, asked.answers, [len(asked.answers)]))
    order = data.draw(st.permutations(asked.answers))
    cuts = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=len(order)))
    later = _arriving(asked, order, cuts)
    at = data.draw(st.integers(0, len(later)))
    other = posted(*asked.bodies, *later[:at], NOTE, *later[at:])
    for target in JUDGED:
        assert first.render(target).raw == other.render(target).raw, target


def _arriving(asked: Rounds, answers: Sequence[Answer], cuts: Sequence[int]) -> Bodies:
    """The results as posts of so many each, the last post with all that is left."""
    left = list(answers)
    posts = []
    for cut in cuts:
        taken, left = left[:cut], left[cut:]
        posts += [taken] if taken else []
    posts += [left] if left else []
    return tuple(body(asked.voice, [Said("tool", tuple(post))]) for post in posts)
