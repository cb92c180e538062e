"""Gemini's function declarations and tool config, read and written."""

from collections.abc import Iterator
from dataclasses import replace

from ...jsontext.fields import Fields
from ...model.definitions import Choice, Definition, HostedTool, Refused, Tool, tool, with_own
from ...model.json_values import Json, JsonObject
from ..shared import tools as shared
from .schema import json_schema
from .spelling import both, member

WIRE = "gemini"

_HOSTED = (
    "google_search",
    "google_search_retrieval",
    "code_execution",
    "url_context",
    "google_maps",
    "computer_use",
    "enterprise_web_search",
    "file_search",
    "retrieval",
    "parallel_ai_search",
    "exa_ai_search",
    "mcp_servers",
)
_MEMBERS = ("name", "description", "parameters", "parameters_json_schema", "parametersJsonSchema")
_UNSAID = "MODE_UNSPECIFIED"
_MODES = {
    "AUTO": Choice("auto"),
    "ANY": Choice("any"),
    "NONE": Choice("none"),
    "VALIDATED": Choice("auto"),
    _UNSAID: Choice("auto"),
}
# google-genai: what ToolConfig has beside the mode of function calling.
_BESIDE = ("retrieval_config", "include_server_side_tool_invocations")


def read_tools(value: Json) -> list[Definition]:
    return [
        definition
        for place, one in enumerate(Fields({"tools": value}, "").items("tools"))
        for definition in _definitions(one, str(place))
    ]


def _definitions(value: Json, at: str) -> Iterator[Definition]:
    """The functions that a tool declares, and what Gemini itself runs beside them."""
    if not isinstance(value, dict):
        yield Refused(None, "the definition is not a JSON object", at)
        return
    name = Fields(value, at).spelled(*both("function_declarations"))
    declared = value.get(name)
    if isinstance(declared, list):
        for place, one in enumerate(declared):
            yield replace(_declaration(one), at=f"{at}/{name}/{place}")
    elif declared is None and "name" in value:
        yield replace(_declaration(value), at=at)
    hosted = [name for name in _HOSTED if member(value, name) is not None]
    for name in hosted:
        yield HostedTool(name, {name: member(value, name)}, WIRE, at)
    if not isinstance(declared, list) and "name" not in value and not hosted:
        yield Refused(None, "the tool declares no function", at)


def _declaration(value: Json) -> Definition:
    if not isinstance(value, dict):
        return Refused(None, "the declaration is not a JSON object")
    schema = member(value, "parameters_json_schema")
    if schema is None:
        schema = value.get("parameters")
        schema = json_schema(schema) if isinstance(schema, dict) else schema
    read = tool(value.get("name"), value.get("description"), schema)
    return with_own(read, value, _MEMBERS, WIRE)


def read_choice(choice: Json) -> Choice:
    if not isinstance(choice, dict):
        raise shared.bad_choice()
    more = any(member(choice, name) is not None for name in _BESIDE)
    config = member(choice, "function_calling_config")
    if config is None:
        config = choice
    unsaid = _UNSAID if more or config is not choice else None
    mode = config.get("mode", unsaid) if isinstance(config, dict) else None
    word = mode.upper() if isinstance(mode, str) else ""
    if not isinstance(config, dict) or word not in _MODES:
        raise shared.bad_choice()
    allowed = member(config, "allowed_function_names") or []
    names = tuple(str(name) for name in allowed) if isinstance(allowed, list) else ()
    # "Validated" has no other word.
    native = choice if more or (word == "VALIDATED" and not names) else None
    wire = None if native is None else WIRE
    if word == "ANY" and len(names) == 1:
        return Choice("tool", names[0], native=native, wire=wire)
    return replace(_MODES[word], allowed=names, native=native, wire=wire)


def write_tools(tools: shared.Offered, choice: Choice | None) -> JsonObject:
    declared: list[Json] = [
        {**shared.name_and_description(one), "parameters_json_schema": one.schema, **one.own}
        for one in tools
        if isinstance(one, Tool)
    ]
    listed: list[Json] = [{"function_declarations": declared}] if declared else []
    listed += [one.native for one in tools if isinstance(one, HostedTool)]
    request: JsonObject = {"tools": listed} if listed else {}
    if declared and choice is not None:
        config: JsonObject = {"mode": "ANY" if choice.mode == "tool" else choice.mode.upper()}
        names = [choice.name] if choice.mode == "tool" else list(choice.allowed)
        if names:
            # Only in these modes does the API read the list.
            config["mode"] = "ANY" if config["mode"] == "ANY" else "VALIDATED"
            config["allowed_function_names"] = list(names)
        request["tool_config"] = choice.native or {"function_calling_config": config}
    return request
