"""OpenRouter, with an image and with reasoning of every kind."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import PIXEL, SHARED, chat
from tests.judges.specimens.damage import Fault, drop, put


def healthy() -> dict[str, Any]:
    request = chat("call_1", "call_2")
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    request["messages"][1]["content"] = [{"type": "text", "text": "Weather and time?"}, image]
    request["messages"][2] |= {
        "reasoning": "two tools",
        "reasoning_details": [
            {
                "type": "reasoning.text",
                "text": "two tools",
                "signature": "EqQB",
                "id": None,
                "format": "anthropic-claude-v1",
                "index": 0,
            },
            {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "index": 1},
        ],
    }
    request["messages"][5] |= {
        "reasoning_details": [
            {"type": "reasoning.summary", "summary": "no clock"},
            {
                "type": "reasoning.server_tool_call",
                "tool_name": "web_search",
                "arguments": "{}",
                "result": "nothing",
            },
        ],
    }
    return request


_DETAILS = "messages.2.reasoning_details"
FAULTS = [
    *SHARED,
    Fault("an id that not every maker takes", put("messages.2.tool_calls.0.id", "f.x:0"), "O3"),
    Fault("an id of 41 characters", put("messages.2.tool_calls.0.id", "c" * 41), "O3"),
    Fault("an unanswered call", drop("messages.4"), "O2"),
    Fault("null beside calls", put("messages.2.content", None), "O4"),
    Fault("two calls share an id", put("messages.2.tool_calls.1.id", "call_1"), "used twice"),
    Fault("no details in the list", put(_DETAILS, []), "O1"),
    Fault("details that are no list", put(_DETAILS, "two tools"), "O1"),
    Fault("a detail that is no object", put(f"{_DETAILS}.0", "two tools"), "O1"),
    Fault("a detail of no kind", drop(f"{_DETAILS}.0.type"), "O1"),
    Fault("a detail of an unknown kind", put(f"{_DETAILS}.0.type", "thinking"), "O1"),
    Fault("nothing in an encrypted detail", drop(f"{_DETAILS}.1.data"), "O1"),
    Fault("words in an encrypted detail", put(f"{_DETAILS}.1.text", "x"), "O1"),
    Fault("an index that is no number", put(f"{_DETAILS}.0.index", "0"), "O1"),
    Fault("a summary without words", drop("messages.5.reasoning_details.0.summary"), "O1"),
    Fault("the user's reasoning", put("messages.1.reasoning", "x"), "reasoning"),
    Fault("the user's details", put("messages.1.reasoning_details", []), "reasoning_details"),
    Fault("reasoning that is no text", put("messages.2.reasoning", {}), "reasoning"),
    Fault("DeepSeek's name for it", put("messages.5.reasoning_content", "x"), "reasoning_content"),
    Fault("a name on a tool message", put("messages.3.name", "weather"), "unknown key 'name'"),
]
