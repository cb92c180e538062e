"""Qwen, text only."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import SHARED, chat
from tests.judges.specimens.damage import Fault, drop, put


def healthy() -> dict[str, Any]:
    return chat("call_1", "call_2")


FAULTS = [
    *SHARED,
    Fault("content in parts", put("messages.1.content", [{"type": "text", "text": "x"}]), "D5"),
    Fault("no content beside calls", drop("messages.2.content"), "Q3"),
    Fault("an unanswered call", drop("messages.4"), "Q1"),
    Fault("broken arguments", put("messages.2.tool_calls.1.function.arguments", "{"), "Q2"),
    Fault("two calls share an id", put("messages.2.tool_calls.1.id", "call_1"), "used twice"),
    Fault("foreign reasoning", put("messages.2.reasoning_content", "x"), "reasoning_content"),
]
