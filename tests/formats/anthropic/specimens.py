"""Anthropic Messages: signed thinking, an image, an error result and text behind the results."""

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
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "two tools", "signature": "c2ln"},
                    {"type": "text", "text": "I look."},
                    _call("toolu_1", "weather", {"city": "Paris"}),
                    _call("toolu_2", "clock", {}),
                ],
            },
            {
                "role": "user",
                "content": [
                    _result("toolu_1", "sunny"),
                    {**_result("toolu_2", [{"type": "text", "text": "none"}]), "is_error": True},
                    {"type": "text", "text": "And?"},
                ],
            },
            {"role": "assistant", "content": "Sunny, and no clock."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [{"name": name, "input_schema": schema()} for name in ("weather", "clock")],
        "tool_choice": {"type": "auto"},
    }


def _call(call_id: str, name: str, arguments: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id: str, content: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


_TEXT = {"type": "text", "text": "x"}
_PHOTO = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
_HALF = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
_HALF_MCP = _HALF | {"type": "mcp_tool_use", "server_name": "files"}
_THOUGHT = {"type": "thinking", "thinking": "y", "signature": "z"}
_MARK = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
_NO_SCHEMA = {"type": "object", "properties": {"a": {"type": "text"}}}
_FIRST = "messages.1.content.2"

FAULTS = [
    Fault("no messages", put("messages", []), "A6"),
    Fault("the assistant speaks first", drop("messages.0"), "A7"),
    Fault("a call is never answered", drop("messages.2.content.1"), "A1"),
    Fault("the call of a result is gone", drop("messages.1.content.3"), "A2"),
    Fault("a result is given twice", again("messages.2.content.0"), "A16"),
    Fault(
        "results are swapped", swap("messages.2.content.0", "messages.2.content.1"), "call order"
    ),
    Fault("text between results", swap("messages.2.content.1", "messages.2.content.2"), "A1"),
    Fault("text before results", insert("messages.2.content.0", _TEXT), "A1"),
    Fault(
        "results in two messages",
        insert("messages.3", {"role": "user", "content": [_result("toolu_2", "late")]}),
        "A2",
    ),
    Fault("two calls share an id", put("messages.1.content.3.id", "toolu_1"), "A3"),
    Fault("an id of Kimi", put(f"{_FIRST}.id", "functions.weather:0"), "A4"),
    Fault(
        "an answer by another id",
        put("messages.2.content.0.tool_use_id", "a.b"),
        "tool_use_id must",
    ),
    Fault("an empty id", put(f"{_FIRST}.id", ""), "A4"),
    Fault("a blank text", put("messages.0.content.0.text", " \n"), "A5"),
    Fault("an empty text", put("messages.1.content.1.text", ""), "A5"),
    Fault(
        "an empty text in a result",
        put("messages.2.content.0.content", [_TEXT | {"text": ""}]),
        "A5",
    ),
    Fault("a blank message", put("messages.4.content", " "), "A5"),
    Fault("a blank system", put("system", " "), "A5"),
    Fault("an empty message", put("messages.3.content", []), "A6"),
    Fault("an empty string as message", put("messages.4.content", ""), "A6"),
    Fault("a system role", put("messages.4.role", "system"), "A8"),
    Fault("a role of chat", put("messages.2.role", "tool"), "role"),
    Fault(
        "blanks at the very end",
        insert("messages.5", {"role": "assistant", "content": "So "}),
        "A9",
    ),
    Fault("an error without words", put("messages.2.content.1.content", []), "A11"),
    Fault("an error with an image", put("messages.2.content.1.content.0", _PHOTO), "must be text"),
    Fault("input is text", put(f"{_FIRST}.input", "{}"), "object"),
    Fault("input is null", put(f"{_FIRST}.input", None), "object"),
    Fault("a bad name in a call", put(f"{_FIRST}.name", "a b"), "A16"),
    Fault("a bad name of a tool", put("tools.0.name", "a.b"), "A16"),
    Fault("two tools of one name", put("tools.1.name", "weather"), "A15"),
    Fault("a top-level anyOf", put("tools.0.input_schema.anyOf", [{}]), "A15"),
    Fault("a schema that is none", put("tools.0.input_schema", _NO_SCHEMA), "A15"),
    Fault("thinking without signature", put("messages.1.content.0.signature", ""), "A13"),
    Fault("thinking as the last block", put("messages.3.content", [_TEXT, _THOUGHT]), "A16"),
    Fault("text after a call", put("messages.1.content.0", _call("toolu_0", "clock", {})), "Z06"),
    Fault(
        "a call of the user",
        put("messages.4.content", [_call("toolu_9", "clock", {})]),
        "user message",
    ),
    Fault("half a server tool", put("messages.3.content", [_HALF]), "Z56"),
    Fault("half a tool of an MCP server", put("messages.3.content", [_HALF_MCP]), "Z56"),
    Fault(
        "a tool of no MCP server",
        put("messages.3.content", [_HALF_MCP | {"server_name": None}]),
        "server_name",
    ),
    Fault("five cache marks", put("messages.4.content", [_MARK] * 5), "Z47"),
    Fault("an image that is no base64", put("messages.0.content.1.source.data", "%%%"), "base64"),
    Fault(
        "an image of unknown kind",
        put("messages.0.content.1.source.media_type", "image/bmp"),
        "bmp",
    ),
    Fault(
        "an image from a file",
        put("messages.0.content.1.source", {"type": "url", "url": "file:///a"}),
        "web address",
    ),
    Fault("an image of the assistant", put("messages.3.content", [_PHOTO]), "assistant message"),
    Fault("an unknown key in a block", put(f"{_FIRST}.index", 0), "index"),
    Fault("an unknown key in a source", put("messages.0.content.1.source.size", 0), "size"),
    Fault("an unknown key on top", put("contents", []), "contents"),
    Fault("a tool choice of chat", put("tool_choice", "auto"), "tool_choice"),
    Fault("a tool of chat", put("tools.0", {"type": "function", "function": {}}), "tools[0]"),
    Fault("a number that is none", put("messages.1.content.2.input.n", float("nan")), "nan"),
    Fault("bytes", put("messages.0.content.1.source.data", b"png"), "bytes"),
    Fault("a key that is a number", put("messages.1.content.2.input", {1: 2}), "key 1"),
    Fault("a lone surrogate", put("messages.2.content.0.content", "\udfff"), "lone surrogate"),
]
