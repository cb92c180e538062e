"""Settings of a whole request (`max_tokens`, `stream` …): ignored, and named in one note."""

from collections.abc import Iterable

from app.codecs import CODECS
from app.core.conversation import Remark
from app.core.json.text import JsonObject

SETTINGS_IGNORED = "SETTINGS_IGNORED"


def ignored_settings(members: JsonObject, wire: str, known: Iterable[str]) -> tuple[Remark, ...]:
    """The note on the settings that a body has beside its `known` members; null says nothing."""
    kept = set(known)
    names = [
        key
        for key, value in members.items()
        if key in CODECS[wire].settings and key not in kept and value is not None
    ]
    if not names:
        return ()
    return (Remark(SETTINGS_IGNORED, f"not part of the conversation: {', '.join(names)}"),)
