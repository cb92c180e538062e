"""Tool definitions of the chat shape: nested under `function`; choice as a word or a named tool."""

from functools import partial

from ...model.definitions import Choice, Definition, HostedTool, Refused, Tool, with_own
from ...model.json_values import Json, JsonObject
from ..shared import tools as shared

_MEMBERS = ("type", "function", "name", "description", "parameters", "strict")


@shared.for_each
def read_tools(value: JsonObject) -> Definition:
    if value.get("type") == "custom":
        value = _nested(value)
        custom = value["custom"]
        name = custom.get("name") if isinstance(custom, dict) else None
        if not isinstance(name, str) or not name:
            return Refused(None, "the tool has no name")
        return HostedTool(name, value, "openai")
    if value.get("type") != "function":
        return shared.refused(value, 'the type must be "function"')
    function = value.get("function", value)
    if not isinstance(function, dict):
        return shared.refused(value, "function is not a JSON object")
    return with_own(shared.function(function), value | function, _MEMBERS, None)


def _nested(value: JsonObject) -> JsonObject:
    """A custom tool, also as the Responses API has it: flat, and its grammar too."""
    if "custom" in value:
        return value
    inner: JsonObject = {key: one for key, one in value.items() if key != "type"}
    match inner.get("format"):
        case {"type": "grammar", "syntax": syntax, "definition": definition}:
            grammar: JsonObject = {"syntax": syntax, "definition": definition}
            inner["format"] = {"type": "grammar", "grammar": grammar}
    return {"type": "custom", "custom": inner}


def read_choice(choice: Json) -> Choice:
    match choice:
        case "any":
            # Mistral's word for `required`.
            return Choice("any")
        case str() if choice in shared.MODES:
            return Choice(shared.MODES[choice])
        case {"type": "allowed_tools", "allowed_tools": dict(allowed)}:
            listed = allowed.get("tools")
            names = tuple(map(_chosen, listed)) if isinstance(listed, list) else ()
            return Choice("any" if allowed.get("mode") == "required" else "auto", None, names)
        case _:
            return Choice("tool", _chosen(choice))


def _chosen(value: Json) -> str:
    """The name in `{"type": "function", "function": {"name": …}}`, or the same with custom."""
    match value:
        case {"type": "function", "function": {"name": str(name)}} if name:
            return name
        case {"type": "custom", "custom": {"name": str(name)}} if name:
            return name
        case _:
            raise shared.bad_choice()


def write_tools(tools: shared.Offered, choice: Choice | None, *, says_strict: bool) -> JsonObject:
    """`says_strict`: every definition says whether it is strict."""
    if not tools:
        return {}
    write = partial(_written, says_strict=says_strict)
    request: JsonObject = {"tools": shared.written(tools, write)}
    if choice is None:
        return request
    hosted = {one.name for one in tools if isinstance(one, HostedTool)}
    if choice.allowed:
        listed: list[Json] = [_choosing(name, hosted) for name in choice.allowed]
        inner: JsonObject = {"mode": shared.mode_word(choice), "tools": listed}
        request["tool_choice"] = {"type": "allowed_tools", "allowed_tools": inner}
    elif choice.mode == "tool":
        request["tool_choice"] = _choosing(choice.name, hosted)
    else:
        request["tool_choice"] = shared.mode_word(choice)
    if choice.parallel is not None:
        request["parallel_tool_calls"] = choice.parallel
    return request


def _choosing(name: str | None, hosted: set[str]) -> JsonObject:
    kind = "custom" if name in hosted else "function"
    return {"type": kind, kind: {"name": name}}


def _written(one: Tool, *, says_strict: bool) -> JsonObject:
    strict: JsonObject = {"strict": one.strict} if says_strict or one.strict else {}
    function = {**shared.name_and_description(one), "parameters": one.schema, **strict}
    return {"type": "function", "function": function}
