"""Which conversation a line or a message belongs to, where the source says so itself.

The member is the one that the caller names (`--group-by`, a dotted path leads into objects), or the
first of `NAMES` that is there. Where some have it, all must: nothing is put where it was not said
to belong.
"""

from collections.abc import Sequence

from app.core.errors import RuleBroken
from app.core.identity.forms import CONVERSATION_ID
from app.core.json.text import Json, JsonObject
from app.importers.naming import fit

NAMES = ("conversation_id", "session", "session_id", "sessionId")


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
