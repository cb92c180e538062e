"""OpenAI Chat Completions, with an image."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import COMMON, NULL_RESULT, OBJECT, OLD_ROLE, PIXEL, chat
from tests.judges.specimens.damage import Fault, drop, put


def healthy() -> dict[str, Any]:
    request = chat("call_CwGJ-4bjB1AzwiitK9edpV3i", "call_Oh_ZMDBjMiz_ekCQoCZjyzMc")
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    request["messages"][1]["content"] = [{"type": "text", "text": "Weather and time?"}, image]
    return request


_IMAGE = "messages.1.content.1.image_url.url"

FAULTS = [
    *COMMON,
    OBJECT,
    NULL_RESULT,
    Fault("a result of an older API without its name", OLD_ROLE, "'name' is missing"),
    Fault("a result of an older API under an id", OLD_ROLE, "unknown key 'tool_call_id'"),
    Fault("an id of 41 characters", put("messages.2.tool_calls.0.id", "c" * 41), "C1"),
    Fault("an empty id", put("messages.2.tool_calls.0.id", ""), "C1"),
    Fault(
        "two calls share an id",
        put("messages.2.tool_calls.1.id", "call_CwGJ-4bjB1AzwiitK9edpV3i"),
        "used twice",
    ),
    Fault(
        "a call of a custom tool without its text",
        put(
            "messages.2.tool_calls.0",
            {
                "id": "call_CwGJ-4bjB1AzwiitK9edpV3i",
                "type": "custom",
                "custom": {"name": "weather"},
            },
        ),
        "'input' is missing",
    ),
    Fault("a call without type", drop("messages.2.tool_calls.0.type"), "type"),
    Fault("an image that is no base64", put(_IMAGE, "data:image/png;base64,%"), "base64"),
    Fault("an image without data", put(_IMAGE, "data:image/png;base64,"), "empty"),
    Fault("an image address of another kind", put(_IMAGE, "file:///x"), "http"),
    Fault("an empty text part", put("messages.1.content.0.text", ""), "C9"),
    Fault("an empty list of parts", put("messages.1.content", []), "C8"),
    Fault("a strict tool with an open schema", put("tools.0.function.strict", True), "C10"),
    Fault("a result over the limit", put("messages.3.content", "a" * 1_048_577), "Z41"),
    Fault("only blank parts", put("messages.5.content", [{"type": "text", "text": " "}]), "C9"),
    Fault("an unknown kind of part", put("messages.1.content.0.type", "input_text"), "input_text"),
    Fault("foreign reasoning", put("messages.5.reasoning_content", "x"), "reasoning_content"),
    Fault("a name on a tool message", put("messages.3.name", "weather"), "unknown key 'name'"),
    Fault("an old function_call", put("messages.5.function_call", {"name": "f"}), "function_call"),
    Fault(
        "an image in a tool message",
        put("messages.3.content", [{"type": "image_url", "image_url": {"url": "https://a/b"}}]),
        "Z38",
    ),
]
