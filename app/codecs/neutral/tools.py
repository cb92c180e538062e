"""Tool definitions and tool choice in the neutral form, with what only one wire knows of them."""

from collections.abc import Sequence

from app.codecs.shared import tools as shared
from app.core.json.text import Json, JsonObject
from app.core.tools.definitions import Choice, Definition, HostedTool, Tool, tool, with_own


def read_tools(value: Json) -> list[Definition]:
    return shared.definitions(value, _definition)


def _definition(value: JsonObject) -> Definition:
    name = value.get("name")
    native, wire = value.get("native"), value.get("wire")
    if isinstance(native, dict) and isinstance(wire, str):
        return HostedTool(name if isinstance(name, str) else wire, native, wire)
    read = tool(name, value.get("description"), value.get("parameters"), strict=value.get("strict"))
    own = value.get("own")
    known = wire if isinstance(wire, str) else None
    return with_own(read, own if isinstance(own, dict) else {}, (), known)


def read_choice(choice: Json) -> Choice:
    if not isinstance(choice, dict):
        raise shared.bad_choice()
    said, allowed = choice.get("parallel"), choice.get("allowed")
    parallel = said if isinstance(said, bool) else None
    names = tuple(str(one) for one in allowed) if isinstance(allowed, list) else ()
    native, wire = choice.get("native"), choice.get("wire")
    own = native if isinstance(native, dict) and isinstance(wire, str) else None
    known = wire if own is not None and isinstance(wire, str) else None
    match choice:
        case {"mode": ("auto" | "any" | "none") as mode}:
            return Choice(mode, None, names, parallel, own, known)
        case {"mode": "tool", "name": str(name)}:
            return Choice("tool", name, (), parallel, own, known)
        case _:
            raise shared.bad_choice()


def write_tools(tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
    request: JsonObject = {}
    if tools:
        request["tools"] = [_written_tool(one) for one in tools]
    if choice is not None:
        shown: JsonObject = {"mode": choice.mode}
        if choice.name is not None:
            shown["name"] = choice.name
        if choice.allowed:
            shown["allowed"] = list(choice.allowed)
        if choice.parallel is not None:
            shown["parallel"] = choice.parallel
        if choice.native is not None:
            shown |= {"wire": choice.wire, "native": choice.native}
        request["tool_choice"] = shown
    return request


def _written_tool(one: Tool | HostedTool) -> JsonObject:
    if isinstance(one, HostedTool):
        return {"name": one.name, "wire": one.wire, "native": one.native}
    shown: JsonObject = {**shared.name_and_description(one), "parameters": one.schema}
    if one.strict:
        shown["strict"] = True
    if one.own:
        shown |= {"wire": one.wire, "own": one.own}
    return shown
