"""Bedrock's `toolConfig`, read and written."""

from collections.abc import Sequence

from app.codecs.shared import tools as shared
from app.core.json.text import Json, JsonObject
from app.core.tools.definitions import Choice, Definition, HostedTool, Refused, Tool, tool, with_own

WIRE = "bedrock"


def read_tools(value: Json) -> list[Definition]:
    return shared.definitions(value, _definition)


def _definition(value: JsonObject) -> Definition:
    spec = value.get("toolSpec")
    if isinstance(spec, dict):
        schema = spec.get("inputSchema")
        inner = schema.get("json") if isinstance(schema, dict) else schema
        read = tool(spec.get("name"), spec.get("description"), inner, strict=spec.get("strict"))
        return with_own(read, spec, ("name", "description", "inputSchema", "strict"), None)
    match value:
        case {"systemTool": {"name": str(name)}}:
            return HostedTool(name, value, WIRE)
        case {"cachePoint": _}:
            return HostedTool("cachePoint", value, WIRE)
        case _:
            return Refused(None, "the tool has no toolSpec")


def read_choice(choice: Json) -> Choice:
    match choice:
        case {"tool": {"name": str(name)}}:
            return Choice("tool", name)
        case {"any": _}:
            return Choice("any")
        case {"auto": _}:
            return Choice("auto")
        case _:
            raise shared.bad_choice()


def write_tools(tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
    if not tools:
        return {}
    listed: list[Json] = [
        one.native if isinstance(one, HostedTool) else _written_tool(one) for one in tools
    ]
    config: JsonObject = {"tools": listed}
    if choice is not None:
        named: JsonObject = {"name": choice.name} if choice.mode == "tool" else {}
        config["toolChoice"] = {choice.mode: named}
    return {"toolConfig": config}


def _written_tool(one: Tool) -> JsonObject:
    spec: JsonObject = {"name": one.name}
    if one.description:
        spec["description"] = one.description
    spec["inputSchema"] = {"json": one.schema}
    # botocore's service model: ToolSpecification.strict.
    return {"toolSpec": spec | ({"strict": True} if one.strict else {})}
