"""Tool definitions and tool choice in the neutral form, with what only one wire knows of them."""

from collections.abc import Sequence

from app.codecs.shared.reading import bad_choice, definitions
from app.core.json.text import Json, JsonObject
from app.core.tools.definitions import Choice, Definition, HostedTool, Refused, Tool, tool, with_own


def read_tools(value: Json) -> list[Definition]:
    return [_definition(one) for one in definitions(value)]


def _definition(value: Json) -> Definition:
    if not isinstance(value, dict):
        return Refused(None, "the definition is not a JSON object")
    name = value.get("name")
    native, wire = value.get("native"), value.get("wire")
    if isinstance(native, dict) and isinstance(wire, str):
        return HostedTool(name if isinstance(name, str) else wire, native, wire)
    read = tool(name, value.get("description"), value.get("parameters"), strict=value.get("strict"))
    own = value.get("own")
    known = wire if isinstance(wire, str) else None
    return with_own(read, own if isinstance(own, dict) else {}, (), known)


def read_choice(choice: Json, parallel: bool | None) -> Choice | None:
    if choice is None:
        return None if parallel is None else Choice(parallel=parallel)
    if not isinstance(choice, dict):
        raise bad_choice()
    said = choice.get("parallel")
    parallel = said if isinstance(said, bool) else parallel
    allowed = choice.get("allowed")
    names = tuple(str(one) for one in allowed) if isinstance(allowed, list) else ()
    native, wire = choice.get("native"), choice.get("wire")
    own = native if isinstance(native, dict) and isinstance(wire, str) else None
    known = wire if own is not None and isinstance(wire, str) else None
    match choice:
        case {"mode": "auto"}:
            return Choice("auto", None, names, parallel, own, known)
        case {"mode": "any"}:
            return Choice("any", None, names, parallel, own, known)
        case {"mode": "none"}:
            return Choice("none", None, names, parallel, own, known)
        case {"mode": "tool", "name": str(name)}:
            return Choice("tool", name, (), parallel, own, known)
        case _:
            raise bad_choice()


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
    shown: JsonObject = {"name": one.name}
    if one.description is not None:
        shown["description"] = one.description
    shown["parameters"] = one.schema
    if one.strict:
        shown["strict"] = True
    if one.own:
        shown |= {"wire": one.wire, "own": one.own}
    return shown
