"""Kimi K2, in a window that does not begin at the first call."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import SHARED, chat
from tests.judges.specimens.damage import Fault, drop, put


def healthy() -> dict[str, Any]:
    request = chat("functions.weather:3", "functions.clock:5")
    request["messages"][2]["reasoning_content"] = "two tools"
    return request


def _tool(number: int) -> dict[str, Any]:
    return {"type": "function", "function": {"name": f"tool_{number}"}}


_ID = "messages.2.tool_calls.1.id"

FAULTS = [
    *SHARED,
    Fault("an id of OpenAI", put(_ID, "call_1"), "K1"),
    Fault("an id without prefix", put(_ID, "clock:5"), "K1"),
    Fault("an id with another name", put(_ID, "functions.weather:5"), "K1"),
    Fault("an id without number", put(_ID, "functions.clock"), "K1"),
    Fault("a number with a leading zero", put(_ID, "functions.clock:05"), "K1"),
    Fault("a number that falls", put(_ID, "functions.clock:2"), "K2"),
    Fault("a number used by another tool", put(_ID, "functions.clock:3"), "K2"),
    Fault("two calls share an id", put(_ID, "functions.weather:3"), "K2"),
    Fault("a name that begins with a digit", put("tools.0.function.name", "2go"), "K6"),
    Fault("129 tools", put("tools", [_tool(n) for n in range(129)]), "128"),
    Fault("null beside calls", put("messages.2.content", None), "K7"),
    Fault("no content beside calls", drop("messages.2.content"), "K7"),
    Fault("reasoning that is no text", put("messages.2.reasoning_content", []), "reasoning"),
    Fault("a result under another name", put("messages.3.name", "clock"), "is named"),
    Fault("a call without type", drop("messages.2.tool_calls.0.type"), "type"),
]
