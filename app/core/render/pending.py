"""What a history waits for: the calls that it shows without a result, and what it shows instead.

A runtime that comes back to a conversation can run these tools, or say what became of them.
"""

from collections.abc import Iterator, Mapping

from app.core.render.flatten import result_line
from app.core.render.pairing import Step
from app.core.render.profile import Profile
from app.core.render.results import unrecorded
from app.core.render.view import Pending


def pending(
    step: Step, profile: Profile, provider_ids: Mapping[str, str], *, flat: bool
) -> Iterator[Pending]:
    """The calls of a step that have no result, in order. `flat`: they are shown as text."""
    for answer in step.answers:
        if answer.result is None:
            placeholder = None
            if not profile.verbatim:
                placeholder = result_line(answer) if flat else unrecorded(answer, profile)
            call = answer.call
            yield Pending(call, provider_ids[call.id], answer.turn.turn_id, placeholder)
