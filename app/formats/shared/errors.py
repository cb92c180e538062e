"""Errors that providers send instead of a response: whether a body is one, and its type.

The shapes, as the providers' SDKs read them: `{"error": {…}}` (OpenAI and all who speak like it,
Gemini also in a list of one), `{"type": "error", "error": {…}}` (Anthropic), `{"Error": {"Code"}}`
(botocore), `{"__type", "message"}` (AWS), `{"object": "error", …}` (Mistral, vLLM), `{"detail"}`
(Mistral's validation), a bare `{"message"}` or `{"code", "message"}` (gateways).
"""

import re

from ...model.json_values import Json, JsonObject

# A word of the provider's own, never a sentence of its message.
_WORD = re.compile(r"[\w.:/-]{1,64}")
_BARE = frozenset(
    {"message", "Message", "code", "type", "status", "param", "object", "request_id", "requestId"}
)


def error_type(body: Json) -> str | None:
    """The type of the error that a body is; "" where it names none; None for any other body."""
    match body:
        case [dict(only)] | dict(only):
            return _type(only)
        case _:
            return None


def _type(body: JsonObject) -> str | None:
    match body:
        case {"error": dict(error)} | {"Error": dict(error)} if error:
            return _named(error)
        case {"error": str(text)} if text:
            return ""
        case {"object": "error"} | {"type": "error"}:
            return _named(body)
        case {"__type": str(name)}:
            return _word(name.rpartition("#")[2].partition(":")[0])
        case {"detail": str() | list()} if len(body) == 1:
            return ""
        case {"message": str()} | {"Message": str()} if body.keys() <= _BARE:
            return _named(body)
        case _:
            return None


def _named(error: JsonObject) -> str:
    for key in ("type", "status", "code", "Code"):
        value = error.get(key)
        if isinstance(value, str | int) and (word := _word(str(value))) and word != "error":
            return word
    return ""


def _word(text: str) -> str:
    return text if _WORD.fullmatch(text) else ""
