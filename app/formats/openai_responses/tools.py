"""Tools of the Responses API: flat definitions, hosted tools beside them."""

from ...model.definitions import Choice, Definition, HostedTool, Refused, Tool, with_own
from ...model.json_values import Json, JsonObject
from ..shared import tools as shared
from ..shared.reading import names

WIRE = "openai-responses"

# Tools that the provider runs, by the types its own package knows.
_HOSTED = names(
    "web_search web_search_2025_08_26 web_search_preview web_search_preview_2025_03_11"
    " file_search code_interpreter computer computer_use computer_use_preview"
    " image_generation local_shell shell apply_patch mcp custom tool_search"
    " programmatic_tool_calling namespace"
)
_MEMBERS = ("type", "name", "description", "parameters", "strict", "function")


@shared.for_each
def read_tools(value: JsonObject) -> Definition:
    kind = value.get("type")
    if kind == "custom":
        value = _flat(value)
        if not value.get("name"):
            return Refused(None, "the tool has no name")
    if isinstance(kind, str) and kind in _HOSTED:
        return HostedTool(_hosted_name(value, kind), value, WIRE)
    if kind != "function":
        return shared.refused(value, 'the type must be "function"')
    inner = value.get("function")
    said = value if not isinstance(inner, dict) else inner | value
    return with_own(shared.function(said), said, _MEMBERS, WIRE)


def _flat(value: JsonObject) -> JsonObject:
    """A custom tool, also as chat has it: nested, and its grammar once more."""
    inner = value.get("custom")
    if not isinstance(inner, dict):
        return value
    flat: JsonObject = {"type": "custom", **inner}
    match inner.get("format"):
        case {"type": "grammar", "grammar": dict(grammar)}:
            flat["format"] = {"type": "grammar", **grammar}
    return flat


def _hosted_name(value: JsonObject, kind: str) -> str:
    """What a hosted tool is called here: there is one web search, but there may be many servers."""
    if kind == "mcp" and isinstance(label := value.get("server_label"), str):
        return f"mcp:{label}"
    name = value.get("name")
    # A choice may name another version of the tool than the one that is offered.
    versions = [one for one in ("web_search", "computer") if kind.startswith(one)]
    return name if isinstance(name, str) and name else (*versions, kind)[0]


def read_choice(choice: Json) -> Choice:
    match choice:
        case str() if choice in shared.MODES:
            return Choice(shared.MODES[choice])
        case {"type": "allowed_tools", "mode": str(word), "tools": list(listed)}:
            names = tuple(_chosen(one) for one in listed)
            return Choice("any" if word == "required" else "auto", None, names)
        case {"type": str(kind)} if kind in _HOSTED and isinstance(choice, dict):
            # It may say more than the tool's name does: which tool of a server, which version.
            return Choice("tool", _chosen(choice), native=choice, wire=WIRE)
        case _:
            return Choice("tool", _chosen(choice))


def _chosen(value: Json) -> str:
    """The name of a chosen tool: a function's, or that of one that the provider runs."""
    match value:
        case {"type": "function", "name": str(name)} if name:
            return name
        case {"type": str(kind)} if kind in _HOSTED and isinstance(value, dict):
            return _hosted_name(value, kind)
        case _:
            raise shared.bad_choice()


def write_tools(tools: shared.Offered, choice: Choice | None) -> JsonObject:
    if not tools:
        return {}
    request: JsonObject = {"tools": shared.written(tools, _written_tool)}
    if choice is None:
        return request
    word = shared.mode_word(choice)
    named = {one.name: _choosing(one) for one in tools}
    if choice.allowed:
        listed: list[Json] = [named[name] for name in choice.allowed]
        request["tool_choice"] = {"type": "allowed_tools", "mode": word, "tools": listed}
    elif choice.name is not None:
        request["tool_choice"] = choice.native or named[choice.name]
    else:
        request["tool_choice"] = word
    if choice.parallel is not None:
        request["parallel_tool_calls"] = choice.parallel
    return request


def _choosing(one: Tool | HostedTool) -> JsonObject:
    if isinstance(one, Tool):
        return {"type": "function", "name": one.name}
    told = ("type", "server_label" if one.native.get("type") == "mcp" else "name")
    return {key: one.native[key] for key in told if key in one.native}


def _written_tool(one: Tool) -> JsonObject:
    return {
        "type": "function",
        **shared.name_and_description(one),
        # Left out, the API would turn strict mode on.
        "strict": one.strict,
        "parameters": one.schema,
        **one.own,
    }
