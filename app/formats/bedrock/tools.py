"""Bedrock's `toolConfig`, read and written."""

from ...jsontext.fields import filled
from ...model.definitions import Choice, Definition, HostedTool, Refused, Tool, tool, with_own
from ...model.json_values import Json, JsonObject
from ..shared import tools as shared

WIRE = "bedrock"


@shared.for_each
def read_tools(value: JsonObject) -> Definition:
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


def write_tools(tools: shared.Offered, choice: Choice | None) -> JsonObject:
    if not tools:
        return {}
    config: JsonObject = {"tools": shared.written(tools, _written_tool)}
    if choice is not None:
        named: JsonObject = {"name": choice.name} if choice.mode == "tool" else {}
        config["toolChoice"] = {choice.mode: named}
    return {"toolConfig": config}


def _written_tool(one: Tool) -> JsonObject:
    spec = filled(
        name=one.name,
        description=one.description or None,
        inputSchema={"json": one.schema},
        # botocore's service model: ToolSpecification.strict.
        strict=one.strict or None,
    )
    return {"toolSpec": spec}
