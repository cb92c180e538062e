"""Anthropic's tool definitions and tool choice, read and written."""

import re

from ...jsontext.fields import filled
from ...model.definitions import Choice, Definition, HostedTool, Tool, tool, with_own
from ...model.json_values import Json, JsonObject
from ..shared import tools as shared

WIRE = "anthropic"

# The provider's own tools carry a version in their type (web_search_20250305, bash_20250124), but
# for these (the anthropic SDK's ToolUnionParam and BetaToolUnionParam).
_HOSTED = re.compile(
    r"[a-z0-9_]+_20[0-9]{6}|tool_search_tool_bm25|tool_search_tool_regex|mcp_toolset"
)
_MEMBERS = ("type", "name", "description", "input_schema", "strict")


@shared.for_each
def read_tools(value: JsonObject) -> Definition:
    kind = value.get("type", "custom")
    name = value.get("name", value.get("mcp_server_name"))
    if isinstance(kind, str) and _HOSTED.fullmatch(kind):
        return HostedTool(name if isinstance(name, str) else kind, value, WIRE)
    if kind != "custom":
        return shared.refused(value, "the type is unknown")
    read = tool(
        name, value.get("description"), value.get("input_schema"), strict=value.get("strict")
    )
    return with_own(read, value, _MEMBERS, WIRE)


def read_choice(choice: Json) -> Choice:
    disabled = choice.get("disable_parallel_tool_use") if isinstance(choice, dict) else None
    parallel = None if disabled is None else disabled is not True
    match choice:
        case {"type": "tool", "name": str(name)}:
            return Choice("tool", name, parallel=parallel)
        case {"type": "auto" | "any" | "none" as mode}:
            return Choice(mode, parallel=parallel)
        case _:
            raise shared.bad_choice()


def write_tools(tools: shared.Offered, choice: Choice | None) -> JsonObject:
    if not tools:
        return {}
    request: JsonObject = {"tools": shared.written(tools, _written_tool)}
    if choice is not None:
        shown = filled(type=choice.mode, name=choice.name)
        if choice.parallel is not None and choice.mode != "none":
            shown["disable_parallel_tool_use"] = not choice.parallel
        request["tool_choice"] = shown
    return request


def _written_tool(one: Tool) -> JsonObject:
    strict: JsonObject = {"strict": True} if one.strict else {}
    return {**shared.name_and_description(one), "input_schema": one.schema, **strict, **one.own}
