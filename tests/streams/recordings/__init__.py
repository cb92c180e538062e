"""Streams as the providers document them, each with the finished answer that it stands for."""

from dataclasses import replace

from app.formats.registry import CODECS
from tests.formats import of
from tests.streams.recordings.forms import in_array, in_frames
from tests.streams.recordings.frames import Recording

# Those of a family are told by each of its members that has none of its own.
RECORDINGS: list[Recording] = [
    replace(one, provider=target)
    for target, codec in CODECS.items()
    if codec.replies
    for one in of(target, "recordings").RECORDINGS
]
# Those that have a finished answer too.
CLEAN = [one for one in RECORDINGS if one.finished is not None]
# The same in the other form that the provider has for streams.
OTHER_FORMS = [
    *(in_array(one) for one in RECORDINGS if one.provider == "gemini"),
    *(in_frames(one) for one in RECORDINGS if one.provider == "bedrock"),
]


def noted(one: Recording) -> set[str]:
    """The codes of what may be noted about a recording: what other wires could not show."""
    return {"CHOICES_NOT_SHOWN"} | ({"MEMBERS_NOT_READ"} if "citations" in one.name else set())


__all__ = ["CLEAN", "OTHER_FORMS", "RECORDINGS", "Recording", "noted"]
