"""Vercel AI SDK, current version: `input`, and `output` with its type."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import PIXEL, schema
from tests.judges.specimens.damage import Fault, again, drop, insert, put, swap


def healthy() -> dict[str, Any]:
    return {
        "system": "Be brief.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Weather and time?"},
                    {"type": "file", "mediaType": "image/png", "data": PIXEL},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "two tools"},
                    {"type": "text", "text": "I look."},
                    _call("call_1", "weather", {"city": "Paris"}),
                    _call("call_2", "clock", {}),
                ],
            },
            {
                "role": "tool",
                "content": [
                    _result("call_1", "weather", {"type": "text", "value": "sunny"}),
                    _result("call_2", "clock", {"type": "error-json", "value": {"no": "clock"}}),
                ],
            },
            {"role": "assistant", "content": "Sunny, and no clock."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": {
            name: {"description": name, "inputSchema": schema()} for name in ("weather", "clock")
        },
        "toolChoice": "auto",
    }


def _call(call_id: str, name: str, arguments: object) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": call_id, "toolName": name, "input": arguments}


def _result(call_id: str, name: str, output: object) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": call_id, "toolName": name, "output": output}


_CALL = "messages.1.content.2"
_RESULT = "messages.2.content.0"

# The faults of both versions.
SHARED = [
    Fault("no messages", put("messages", []), "(V)"),
    Fault("a call is never answered", drop("messages.2.content.1"), "missing tool result"),
    Fault("no call is answered", drop("messages.2"), "missing tool result"),
    Fault("the call of a result is gone", drop("messages.1.content.3"), "orphan"),
    Fault("a result is given twice", again("messages.2.content.0"), "second result"),
    Fault("results are swapped", swap("messages.2.content.0", "messages.2.content.1"), "order"),
    Fault(
        "a user between call and result", swap("messages.2", "messages.4"), "missing tool result"
    ),
    Fault("two calls share an id", put("messages.1.content.3.toolCallId", "call_1"), "used twice"),
    Fault("an empty id", put(f"{_CALL}.toolCallId", ""), "toolCallId"),
    Fault("an empty id on a result", put(f"{_RESULT}.toolCallId", ""), "toolCallId is missing"),
    Fault("a result without name", drop(f"{_RESULT}.toolName"), "toolName"),
    Fault("a call without name", put(f"{_CALL}.toolName", ""), "toolName"),
    Fault("a result under another name", put(f"{_RESULT}.toolName", "clock"), "is named"),
    Fault("an empty text part", put("messages.0.content.0.text", ""), "empty text"),
    Fault("an empty message", put("messages.4.content", ""), "content is empty"),
    Fault("a message without parts", put("messages.3.content", []), "content is empty"),
    Fault("a blank system", put("system", " "), "blank"),
    Fault("a role of neutral turns", put("messages.3.role", "ai"), "role"),
    Fault("results as text", put("messages.2.content", "sunny"), "messages.2.content"),
    Fault("an unknown key in a message", put("messages.3.id", "x"), "messages.3.id"),
    Fault("an unknown key in a part", put(f"{_CALL}.index", 0), "index"),
    Fault("a part of Anthropic", put(f"{_CALL}.type", "tool_use"), "messages.1.content.2"),
    Fault("an unknown key on top", put("tool_choice", "auto"), "tool_choice"),
    Fault("an unknown tool choice", put("toolChoice", "any"), "toolChoice"),
    Fault("tools as a list", put("tools", []), "tools"),
    Fault("a description that is no text", put("tools.clock.description", 1), "description"),
    Fault("an unknown key in a tool", put("tools.clock.function", {}), "function"),
    Fault("an image that is no base64", put("messages.0.content.1.data", "%%%"), "base64"),
    Fault("a number that is none", put("messages.3.n", float("nan")), "nan"),
    Fault("a lone surrogate", put("messages.4.content", "\udead"), "lone surrogate"),
]

FAULTS = [
    *SHARED,
    Fault(
        "system inside messages", insert("messages.0", {"role": "system", "content": "x"}), "System"
    ),
    Fault("input is text", put(f"{_CALL}.input", "{}"), "object"),
    Fault("input is null", put(f"{_CALL}.input", None), "object"),
    Fault("args of version 4", put(f"{_CALL}.args", {}), "another version"),
    Fault("result of version 4", put(f"{_RESULT}.result", "sunny"), "another version"),
    Fault("isError of version 4", put(f"{_RESULT}.isError", True), "another version"),
    Fault("a signature of version 4", put("messages.1.content.0.signature", "c2ln"), "signature"),
    Fault("output that is text", put(f"{_RESULT}.output", "sunny"), "output"),
    Fault("output of unknown type", put(f"{_RESULT}.output.type", "error"), "output"),
    Fault("output without value", drop(f"{_RESULT}.output.value"), "output"),
    Fault("mimeType of version 4", put("messages.0.content.1.mimeType", "image/png"), "mimeType"),
    Fault("parameters of version 4", put("tools.clock", {"parameters": {}}), "inputSchema"),
]
