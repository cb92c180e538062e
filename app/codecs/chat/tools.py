"""Tool definitions of the chat shape: nested under `function`; choice as a word or a named tool."""

from collections.abc import Sequence

from app.codecs.shared import tools as shared
from app.core.json.text import Json, JsonObject
from app.core.tools.definitions import Choice, Definition, HostedTool, Refused, Tool, tool, with_own

_MEMBERS = ("type", "function", "name", "description", "parameters", "strict")


def read_tools(value: Json) -> list[Definition]:
    return shared.definitions(value, _definition)


def _definition(value: JsonObject) -> Definition:
    if value.get("type") == "custom":
        custom = value.get("custom")
        name = custom.get("name") if isinstance(custom, dict) else None
        if not isinstance(name, str) or not name:
            return Refused(None, "the tool has no name")
        return HostedTool(name, value, "openai")
    if value.get("type") != "function":
        return Refused(_name(value), 'the type must be "function"')
    function = value.get("function", value)
    if not isinstance(function, dict):
        return Refused(_name(value), "function is not a JSON object")
    read = tool(
        function.get("name"),
        shared.description_in(function),
        function.get("parameters"),
        strict=function.get("strict"),
    )
    return with_own(read, value | function, _MEMBERS, None)


def _name(value: JsonObject) -> str | None:
    name = value.get("name")
    return name if isinstance(name, str) else None


def read_choice(choice: Json) -> Choice:
    if choice == "any":
        # Mistral's word for `required`.
        return Choice("any")
    if isinstance(choice, str) and choice in shared.MODES:
        return Choice(shared.MODES[choice])
    if not isinstance(choice, dict):
        raise shared.bad_choice()
    allowed = choice.get("allowed_tools")
    if choice.get("type") == "allowed_tools" and isinstance(allowed, dict):
        listed = allowed.get("tools")
        names = [_chosen(one) for one in listed] if isinstance(listed, list) else []
        is_demanded = allowed.get("mode") == "required"
        return Choice("any" if is_demanded else "auto", None, tuple(names))
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


def write_tools(
    tools: Sequence[Tool | HostedTool], choice: Choice | None, *, says_strict: bool
) -> JsonObject:
    """`says_strict`: every definition says whether it is strict."""
    request: JsonObject = {}
    if tools:
        request["tools"] = [_written(one, says_strict=says_strict) for one in tools]
    if not tools or choice is None:
        return request
    hosted = {one.name for one in tools if isinstance(one, HostedTool)}
    if choice.allowed:
        listed: list[Json] = [_choosing(name, hosted) for name in choice.allowed]
        mode = "required" if choice.mode == "any" else "auto"
        inner: JsonObject = {"mode": mode, "tools": listed}
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


def _written(one: Tool | HostedTool, *, says_strict: bool) -> JsonObject:
    if isinstance(one, HostedTool):
        return one.native
    strict: JsonObject = {"strict": one.strict} if says_strict or one.strict else {}
    function = {**shared.name_and_description(one), "parameters": one.schema, **strict}
    return {"type": "function", "function": function}
