"""OpenRouter: the chat types and its reasoning, then what the makers behind it all take (O1 to O5).

@openrouter/sdk 1.3: ChatAssistantMessage has `reasoning` and `reasoning_details`, the latter a
union by `type`; nobody else in a request may have them. Ids go on to makers that take letters,
digits, `_` and `-`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NotRequired, TypedDict

from tests.formats.chat import judge as chat
from tests.formats.chat.judge import Dialect, chat_events, chat_faults, chat_texts, without
from tests.judges.strict_types import misfits
from tests.judges.wellformed import objects

ENDS = "O5"

events = chat_events

_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")


class _Common(TypedDict):
    format: NotRequired[str | None]
    id: NotRequired[str | None]
    index: NotRequired[int]


class _Text(_Common):
    type: Literal["reasoning.text"]
    text: NotRequired[str | None]
    signature: NotRequired[str | None]


class _Summary(_Common):
    type: Literal["reasoning.summary"]
    summary: str


class _Encrypted(_Common):
    type: Literal["reasoning.encrypted"]
    data: str


class _ServerToolCall(_Common):
    type: Literal["reasoning.server_tool_call"]
    tool_name: str
    arguments: str
    result: str
    tool_call_id: NotRequired[str | None]


_DETAILS = {
    "reasoning.text": _Text,
    "reasoning.summary": _Summary,
    "reasoning.encrypted": _Encrypted,
    "reasoning.server_tool_call": _ServerToolCall,
}


def _id_fault(call_id: object, name: object) -> str | None:
    if isinstance(call_id, str) and _ID.fullmatch(call_id):
        return None
    return f"id {call_id!r} must match {_ID.pattern} (O3)"


_DIALECT = Dialect(
    rules=replace(chat.RULES, unanswered="O2", orphan="O2"),
    id_fault=_id_fault,
    roles=frozenset({"system", "developer", "user", "assistant", "tool"}),
    content_beside_calls="O4",
    refusal_is_content=True,
)


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    bare = without({"assistant": {"reasoning"}}, _without_details(request))
    faults = chat.shape_faults(bare, model) + chat_faults(request, _DIALECT)
    for at, message in enumerate(objects(request.get("messages"))):
        if message.get("role") == "assistant" and "reasoning_details" in message:
            where = f"messages[{at}].reasoning_details"
            faults += _detail_faults(message["reasoning_details"], where)
    return faults


def texts(request: dict[str, object]) -> list[str]:
    """All texts of all messages; of reasoning that is told twice, the details."""
    return [*chat_texts(request), *_reasoning_texts(request)]


def _reasoning_texts(request: dict[str, object]) -> Iterator[str]:
    for message in objects(request.get("messages")):
        details = objects(message.get("reasoning_details"))
        found = [each for one in details for each in (one.get("text"), one.get("summary"))]
        said = [each for each in found if isinstance(each, str)]
        reasoning = message.get("reasoning")
        if isinstance(reasoning, str) and "".join(said) != reasoning:
            yield reasoning
        yield from said


def _without_details(request: dict[str, object]) -> dict[str, object]:
    """OpenAI's types know nothing of them; what is no list is left for those to name."""
    messages = request.get("messages")
    if not isinstance(messages, list):
        return request
    return request | {"messages": [_less_details(message) for message in messages]}


def _less_details(message: object) -> object:
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return message
    if not isinstance(message.get("reasoning_details"), list):
        return message
    return {key: each for key, each in message.items() if key != "reasoning_details"}


def _detail_faults(details: object, where: str) -> list[str]:
    if not isinstance(details, list) or not details:
        return [f"{where}: must be a list with at least one detail (O1)"]
    faults: list[str] = []
    for place, detail in enumerate(details):
        kind = detail.get("type") if isinstance(detail, dict) else None
        known = _DETAILS.get(kind) if isinstance(kind, str) else None
        if known is None:
            faults.append(f"{where}[{place}]: type {kind!r} is none of {sorted(_DETAILS)} (O1)")
        else:
            faults += [f"{one} (O1)" for one in misfits(known, detail, f"{where}[{place}]")]
    return faults
