"""Who speaks last. A history that ends with the assistant waits for the user's next message; a
request that ends so is refused by some.

A10: Anthropic, "The conversation must end with a user message" (also behind Bedrock, B11). G10:
Gemini, "Requests ending with a model turn are not supported". D7: DeepSeek, "The last message of
deepseek-reasoner must be a user message, or an assistant message with prefix mode on". O5: all of
these stand behind OpenRouter. Mistral's package says it itself.
"""

from __future__ import annotations

from tests.judges.wellformed import objects

_RULES = {
    "anthropic": "A10",
    "bedrock": "B11",
    "gemini": "G10",
    "deepseek": "D7",
    "openrouter": "O5",
}
_WORDS = "And what comes next?"
_LISTS = {"gemini": "contents", "openai-responses": "input"}
_NEXT: dict[str, dict[str, object]] = {
    "bedrock": {"role": "user", "content": [{"text": _WORDS}]},
    "gemini": {"role": "user", "parts": [{"text": _WORDS}]},
}


def end_faults(target: str, request: dict[str, object]) -> list[str]:
    """What the provider holds against the last message of a request that is sent as it is."""
    if target in _RULES and _waits(target, request):
        return [f"request: must end with a user message ({_RULES[target]})"]
    return []


def with_next(target: str, request: dict[str, object]) -> dict[str, object]:
    """The request once the user has spoken, where it is the user's turn."""
    messages = request.get(_list(target))
    if not isinstance(messages, list) or not _waits(target, request):
        return request
    said = _NEXT.get(target, {"role": "user", "content": _WORDS})
    return request | {_list(target): [*messages, said]}


def _waits(target: str, request: dict[str, object]) -> bool:
    messages = objects(request.get(_list(target)))
    return not messages or messages[-1].get("role") in ("assistant", "model")


def _list(target: str) -> str:
    return _LISTS.get(target, "messages")
