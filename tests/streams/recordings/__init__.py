"""Streams as the providers document them, each with the finished answer that it stands for."""

from tests.streams.recordings import (
    anthropic,
    bedrock,
    deepseek,
    gemini,
    kimi,
    mistral,
    openai,
    openrouter,
    responses,
)
from tests.streams.recordings.forms import in_array, in_frames
from tests.streams.recordings.frames import Recording

_MODULES = (openai, responses, anthropic, gemini, bedrock, mistral, kimi, deepseek, openrouter)
RECORDINGS: list[Recording] = [one for module in _MODULES for one in module.RECORDINGS]
# Those that have a finished answer too.
CLEAN = [one for one in RECORDINGS if one.finished is not None]
# The same in the other form that the provider has for streams.
OTHER_FORMS = [
    *(in_array(one) for one in gemini.RECORDINGS),
    *(in_frames(one) for one in bedrock.RECORDINGS),
]


def noted(one: Recording) -> set[str]:
    """The codes of what may be noted about a recording: what other wires could not show."""
    return {"CHOICES_NOT_SHOWN"} | ({"MEMBERS_NOT_READ"} if "citations" in one.name else set())


__all__ = ["CLEAN", "OTHER_FORMS", "RECORDINGS", "Recording", "noted"]
