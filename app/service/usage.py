"""What a stored response took. The provider's own count stays as it came; this one is computed."""

from app.codecs import CODECS
from app.core.conversation import Turn
from app.core.wire.usage import Usage


def usage_of(wire: str, turn: Turn) -> Usage | None:
    """The usage of a turn that was posted in this format; None where the provider said none."""
    usage = turn.response.get("usage")
    if not isinstance(usage, dict):
        return None
    # An import is neutral; its usage is still in the words of the provider that counted.
    for name in (wire, turn.provider):
        if name in CODECS and (replies := CODECS[name].replies):
            used = replies.usage(usage)
            return used if used != Usage() else None
    return None
