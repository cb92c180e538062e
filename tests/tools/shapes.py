"""The wires' shapes of tool definitions and tool choice, written down apart from the codecs."""

import copy
import json
from typing import Any, NamedTuple

from app.convert.queries import convert_tools
from app.formats.registry import CODECS, TARGETS
from app.model.limits import Limits
from tests import judges
from tests.formats import family

LIMITS = Limits()
CHAT = tuple(one for one in TARGETS if family(one) == "chat")
# Sources whose shapes differ; the other chat providers are read as OpenAI is.
SHAPES = tuple(one for one in TARGETS if one not in CHAT or one == "openai")
SAYS_NONE = tuple(one for one in TARGETS if CODECS[one].tools.none)
SAYS_ALLOWED = tuple(one for one in TARGETS if CODECS[one].tools.allowed)
SAYS_PARALLEL = tuple(one for one in TARGETS if CODECS[one].tools.parallel)

Schema = dict[str, Any]


class Said(NamedTuple):
    """A definition as it stands on some wire."""

    name: str
    description: str | None
    schema: Schema


RICH: Schema = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file to read"},
        "mode": {"type": "string", "enum": ["text", "bytes"]},
        "limit": {"type": "integer", "description": "How many lines (optional)"},
        "follow": {"type": "boolean"},
        "encoding": {"type": "string", "default": "utf-8"},
        "owner": {"type": ["string", "null"]},
        "group": {"type": "string", "nullable": True},
        "options": {
            "type": "object",
            "properties": {
                "depth": {"type": "integer"},
                "inner": {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "quiet": {"type": "boolean"}},
                    "required": ["x", "quiet"],
                },
            },
            "required": ["inner", "depth"],
            "additionalProperties": False,
        },
        "tags": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "key": {"type": "string"},
                    "value": {"type": "string", "description": "Can be omitted."},
                },
                "required": ["value", "key"],
            },
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["tags", "path", "limit", "follow", "encoding", "group", "options", "mode"],
}


def written(wire: str, *tools: Said) -> Any:
    """`tools` of a request on a wire."""
    match wire:
        case "anthropic":
            return [_joined(one, "input_schema") for one in tools]
        case "neutral":
            return [_joined(one, "parameters") for one in tools]
        case "openai-responses":
            return [{"type": "function", **_joined(one, "parameters")} for one in tools]
        case "gemini":
            return [
                {"functionDeclarations": [_joined(one, "parametersJsonSchema") for one in tools]}
            ]
        case "bedrock":
            return [{"toolSpec": _in_bedrock(one)} for one in tools]
        case "vercel" | "vercel-v4":
            key = "inputSchema" if wire == "vercel" else "parameters"
            return {one.name: {"description": one.description, key: one.schema} for one in tools}
        case _:
            return [{"type": "function", "function": _joined(one, "parameters")} for one in tools]


def _joined(one: Said, key: str) -> dict[str, Any]:
    said = {} if one.description is None else {"description": one.description}
    return {"name": one.name, **said, key: one.schema}


def _in_bedrock(one: Said) -> dict[str, Any]:
    return _joined(one, "inputSchema") | {"inputSchema": {"json": one.schema}}


def read(target: str, request: dict[str, Any]) -> list[Said]:
    """The definitions of a rendered request."""
    match target:
        case "gemini":
            groups = [one["function_declarations"] for one in request.get("tools", [])]
            found = [one for group in groups for one in group]
            return [_said(one, "parameters_json_schema") for one in found]
        case "bedrock":
            specs = [one["toolSpec"] for one in request.get("toolConfig", {}).get("tools", [])]
            return [
                Said(one["name"], one.get("description"), one["inputSchema"]["json"])
                for one in specs
            ]
        case "vercel" | "vercel-v4":
            key = "inputSchema" if target == "vercel" else "parameters"
            listed = request.get("tools", {}).items()
            return [_said({"name": name, **one}, key) for name, one in listed]
        case "anthropic":
            return [_said(one, "input_schema") for one in request.get("tools", [])]
        case "neutral" | "openai-responses":
            return [_said(one, "parameters") for one in request.get("tools", [])]
        case _:
            return [_said(one["function"], "parameters") for one in request.get("tools", [])]


def _said(one: dict[str, Any], key: str) -> Said:
    return Said(one["name"], one.get("description"), one[key])


def chosen(wire: str, kind: str, *names: str) -> Any:
    """`tool_choice` on a wire: auto, any, none, named or allowed."""
    if kind == "named":
        return _named(wire, names[0])
    if kind == "allowed":
        return _allowed(wire, list(names))
    match wire:
        case "anthropic":
            return {"type": kind}
        case "bedrock":
            return {kind: {}}
        case "neutral":
            return {"mode": kind}
        case "gemini":
            return {"function_calling_config": {"mode": kind.upper()}}
        case _:
            return "required" if kind == "any" else kind


def _named(wire: str, name: str) -> Any:
    match wire:
        case "anthropic":
            return {"type": "tool", "name": name}
        case "bedrock":
            return {"tool": {"name": name}}
        case "neutral":
            return {"mode": "tool", "name": name}
        case "gemini":
            return _allowed(wire, [name])
        case "vercel" | "vercel-v4":
            return {"type": "tool", "toolName": name}
        case "openai-responses":
            return {"type": "function", "name": name}
        case _:
            return {"type": "function", "function": {"name": name}}


def _allowed(wire: str, names: list[str]) -> Any:
    match wire:
        case "neutral":
            return {"mode": "any", "allowed": names}
        case "gemini":
            config = {"mode": "ANY", "allowed_function_names": names}
            return {"function_calling_config": config}
        case "openai-responses":
            listed = [_named(wire, name) for name in names]
            return {"type": "allowed_tools", "mode": "required", "tools": listed}
        case _:
            inner = {"mode": "required", "tools": [_named(wire, name) for name in names]}
            return {"type": "allowed_tools", "allowed_tools": inner}


def choice_of(target: str, request: dict[str, Any]) -> Any:
    """The tool choice of a rendered request, without what it says of parallel calls."""
    match target:
        case "bedrock":
            return request.get("toolConfig", {}).get("toolChoice")
        case "gemini":
            return request.get("tool_config")
        case "vercel" | "vercel-v4":
            return request.get("toolChoice")
        case "anthropic" | "neutral":
            own = ("disable_parallel_tool_use", "parallel")
            choice = request.get("tool_choice") or {}
            return {key: value for key, value in choice.items() if key not in own} or None
        case _:
            return request.get("tool_choice")


def parallel_of(target: str, request: dict[str, Any]) -> bool | None:
    """Whether a rendered request allows parallel calls; None: it does not say."""
    choice = request.get("tool_choice")
    said = choice if isinstance(choice, dict) else {}
    if target == "anthropic":
        disabled = said.get("disable_parallel_tool_use")
        return None if disabled is None else not disabled
    found: bool | None = (said if target == "neutral" else request).get(
        "parallel" if target == "neutral" else "parallel_tool_calls"
    )
    return found


def hello(target: str) -> dict[str, Any]:
    """The smallest request there is."""
    match target:
        case "openai-responses":
            return {"input": [{"type": "message", "role": "user", "content": "hi"}]}
        case "gemini":
            return {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
        case "bedrock":
            return {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
        case _:
            return {"messages": [{"role": "user", "content": "hi"}]}


def faults(target: str, request: dict[str, Any]) -> list[str]:
    """What the target's judge holds against the definitions; neutral has no judge."""
    if target == "neutral" or judges.available(target):
        return []
    return judges.complaints(target, hello(target) | request)


def convert(source: str, target: str, tools: Any, **more: Any) -> dict[str, Any]:
    """`/convert/tools` without HTTP; what is given is never changed."""
    members = {"from": source, "to": target, "tools": tools, **more}
    before = copy.deepcopy(members)
    answer: dict[str, Any] = convert_tools(members, LIMITS)
    assert members == before
    return json.loads(json.dumps(answer))  # type: ignore[no-any-return]


def codes(answer: dict[str, Any]) -> list[str]:
    return [note["code"] for note in answer["notes"]]


def property_paths(schema: Any, at: str = "") -> set[str]:
    """Where properties are, at any depth."""
    found: set[str] = set()
    if isinstance(schema, list):
        for one in schema:
            found |= property_paths(one, at)
    if isinstance(schema, dict):
        for key, member in schema.items():
            if key == "properties":
                for name, inner in member.items():
                    found |= {f"{at}/{name}"} | property_paths(inner, f"{at}/{name}")
            else:
                found |= property_paths(member, f"{at}<{key}>")
    return found
