"""Tool definitions and tool choice in the neutral form, with what only one wire knows of them."""

from ...jsontext.fields import filled
from ...model.definitions import Choice, Definition, HostedTool, Tool, tool, with_own
from ...model.json_values import Json, JsonObject
from ..shared import tools as shared


@shared.for_each
def read_tools(value: JsonObject) -> Definition:
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


def write_tools(tools: shared.Offered, choice: Choice | None) -> JsonObject:
    request: JsonObject = {}
    if tools:
        request["tools"] = [_written_tool(one) for one in tools]
    if choice is not None:
        request["tool_choice"] = filled(
            mode=choice.mode,
            name=choice.name,
            allowed=list(choice.allowed) or None,
            parallel=choice.parallel,
            wire=choice.wire if choice.native is not None else None,
            native=choice.native,
        )
    return request


def _written_tool(one: Tool | HostedTool) -> JsonObject:
    if isinstance(one, HostedTool):
        return {"name": one.name, "wire": one.wire, "native": one.native}
    own: JsonObject = {"wire": one.wire, "own": one.own} if one.own else {}
    said = filled(parameters=one.schema, strict=one.strict or None)
    return shared.name_and_description(one) | said | own
