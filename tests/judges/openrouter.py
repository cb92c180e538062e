"""OpenRouter: the chat types, beside them reasoning as @openrouter/sdk 1.3.19 declares it."""

from __future__ import annotations

from tests.judges import openai
from tests.judges.chat import Dialect, chat_events, chat_faults, chat_texts, without
from tests.judges.wellformed import objects

events = chat_events

# ReasoningDetailText, ReasoningDetailSummary, ReasoningDetailEncrypted: beside the common members,
# the one that each must have or may have.
_COMMON = {"type", "id", "format", "index"}
_KINDS = {
    "reasoning.text": {"text", "signature"},
    "reasoning.summary": {"summary"},
    "reasoning.encrypted": {"data"},
}
_MUST = {"reasoning.summary": "summary", "reasoning.encrypted": "data"}
_DIALECT = Dialect(rules=openai.RULES, id_fault=openai.short_id, content_beside_calls="X1")


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet, then the reasoning."""
    plain = without({"assistant": {"reasoning", "reasoning_content"}}, _undetailed(request))
    faults = openai.shape_faults(plain, model) + chat_faults(request, _DIALECT)
    for at, message in enumerate(objects(request.get("messages"))):
        details = message.get("reasoning_details", [])
        if not isinstance(details, list) or len(objects(details)) != len(details):
            faults.append(f"messages[{at}].reasoning_details: must be a list of objects")
            continue
        for place, detail in enumerate(objects(details)):
            faults += _faults(detail, f"messages[{at}].reasoning_details[{place}]")
    return faults


def texts(request: dict[str, object]) -> list[str]:
    """All texts of all messages, what reasoning can be read included."""
    said = chat_texts(request)
    for message in objects(request.get("messages")):
        if isinstance(reasoning := message.get("reasoning"), str):
            said.append(reasoning)
        for detail in objects(message.get("reasoning_details")):
            said += [str(detail[key]) for key in ("text", "summary") if detail.get(key)]
    return said


def _undetailed(request: dict[str, object]) -> dict[str, object]:
    messages = [
        {key: value for key, value in message.items() if key != "reasoning_details"}
        for message in objects(request.get("messages"))
    ]
    return request | {"messages": messages}


def _faults(detail: dict[str, object], where: str) -> list[str]:
    kind = str(detail.get("type"))
    if kind not in _KINDS:
        return [f"{where}: type {kind!r} is none of the SDK's"]
    faults = [f"{where}: unknown member {key}" for key in detail.keys() - _COMMON - _KINDS[kind]]
    must = _MUST.get(kind)
    if must and not isinstance(detail.get(must), str):
        faults.append(f"{where}: {must} must be a string")
    return faults
