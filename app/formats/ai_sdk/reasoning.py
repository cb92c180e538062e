"""Reasoning of the AI SDK, kept as a part of its model messages: only those go back to a model.

A user interface stores it in shapes of its own, which become what the SDK makes of them
(convertToCoreMessages of ai 4, convertToModelMessages of ai 5 and later).
"""

from collections.abc import Iterator

from ...jsontext.fields import Fields, filled, text_in
from ...model.conversation import Thinking
from ...model.json_values import Json, JsonObject

# The version that signs the part itself and has a part for what is redacted.
_OLDER = "vercel-v4"


def thoughts(part: Fields, wire: str) -> Iterator[Thinking]:
    """`wire` names the version that it was posted under."""
    if "reasoning" in part or "details" in part:
        natives = list(_detailed(part))
    elif "state" in part or "providerMetadata" in part:
        options = part.get(part.spelled("providerMetadata", "providerOptions"))
        natives = [_reasoning(part.text_if("text"), providerOptions=options)]
    else:
        natives = [part.whole()]
    for native in natives:
        is_older = native["type"] == "redacted-reasoning" or "signature" in native
        yield Thinking(text_in(native, "text") or "", native, _OLDER if is_older else wire)


def _detailed(part: Fields) -> Iterator[JsonObject]:
    """Version 4: one part for all, whose details say it again, each piece with its signature."""
    natives = [native for detail in part.each("details") for native in _detail(detail)]
    said = part.members.get("reasoning")
    if not natives:
        natives = [_reasoning(part.text_if("reasoning"))]
    elif said == "".join(text_in(native, "text") or "" for native in natives):
        part.passed_over("reasoning")
    yield from natives


def _detail(detail: Fields) -> Iterator[JsonObject]:
    match detail.text_if("type"):
        case "text":
            yield _reasoning(detail.text("text"), signature=detail.text_if("signature"))
        case "redacted":
            yield {"type": "redacted-reasoning", "data": detail.text("data")}
        case _:
            return


def _reasoning(text: str | None, **members: Json) -> JsonObject:
    return filled(type="reasoning", text=text or "", **members)
