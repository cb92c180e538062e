"""The members of a posted body: each is one that somebody reads, or the body is refused.

Settings of a whole request (`max_tokens`, `stream` …) are ignored, and named in one note.
"""

from collections.abc import Collection, Iterable, Sequence

from app.codecs import CODECS
from app.core import telling
from app.core.conversation import Remark
from app.core.errors import RuleBroken
from app.core.json.text import JsonObject

# The members that hold messages and what stands beside them, and the formats that read each.
MESSAGE_MEMBERS = {
    name: [wire for wire, codec in CODECS.items() if name in codec.keys]
    for name in dict.fromkeys(key for codec in CODECS.values() for key in codec.keys)
}
_TOOL_MEMBERS = frozenset(name for codec in CODECS.values() for name in codec.tools.members)


def check_members(members: JsonObject, names: Sequence[str], ignored: Collection[str] = ()) -> None:
    """Raises `RuleBroken` for the first member that is neither known nor `ignored`."""
    known = list(dict.fromkeys(names))
    for key, value in members.items():
        # What an SDK fills with null says nothing, though it be another provider's way to say it.
        if key in known or key in ignored or (value is None and key in _TOOL_MEMBERS):
            continue
        raise RuleBroken(telling.unknown(key, known), pointer=telling.pointer(key))


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
    return (Remark("SETTINGS_IGNORED", f"not part of the conversation: {', '.join(names)}"),)
