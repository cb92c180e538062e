"""Names derived from where a history stands, for sources that give none.

The same file gives the same names every time, so that a second import finds what the first stored.
"""

import hashlib
import re

from app.core.identity.forms import CONVERSATION_ID, TURN_ID
from app.core.json.text import Json, JsonObject

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


def own_turn_id(message: JsonObject, wire: str) -> Json:
    """Only the neutral form carries ids of turns; other wires' ids are not ours to trust."""
    return message.get("turn_id") if wire == "neutral" else None
