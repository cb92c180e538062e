"""The chat request and the faults that OpenAI, Kimi, DeepSeek, Qwen and Mistral share."""

from __future__ import annotations

from typing import Any

from tests.judges.specimens.damage import Fault, again, drop, insert, put, swap

PIXEL = "iVBORw0KGgo="


def schema() -> dict[str, Any]:
    """A tool's parameters."""
    return {"type": "object", "properties": {"city": {"type": "string"}}}


def chat(first: str, second: str) -> dict[str, Any]:
    """A healthy chat request whose two calls have the ids that are given."""
    return {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather and time?"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    _call(first, "weather", '{"city": "Paris"}'),
                    _call(second, "clock", '{"id": 18446744073709551616}'),
                ],
            },
            {"role": "tool", "tool_call_id": first, "content": "sunny"},
            {"role": "tool", "tool_call_id": second, "content": ""},
            {"role": "assistant", "content": "Sunny, and no clock."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": name, "parameters": schema(), "strict": False},
            }
            for name in ("weather", "clock")
        ],
        "tool_choice": "auto",
    }


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


_FIRST = "messages.2.tool_calls.0"
_ARGUMENTS = f"{_FIRST}.function.arguments"

OBJECT = Fault("arguments are an object", put(_ARGUMENTS, {}), "arguments")
NULL_RESULT = Fault("a result of null", put("messages.3.content", None), "content")
OLD_ROLE = put("messages.3.role", "function")
# What every one of them refuses. mistralai's own types take arguments that are an object and a
# result of null, and OpenAI's still has the role `function`, with a name.
COMMON = [
    Fault("no messages", put("messages", []), "C8"),
    Fault("the second call is never answered", drop("messages.4"), "has no result"),
    Fault("no call is answered", put("messages.3.role", "user"), "has no result"),
    Fault("the call of a result is gone", drop(f"{_FIRST}"), "answers no call"),
    Fault("all calls are gone", drop("messages.2"), "answers no call"),
    Fault("a result is given twice", again("messages.4"), "second result"),
    Fault("results are swapped", swap("messages.3", "messages.4"), "call order"),
    Fault(
        "a user speaks between two results",
        insert("messages.4", {"role": "user", "content": "hm"}),
        "has no result",
    ),
    Fault("arguments are a list", put(_ARGUMENTS, "[]"), "arguments"),
    Fault("arguments are empty", put(_ARGUMENTS, ""), "arguments"),
    Fault("arguments are cut off", put(_ARGUMENTS, '{"a'), "arguments"),
    Fault("arguments hold NaN", put(_ARGUMENTS, '{"a":NaN}'), "NaN"),
    Fault("a surrogate hides in an escape", put(_ARGUMENTS, '{"a":"\\ud83d"}'), "lone surrogate"),
    Fault("a name has a dot", put(f"{_FIRST}.function.name", "a.b"), "name"),
    Fault("a name is empty", put(f"{_FIRST}.function.name", ""), "name"),
    Fault("a tool name is too long", put("tools.0.function.name", "a" * 65), "name"),
    Fault("two tools have one name", put("tools.1.function.name", "weather"), "A15"),
    Fault("an assistant says nothing", put("messages.5.content", " "), "C9"),
    Fault("an assistant has null and no calls", put("messages.5.content", None), "C9"),
    Fault("the user says nothing", put("messages.6.content", ""), "C9"),
    Fault("the system says nothing", put("messages.0.content", ""), "C9"),
    Fault("the list of calls is empty", put("messages.5.tool_calls", []), "C8"),
    Fault("the list of tools is empty", put("tools", []), "C8"),
    Fault("a lone surrogate", put("messages.6.content", "\ud83d"), "lone surrogate"),
    Fault("a surrogate in a key", put("tools.0.function.parameters", {"\udc00": 1}), "surrogate"),
    Fault("a schema that is none", put("tools.0.function.parameters.type", "text"), "A15"),
    Fault("an unknown key in a message", put("messages.5.index", 0), "index"),
    Fault("an unknown key deep inside", put(f"{_FIRST}.function.thought", 1), "thought"),
    Fault("an unknown key on top", put("contents", []), "contents"),
    Fault("an unknown role", put("messages.5.role", "ai"), "role 'ai'"),
    Fault("a result without content", drop("messages.3.content"), "content"),
    Fault("an unknown tool choice", put("tool_choice", "any tool"), "tool_choice"),
]

SHARED = [
    *COMMON,
    OBJECT,
    NULL_RESULT,
    Fault("a role of an older API", OLD_ROLE, "role 'function'"),
]


def healthy() -> dict[str, Any]:
    return chat("call_1", "call_2")


FAULTS = SHARED
