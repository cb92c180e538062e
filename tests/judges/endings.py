"""Who speaks last. A history that ends with the assistant waits for the user's next message; a
request that ends so is refused by some.

A10: Anthropic, "The conversation must end with a user message" (also behind Bedrock, B11). G10:
Gemini, "Requests ending with a model turn are not supported". D7: DeepSeek, "The last message of
deepseek-reasoner must be a user message, or an assistant message with prefix mode on". O5: all of
these stand behind OpenRouter. Mistral's package says it itself.
"""

from __future__ import annotations

from tests.judges.wellformed import objects

_WORDS = "And what comes next?"


def end_faults(judge: object, request: dict[str, object]) -> list[str]:
    """What the provider holds against the last message of a request that is sent as it is."""
    rule = getattr(judge, "ENDS", None)
    if rule and _waits(judge, request):
        return [f"request: must end with a user message ({rule})"]
    return []


def with_next(judge: object, request: dict[str, object]) -> dict[str, object]:
    """The request once the user has spoken, where it is the user's turn."""
    messages = request.get(_list(judge))
    if not isinstance(messages, list) or not _waits(judge, request):
        return request
    said = getattr(judge, "NEXT", {"role": "user", "content": _WORDS})
    return request | {_list(judge): [*messages, said]}


def _waits(judge: object, request: dict[str, object]) -> bool:
    messages = objects(request.get(_list(judge)))
    return not messages or messages[-1].get("role") in ("assistant", "model")


def _list(judge: object) -> str:
    return str(getattr(judge, "MESSAGES", "messages"))
