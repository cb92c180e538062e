"""Mistral: nine characters, and names on the results."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import COMMON, OLD_ROLE, chat
from tests.judges.specimens.damage import Fault, drop, insert, put


def healthy() -> dict[str, Any]:
    request = chat("Xk2b9QzLm", "a8Fj3kTq0")
    request["messages"][3]["name"] = "weather"
    request["messages"][4]["name"] = "clock"
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    request["messages"][1]["content"] = [{"type": "text", "text": "Weather and time?"}, image]
    return request


_ID = "messages.2.tool_calls.0.id"

FAULTS = [
    *COMMON,
    Fault("a role of an older API", OLD_ROLE, "role 'function'"),
    Fault(
        "arguments are a number", put("messages.2.tool_calls.0.function.arguments", 5), "arguments"
    ),
    Fault("an id of OpenAI", put(_ID, "call_1abc"), "M1"),
    Fault("an id of ten characters", put(_ID, "abcdefghi0"), "M1"),
    Fault("an id with a line feed", put(_ID, "Xk2b9QzLm\n"), "M1"),
    Fault("an id missing on a result", drop("messages.3.tool_call_id"), "M1"),
    Fault("two calls share an id", put(_ID, "a8Fj3kTq0"), "M5"),
    Fault("a user right after a tool", drop("messages.5"), "M2"),
    Fault("an end with the assistant", drop("messages.6"), "Expected last role"),
    Fault(
        "a system text after the assistant",
        insert("messages.6", {"role": "system", "content": "x"}),
        "Unexpected role 'system'",
    ),
    Fault("a result without name", drop("messages.3.name"), "M7"),
    Fault("a result under another name", put("messages.3.name", "clock"), "is named"),
    Fault("an unanswered call", drop("messages.4"), "M4"),
    Fault("foreign reasoning", put("messages.2.reasoning_content", "x"), "M6"),
    Fault(
        "a file of OpenAI by id",
        put("messages.1.content.0", {"type": "file", "file": {"file_id": "file_1"}}),
        "file",
    ),
    Fault("a developer", put("messages.0.role", "developer"), "developer"),
]
