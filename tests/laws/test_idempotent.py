"""Law 8: a replay that is posted again gives the same replay."""

import json
import re

from hypothesis import example, given

from app.formats.registry import CODECS, TARGETS
from app.formats.shared.codec import Assigned
from tests import judges
from tests.histories import Render, posted
from tests.laws import found
from tests.laws.running import JUDGED, messages, tried
from tests.laws.strategies import Bodies, healthy_histories, histories


@tried(60)
@given(histories())
@example(found.FAILED_RESULT_OF_ONE_IMAGE)
@example(found.SYSTEM_BEHIND_AN_EMPTY_TURN)
@example(found.ADDRESS_OF_AN_IMAGE_AS_A_FILE)
@example(found.RAW_ID_OF_A_RESULT)
def test_a_replay_that_is_posted_again_gives_the_same_replay(bodies: Bodies) -> None:
    history = posted(*bodies)
    for target in JUDGED:
        first = history.render(target)
        if messages(first, target):
            again = _again(first, target)
            assert _renamed(first, _ids(first, target), _ids(again, target)) == again.raw, target


@tried(60)
@given(histories())
@example(found.RAW_ID_OF_A_RESULT)
@example(found.ERROR_THAT_IS_OK)
@example(found.IMAGE_BEHIND_A_RESULT)
def test_a_neutral_export_that_is_posted_again_gives_the_same_bytes(bodies: Bodies) -> None:
    history = posted(*bodies)
    first = history.render("neutral")
    if history.remembered.turns:
        assert _again(first, "neutral").raw == first.raw


@tried(30)
@given(healthy_histories())
def test_ids_that_a_wire_assigned_are_kept_when_they_come_back(bodies: Bodies) -> None:
    history = posted(*bodies)
    for target in TARGETS:
        if isinstance(CODECS[target].ids, Assigned):
            first = history.render(target)
            assert _again(first, target).raw == first.raw, target


def _again(first: Render, target: str) -> Render:
    """The render of a new conversation to which the first render was posted."""
    envelope = {"provider": target} | ({"model": first.model} if first.model else {})
    body = json.dumps(envelope)[:-1] + "," + first.raw.decode()[1:]
    return posted(body, conversation_id="c2").render(target)


def _ids(render: Render, target: str) -> list[str]:
    return [str(pair[0]) for pair in judges.calls_and_results(target, render.request)]


def _renamed(render: Render, old: list[str], new: list[str]) -> bytes:
    """The bytes with each call under its new id; the renaming must be one to one."""
    assert len(old) == len(new)
    names = dict(zip(old, new, strict=True))
    assert len(set(names)) == len(set(names.values())) == len(old)
    if not names:
        return render.raw
    any_id = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    return any_id.sub(lambda one: names[one[0]], render.raw.decode()).encode()
