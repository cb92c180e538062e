"""Tool definitions of the AI SDK: an object by name, the schema under the version's own key."""

from dataclasses import replace

from ...jsontext.fields import filled
from ...model.definitions import Choice, Definition, HostedTool, Refused, Tool, tool, with_own
from ...model.json_values import Json, JsonObject
from ..shared import tools as shared

# Tools that a provider runs; older versions said `provider-defined`.
_HOSTED = ("provider-defined", "provider")
_MEMBERS = ("type", "name", "description", "inputSchema", "parameters")


def read_tools(value: Json, wire: str) -> list[Definition]:
    if isinstance(value, dict):
        return [
            replace(_definition(name, one, wire), at=name.replace("~", "~0").replace("/", "~1"))
            for name, one in value.items()
        ]
    return shared.for_each(lambda one: _definition(one.get("name"), one, wire))(value)


def _definition(name: Json, value: Json, wire: str) -> Definition:
    if not isinstance(value, dict):
        known = name if isinstance(name, str) else None
        return Refused(known, "the definition is not a JSON object")
    if value.get("type") in _HOSTED and isinstance(name, str):
        return HostedTool(name, value, wire)
    schema = value.get("inputSchema", value.get("parameters"))
    # The SDK's own wrapper around a JSON Schema.
    if isinstance(schema, dict) and isinstance(inner := schema.get("jsonSchema"), dict):
        schema = inner
    return with_own(tool(name, value.get("description"), schema), value, _MEMBERS, wire)


def read_choice(choice: Json) -> Choice:
    match choice:
        case str() if choice in shared.MODES:
            return Choice(shared.MODES[choice])
        case {"type": "tool", "toolName": str(name)}:
            return Choice("tool", name)
        case _:
            raise shared.bad_choice()


def write_tools(tools: shared.Offered, choice: Choice | None, *, key: str) -> JsonObject:
    """`key` is the member that holds the schema: `inputSchema`, or `parameters` in version 4."""
    request: JsonObject = {}
    if tools:
        request["tools"] = {one.name: _written(one, key) for one in tools}
    if tools and choice is not None:
        named: JsonObject = {"type": "tool", "toolName": choice.name}
        request["toolChoice"] = named if choice.mode == "tool" else shared.mode_word(choice)
    return request


def _written(one: Tool | HostedTool, key: str) -> JsonObject:
    if isinstance(one, HostedTool):
        return one.native
    return filled(description=one.description) | {key: one.schema} | one.own
