"""Google Gemini: a thought signature, an image and two responses in one turn."""

from __future__ import annotations

from typing import Any

from tests.formats.chat.specimens import PIXEL, schema
from tests.judges.specimens.damage import Fault, again, drop, insert, put, swap


def healthy() -> dict[str, Any]:
    return {
        "system_instruction": "Be brief.",
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "Weather and time?"},
                    {"inline_data": {"mime_type": "image/png", "data": PIXEL}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    _call("hist_tool_1", "weather", {"city": "Paris"})
                    | {"thought_signature": "skip_thought_signature_validator"},
                    _call("hist_tool_2", "clock", {}),
                ],
            },
            {
                "role": "user",
                "parts": [
                    _response("hist_tool_1", "weather", {"output": "sunny"}),
                    _response("hist_tool_2", "clock", {"error": "no clock"}),
                ],
            },
            {"role": "model", "parts": [{"text": "Sunny, and no clock."}]},
            {"role": "user", "parts": [{"text": "Thanks."}]},
        ],
        "tools": [
            {
                "function_declarations": [
                    {"name": name, "parameters_json_schema": schema()}
                    for name in ("weather", "clock")
                ]
            }
        ],
        "tool_config": {"function_calling_config": {"mode": "AUTO"}},
    }


def _call(call_id: str, name: str, arguments: object) -> dict[str, Any]:
    return {"function_call": {"id": call_id, "name": name, "args": arguments}}


def _response(call_id: str, name: str, value: object) -> dict[str, Any]:
    return {"function_response": {"id": call_id, "name": name, "response": value}}


_CALL = "contents.1.parts.1.function_call"
_RESPONSE = "contents.2.parts.0.function_response"
_INLINE = "contents.0.parts.1.inline_data"

FAULTS = [
    Fault("no contents", put("contents", []), "G5"),
    Fault("contents that are no list", put("contents", {}), "must be lists"),
    Fault("the model speaks first", drop("contents.0"), "G2"),
    Fault(
        "a call turn after a model turn",
        insert("contents.1", {"role": "model", "parts": [{"text": "x"}]}),
        "call turn must",
    ),
    Fault("a call is never answered", drop("contents.2.parts.1"), "G1"),
    Fault("no call is answered", drop("contents.2"), "G1"),
    Fault("the call of a response is gone", drop("contents.1.parts.2"), "G3"),
    Fault("all calls are gone", put("contents.1.parts", [{"text": "x"}]), "G3"),
    Fault("a response is given twice", again("contents.2.parts.0"), "G1"),
    Fault("responses are swapped", swap("contents.2.parts.0", "contents.2.parts.1"), "order"),
    Fault(
        "responses in two turns",
        insert("contents.3", {"role": "user", "parts": [_response("hist_tool_2", "clock", {})]}),
        "G3",
    ),
    Fault("a response under another name", put(f"{_RESPONSE}.name", "clock"), "is named"),
    Fault("a response without name", drop(f"{_RESPONSE}.name"), "G8"),
    Fault(
        "two calls share an id", put("contents.1.parts.2.function_call.id", "hist_tool_1"), "twice"
    ),
    Fault("a role of chat", put("contents.3.role", "assistant"), "G4"),
    Fault("no role", drop("contents.4.role"), "G4"),
    Fault("a role tool", put("contents.2.role", "tool"), "G4"),
    Fault("no parts", put("contents.3.parts", []), "G5"),
    Fault("a part without data", put("contents.3.parts.0", {}), "G5"),
    Fault("a part with two data", put("contents.1.parts.1.text", "x"), "G5"),
    Fault("an empty text", put("contents.3.parts.0.text", ""), "G6"),
    Fault("a blank system", put("system_instruction", " "), "G6"),
    Fault("a name that begins with a digit", put(f"{_CALL}.name", "2go"), "G8"),
    Fault("a declared name with a blank", put("tools.0.function_declarations.0.name", "a b"), "G8"),
    Fault("two tools of one name", put("tools.0.function_declarations.1.name", "weather"), "A15"),
    Fault("no tools in the list", put("tools", []), "empty"),
    Fault("a tool that declares nothing", put("tools.0", {}), "declares nothing"),
    Fault(
        "a schema that is none",
        put("tools.0.function_declarations.0.parameters_json_schema.type", "text"),
        "A15",
    ),
    Fault("a call of the user", swap("contents.1.role", "contents.0.role"), "call in a turn"),
    Fault("a response of the model", put("contents.2.role", "model"), "response in a turn"),
    Fault("an empty signature", put("contents.1.parts.1.thought_signature", ""), "G7"),
    Fault("text beside responses", insert("contents.2.parts.2", {"text": "x"}), "G9"),
    Fault("args that are a list", put(f"{_CALL}.args", []), "G11"),
    Fault("args that are null", put(f"{_CALL}.args", None), "G11"),
    Fault("a response that is text", put(f"{_RESPONSE}.response", "sunny"), "G11"),
    Fault("a response that is missing", drop(f"{_RESPONSE}.response"), "G11"),
    Fault("an unknown key in a part", put("contents.3.parts.0.type", "text"), "G11"),
    Fault("an unknown key in a tool", put("tools.0.type", "function"), "tools[0].type"),
    Fault("an unknown key in a call", put(f"{_CALL}.arguments", "{}"), "G11"),
    Fault("an unknown key on top", put("messages", []), "G11"),
    Fault("a tool choice of chat", put("tool_choice", "auto"), "G11"),
    Fault("an unknown calling mode", put("tool_config.function_calling_config.mode", "X"), "G11"),
    Fault("camelCase", put("contents.3.parts.0", {"functionCall": {"name": "clock"}}), "G5"),
    Fault("a signature that is no base64", put("contents.1.parts.1.thought_signature", "%"), "G11"),
    Fault("an image that is no base64", put(f"{_INLINE}.data", "a_-b"), "not base64"),
    Fault("an image without kind", drop(f"{_INLINE}.mime_type"), "mime_type"),
    Fault("a lone surrogate", put("contents.4.parts.0.text", "\udbff"), "lone surrogate"),
]
