"""Bedrock Converse: reasoning, an image, one json and one error result."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import PIXEL, schema
from tests.judges.specimens.damage import Fault, again, drop, insert, put, swap


def healthy() -> dict[str, Any]:
    return {
        "system": [{"text": "Be brief."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "Weather and time?"},
                    {"image": {"format": "png", "source": {"bytes": PIXEL}}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "two", "signature": "c2ln"}}},
                    {"text": "I look."},
                    _call("tooluse_1", "weather", {"city": "Paris"}),
                    _call("tooluse_2", "clock", {}),
                ],
            },
            {
                "role": "user",
                "content": [
                    _result("tooluse_1", [{"json": {"sky": "sunny"}}], "success"),
                    _result("tooluse_2", [{"text": "no clock"}], "error"),
                    {"text": "And?"},
                ],
            },
            {"role": "assistant", "content": [{"text": "Sunny, and no clock."}]},
            {"role": "user", "content": [{"text": "Thanks."}]},
        ],
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": name, "inputSchema": {"json": schema()}}}
                for name in ("weather", "clock")
            ],
            "toolChoice": {"auto": {}},
        },
    }


def _call(call_id: str, name: str, arguments: object) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def _result(call_id: str, content: object, status: str) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call_id, "content": content, "status": status}}


_CALL = "messages.1.content.2.toolUse"
_RESULT = "messages.2.content.0.toolResult"
_TEXT = {"text": "x"}
_IMAGE = "messages.0.content.1.image"

FAULTS = [
    Fault("no messages", put("messages", []), "B5"),
    Fault("the assistant speaks first", drop("messages.0"), "B5"),
    Fault("two users in a row", drop("messages.3"), "B4"),
    Fault("a system role", put("messages.4.role", "system"), "B4"),
    Fault("a role of chat", put("messages.2.role", "tool"), "tool"),
    Fault("a call is never answered", drop("messages.2.content.1"), "B1"),
    Fault("no call is answered", put("messages.2.content", [_TEXT]), "B1"),
    Fault("the call of a result is gone", drop("messages.1.content.3"), "B2"),
    Fault("a result is given twice", again("messages.2.content.0"), "B3"),
    Fault("results are swapped", swap("messages.2.content.0", "messages.2.content.1"), "order"),
    Fault("text between results", swap("messages.2.content.1", "messages.2.content.2"), "B1"),
    Fault("text before results", insert("messages.2.content.0", _TEXT), "B1"),
    Fault(
        "results in two messages",
        insert("messages.3", {"role": "user", "content": [_result("tooluse_2", [_TEXT], "error")]}),
        "B4",
    ),
    Fault(
        "two calls share an id", put("messages.1.content.3.toolUse.toolUseId", "tooluse_1"), "B3"
    ),
    Fault("an id of Kimi", put(f"{_CALL}.toolUseId", "functions.weather:0"), "B10"),
    Fault("an id of 65 characters", put(f"{_CALL}.toolUseId", "a" * 65), "over 64"),
    Fault("an empty id", put(f"{_CALL}.toolUseId", ""), "B10"),
    Fault("a blank text", put("messages.4.content.0.text", " \n"), "B6"),
    Fault("a blank system", put("system.0.text", " "), "B6"),
    Fault("a system of nothing", put("system", []), "B6"),
    Fault("an empty message", put("messages.3.content", []), "B7"),
    Fault("no tool configuration", drop("toolConfig"), "B8"),
    Fault("an empty list of tools", put("toolConfig.tools", []), "valid min length"),
    Fault("two tools of one name", put("toolConfig.tools.1.toolSpec.name", "weather"), "A15"),
    Fault("a bad tool name", put("toolConfig.tools.0.toolSpec.name", "a.b"), "ToolName"),
    Fault("a schema that is none", put("toolConfig.tools.0.toolSpec.inputSchema.json", {}), "A15"),
    Fault("a bad name in a call", put(f"{_CALL}.name", "a b"), "ToolName"),
    Fault("a name of 65 characters", put(f"{_CALL}.name", "a" * 65), "over 64"),
    Fault("an error without words", put("messages.2.content.1.toolResult.content", []), "B9"),
    Fault("a status of our own", put(f"{_RESULT}.status", "denied"), "denied"),
    Fault("json that is a list", put(f"{_RESULT}.content.0.json", [1]), "json must be"),
    Fault("a blank text in a result", put(f"{_RESULT}.content", [{"text": ""}]), "B6"),
    Fault("input is text", put(f"{_CALL}.input", "{}"), "object"),
    Fault("input is null", put(f"{_CALL}.input", None), "object"),
    Fault(
        "a call of the user", put("messages.4.content", [_call("t", "clock", {})]), "user message"
    ),
    Fault("text after a call", put("messages.1.content.0", _call("t", "clock", {})), "Z06"),
    Fault("two kinds in one block", put("messages.4.content.0.json", {}), "union"),
    Fault("an unknown key in a call", put(f"{_CALL}.index", 0), "index"),
    Fault("an unknown key in a message", put("messages.3.id", "x"), "Unknown parameter"),
    Fault("an unknown key on top", put("tools", []), "tools"),
    Fault("content as a string", put("messages.4.content", "Thanks."), "Invalid type"),
    Fault("an image of unknown format", put(f"{_IMAGE}.format", "bmp"), "bmp"),
    Fault("an image that is no base64", put(f"{_IMAGE}.source.bytes", "%%%"), "base64"),
    Fault("a lone surrogate", put("messages.4.content.0.text", "\ud800"), "lone surrogate"),
]
