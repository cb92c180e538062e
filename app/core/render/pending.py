"""What a history waits for: the calls that it shows without a result, and what it shows instead.

A runtime that comes back to a conversation can run these tools, or say what became of them.
"""

from collections.abc import Mapping, Sequence

from app.core.render import flatten as flattening
from app.core.render import results as answers
from app.core.render.pairing import Answer, Step
from app.core.render.profile import Profile
from app.core.render.view import Pending


def pending(
    steps: Sequence[Step], profile: Profile, provider_ids: Mapping[str, str], *, flat: bool
) -> tuple[Pending, ...]:
    """The calls of these steps that have no result, in order. `flat`: they are shown as text."""
    return tuple(
        Pending(
            answer.call,
            provider_ids[answer.call.id],
            answer.turn.turn_id,
            _placeholder(answer, profile, flat=flat),
        )
        for step in steps
        for answer in step.answers
        if answer.result is None
    )


def _placeholder(answer: Answer, profile: Profile, *, flat: bool) -> str | None:
    if profile.verbatim:
        return None
    return flattening.result_line(answer) if flat else answers.unrecorded(answer, profile)
