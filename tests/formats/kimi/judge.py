"""Kimi K2: the chat types, plus the ids `functions.{name}:{n}` that carry the function's name.

The hosted API renames wrong ids in silence and self-hosted models lose the thread, so nobody
but this judge would ever say no (K1 to K3).
"""

from __future__ import annotations

import re
from dataclasses import replace

from tests.formats.chat import judge as chat
from tests.formats.chat.judge import Dialect, chat_events, chat_faults, chat_texts, without
from tests.judges.pairing import Call
from tests.judges.wellformed import objects

events = chat_events
texts = chat_texts

_ID = re.compile(r"functions\.(?P<name>.+):(?P<n>0|[1-9][0-9]*)")
# K4: kimi-k2.5 and later think unless told otherwise; so does the model named after it.
_THINKS = re.compile(r"kimi-k2(-thinking|\.[5-9]|\.[1-9]\d)", re.IGNORECASE)
# MoonshotAI/Kimi-K2 docs/tool_call_guidance.md puts `name` on tool messages.
_OWN_KEYS = {"assistant": {"reasoning_content"}, "tool": {"name"}}


def _id_fault(call_id: object, name: object) -> str | None:
    found = _ID.fullmatch(call_id) if isinstance(call_id, str) else None
    if found and found["name"] == name:
        return None
    return f"id {call_id!r} must be functions.{name}:n (K1)"


_DIALECT = Dialect(
    rules=replace(chat.RULES, unanswered="K5", orphan="K5", reused="K2"),
    id_fault=_id_fault,
    name=re.compile(r"[a-zA-Z_][a-zA-Z0-9-_]{0,63}"),
    name_rule="K6",
    content_beside_calls="K7",
    nothing_rule="C9, K9",
)


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    faults = chat.shape_faults(without(_OWN_KEYS, request), model)
    faults += chat_faults(request, _DIALECT) + _count_faults(request)
    if len(objects(request.get("tools"))) > 128:
        faults.append("tools: more than 128 (K6)")
    if model and _THINKS.search(model):
        faults += _thinking_faults(request)
    return faults


def _count_faults(request: dict[str, object]) -> list[str]:
    """K2: one counter over all tools, so n rises strictly through the request."""
    faults, highest = [], -1
    for call in chat_events(request):
        found = _ID.fullmatch(str(call.id)) if isinstance(call, Call) else None
        if isinstance(call, Call) and found:
            if int(found["n"]) <= highest:
                faults.append(f"{call.where}: n of {call.id!r} does not rise above {highest} (K2)")
            highest = max(highest, int(found["n"]))
    return faults


def _thinking_faults(request: dict[str, object]) -> list[str]:
    faults = [
        f"messages[{at}]: reasoning_content is missing beside tool_calls (K4)"
        for at, message in enumerate(objects(request.get("messages")))
        if "tool_calls" in message and not isinstance(message.get("reasoning_content"), str)
    ]
    if request.get("tool_choice") == "required":
        faults.append("tool_choice: required is refused while thinking (K8)")
    return faults
