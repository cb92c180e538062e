"""OpenAI Responses: reasoning, grouped calls, and assistant text as the model wrote it."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import PIXEL, schema
from tests.judges.specimens.damage import Fault, again, drop, insert, put, swap


def healthy() -> dict[str, Any]:
    return {
        "instructions": "Be brief.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Weather and time?"},
                    {
                        "type": "input_image",
                        "detail": "auto",
                        "image_url": f"data:image/png;base64,{PIXEL}",
                    },
                ],
            },
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            _call("call_1", "weather", '{"city": "Paris"}'),
            _call("call_2", "clock", "{}"),
            {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
            {"type": "function_call_output", "call_id": "call_2", "output": ""},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Sunny."}]},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [
            {"type": "function", "name": name, "parameters": schema(), "strict": False}
            for name in ("weather", "clock")
        ],
        "tool_choice": {"type": "function", "name": "weather"},
    }


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


FAULTS = [
    Fault("no input", put("input", []), "C8"),
    Fault("blank instructions", put("instructions", " "), "C9"),
    Fault("a call is never answered", drop("input.5"), "R5"),
    Fault("the call of an output is gone", drop("input.3"), "R6"),
    Fault("an output is given twice", again("input.4"), "second result"),
    Fault("outputs are swapped", swap("input.4", "input.5"), "call order"),
    Fault(
        "a message parts call and output", insert("input.4", {"role": "user", "content": "x"}), "R5"
    ),
    Fault("a call among outputs", insert("input.5", _call("call_3", "clock", "{}")), "among"),
    Fault("two calls share an id", put("input.3.call_id", "call_1"), "R15"),
    Fault("a call id of 65 characters", put("input.2.call_id", "c" * 65), "R4"),
    Fault("an output without call id", drop("input.4.call_id"), "R4"),
    Fault("an item id of chat", put("input.2.id", "call_1"), "R1"),
    Fault("an item id with a dot", put("input.2.id", "fc.1"), "R3"),
    Fault("an empty item id", put("input.2.id", ""), "R3"),
    Fault("a message id of another kind", put("input.6.id", "item_1"), "R2"),
    Fault("reasoning at the end", swap("input.1", "input.7"), "R7"),
    Fault("reasoning before a user", swap("input.1", "input.6"), "R7"),
    Fault("reasoning without summary", drop("input.1.summary"), "summary"),
    Fault("bare reasoning", drop("input.1.encrypted_content"), "R9"),
    Fault("an item reference", insert("input.7", {"type": "item_reference", "id": "rs_9"}), "R9"),
    Fault("one reasoning twice", again("input.1"), "R15"),
    Fault("input_text of the assistant", put("input.6.content.0.type", "input_text"), "R10"),
    Fault("output_text of the user", put("input.0.content.0.type", "output_text"), "output_text"),
    Fault("a role of chat", put("input.4", {"role": "tool", "content": "x"}), "role"),
    Fault("an unknown key", put("input.2.metadata", {}), "metadata"),
    Fault("an unknown key in a part", put("input.6.content.0.cache", 1), "cache"),
    Fault("messages of chat", put("messages", []), "messages"),
    Fault("a nested tool", put("tools.0", {"type": "function", "function": {}}), "tools[0]"),
    Fault(
        "a nested tool choice",
        put("tool_choice", {"type": "function", "function": {}}),
        "tool_choice",
    ),
    Fault("a strict tool with an open schema", put("tools.0.strict", True), "C10"),
    Fault("two tools of one name", put("tools.1.name", "weather"), "A15"),
    Fault("no tools in the list", put("tools", []), "C8"),
    Fault("a schema that is none", put("tools.0.parameters.type", "text"), "A15"),
    Fault("an image without source", drop("input.0.content.1.image_url"), "no source"),
    Fault("arguments are a list", put("input.2.arguments", "[]"), "C7"),
    Fault("arguments are an object", put("input.2.arguments", {}), "C7"),
    Fault("a bad name", put("input.2.name", "a.b"), "C5"),
    Fault("a bad tool name", put("tools.0.name", "a b"), "C5"),
    Fault("an output over the limit", put("input.4.output", "a" * 10_485_761), "Z41"),
    Fault("only blank parts", put("input.6.content.0.text", " "), "C9"),
    Fault("an output of null", put("input.4.output", None), "output"),
    Fault(
        "a broken image in an output",
        put("input.4.output", [{"type": "input_image", "image_url": "file:///a"}]),
        "output[0]",
    ),
    Fault("an output that is an object", put("input.4.output", {"a": 1}), "output"),
    Fault("an empty text", put("input.0.content.0.text", ""), "C9"),
    Fault("an empty message", put("input.7.content", ""), "C9"),
    Fault("a blank answer", put("input.6.content", " "), "C9"),
    Fault(
        "an image that is no base64",
        put("input.0.content.1.image_url", "data:image/png;base64,%"),
        "base64",
    ),
    Fault("a lone surrogate", put("input.5.output", "\udcff"), "lone surrogate"),
]
