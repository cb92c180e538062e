"""DeepSeek, with its reasoning."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import SHARED, chat
from tests.judges.specimens.damage import Fault, drop, put


def healthy() -> dict[str, Any]:
    request = chat("call_1", "call_2")
    request["messages"][2]["reasoning_content"] = "two tools"
    return request


FAULTS = [
    *SHARED,
    Fault("content in parts", put("messages.1.content", [{"type": "text", "text": "x"}]), "D5"),
    Fault("null beside calls", put("messages.2.content", None), "D5"),
    Fault("a developer", put("messages.0.role", "developer"), "D6"),
    Fault("an unanswered call", drop("messages.4"), "D1"),
    Fault("an orphan", drop("messages.2"), "D2"),
    Fault("two calls share an id", put("messages.2.tool_calls.1.id", "call_1"), "used twice"),
    Fault("an id of 41 characters", put("messages.2.tool_calls.0.id", "c" * 41), "C1"),
    Fault("reasoning in a user message", put("messages.1.reasoning_content", "x"), "reasoning"),
]
