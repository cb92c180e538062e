"""What a history waits for: the calls that it shows without a result, and what it shows instead.

A runtime that comes back to a conversation can run these tools, or say what became of them.
"""

from collections.abc import Iterator, Mapping

from app.core.render import flatten as flattening
from app.core.render import results as answers
from app.core.render.pairing import Answer, Step
from app.core.render.profile import Profile
from app.core.render.view import Pending


def pending(
    step: Step, profile: Profile, provider_ids: Mapping[str, str], *, flat: bool
) -> Iterator[Pending]:
    """The calls of a step that have no result, in order. `flat`: they are shown as text."""
    for answer in step.answers:
        if answer.result is None:
            provider_id = provider_ids[answer.call.id]
            placeholder = _placeholder(answer, profile, flat=flat)
            yield Pending(answer.call, provider_id, answer.turn.turn_id, placeholder)


def _placeholder(answer: Answer, profile: Profile, *, flat: bool) -> str | None:
    if profile.verbatim:
        return None
    return flattening.result_line(answer) if flat else answers.unrecorded(answer, profile)
