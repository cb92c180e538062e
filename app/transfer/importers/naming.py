"""The names of conversations and turns: what the source says, or derived from where they stand.

The same file gives the same names every time, so that a second import finds what the first stored.

The member that names a conversation is the one that the caller names (`--group-by`, a dotted path
leads into objects), or the first of `NAMES` that is there. Where some have it, all must: nothing is
put where it was not said to belong.
"""

import hashlib
import re
from collections.abc import Sequence

from ...model.errors import RuleBroken
from ...model.forms import CONVERSATION_ID, TURN_ID
from ...model.json_values import Json, JsonObject

NAMES = ("conversation_id", "session", "session_id", "sessionId")
_ENDINGS = re.compile(r"(\.jsonl|\.json|\.ndjson)?(\.gz)?$", re.IGNORECASE)
_FORBIDDEN = re.compile(f"[^{CONVERSATION_ID.signs}]")
# Conversation ids have at most 128 characters; the rest is room for what is added to a name.
_LONGEST = 80


def conversation_name(file_name: str, *places: object) -> str:
    """The file's name without its ending, then the places: `chats.jsonl`, line 3 is `chats-3`."""
    bare = _ENDINGS.sub("", file_name) or file_name
    return "-".join([fit(bare), *map(str, places)])


def fit(name: str) -> str:
    """A name that may be a conversation's id. One that had to change ends in a hash of itself."""
    kept = _FORBIDDEN.sub("_", name)[:_LONGEST]
    if kept == name:
        return kept
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kept}-{digest[:8]}"


def turn_name(given: object, otherwise: str) -> str:
    """The source's own id where it can be a turn's id."""
    if isinstance(given, str) and TURN_ID.fits(given):
        return given
    return otherwise


def field_of(values: Sequence[JsonObject], asked: str | None) -> str | None:
    """The member that tells the conversations of these values apart; None where none has one."""
    if asked is not None:
        return asked
    return next((name for name in NAMES if any(has(value, name) for value in values)), None)


def has(value: JsonObject, field: str) -> bool:
    return _member(value, field) is not None


def conversation_of(value: JsonObject, field: str) -> str:
    """The id of the conversation that the value belongs to."""
    found = _member(value, field)
    if found is None:
        raise RuleBroken(f"`{field}` is required: it says which conversation this belongs to.")
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str) or not found:
        raise RuleBroken(
            f"`{field}` must be a string that is not empty, or a whole number, because it says"
            " which conversation this belongs to; --group-by names another member."
        )
    # `fit` would leave room for endings, which are not needed here.
    return found if CONVERSATION_ID.fits(found) else fit(found)


def without(value: JsonObject, field: str | None) -> JsonObject:
    """The value as its wire knows it. What stands deeper inside is left to the codec."""
    return {key: member for key, member in value.items() if key != field}


def _member(value: JsonObject, field: str) -> Json:
    if field in value:
        return value[field]
    found: Json = value
    for name in field.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found
