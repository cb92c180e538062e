"""Tool definitions as posted: whichever names the wire has for them, read, bounded and checked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..formats.registry import CODECS
from ..formats.shared.members import member
from ..formats.shared.tool_rules import ToolRules
from ..formats.shared.walk import size
from ..model import telling
from ..model.definitions import Choice, Definition, Refused, Tool
from ..model.errors import LimitExceeded, RuleBroken
from ..model.json_values import Json, JsonObject
from ..model.limits import Limits
from .rewrite import in_present_draft
from .schemacheck import fault

_OURS = ToolRules().members


@dataclass(frozen=True, slots=True)
class ToolSet:
    """Definitions and choice in one value, with the wire they came from.

    `place` tells where in the posted body the definition with an index stands.
    """

    source: str
    definitions: tuple[Definition, ...]
    choice: Choice | None = None
    places: Mapping[str, str] = field(default_factory=dict)

    def place(self, index: int) -> str:
        at = self.definitions[index].at
        return _moved(f"/tools/{index if at is None else at}", self.places)


def read_tool_set(source: str, members: JsonObject, limits: Limits) -> ToolSet:
    """The definitions of a posted body, under our names or those of `source`."""
    codec = CODECS[source]
    ours, places = under_our_names(members, source)
    try:
        read = codec.read_tools(ours.get("tools"))
        if len(read) > limits.tools:
            raise LimitExceeded("tools", limits.tools, len(read), pointer="/tools")
        parallel = member(ours, "parallel_tool_calls", bool)
        choice = codec.choice(ours.get("tool_choice"), parallel)
    except RuleBroken as broken:
        # Complaints lead to where the caller wrote it, not to our name for it.
        if broken.pointer is not None:
            broken.point_at(_moved(broken.pointer, places))
        raise
    tools = ToolSet(source, tuple(read), choice, places)
    _check_sizes(tools, limits)
    return replace(tools, definitions=tuple(map(_checked, read)))


def demand_tools(members: JsonObject, source: str) -> None:
    """Whoever forgot the tools does not mean that there are none."""
    if "tools" not in members and CODECS[source].tools.config not in members:
        told = "`tools` is required and must be the definitions; an empty list takes them away."
        raise RuleBroken(told, pointer="/tools")


def under_our_names(members: JsonObject, source: str) -> tuple[JsonObject, dict[str, str]]:
    """`tools`, `tool_choice`, `parallel_tool_calls` of a body, and where in it they stand."""
    rules = CODECS[source].tools
    found: JsonObject = {}
    places: dict[str, str] = {}
    for place, key, value in _named(members, rules):
        name = key if key in _OURS else "tool_choice"
        if name in found:
            told = f"This is said twice: it must stand here or at {places[name]}, not at both."
            raise RuleBroken(told, pointer=place)
        found[name], places[name] = value, place
    return found, places


def _named(members: JsonObject, rules: ToolRules) -> Iterator[tuple[str, str, Json]]:
    """Pointer, name and value of what is said of tools; a whole configuration is taken apart."""
    config = rules.config
    for key in dict.fromkeys((*_OURS, *rules.members)):
        value = members.get(key)
        if value is None:
            continue
        if isinstance(value, dict) and config and key in (config, "tools"):
            for inner, said in value.items():
                if inner not in rules.inside:
                    told = telling.unknown(inner, rules.inside)
                    raise RuleBroken(told, pointer=telling.pointer(key, inner))
                if said is not None:
                    yield f"/{key}/{inner}", inner, said
        elif key == config:
            raise RuleBroken(telling.wrong_type(key, "an object", value), pointer=f"/{key}")
        else:
            yield f"/{key}", key, value


def _moved(pointer: str, places: Mapping[str, str]) -> str:
    name, slash, rest = pointer.removeprefix("/").partition("/")
    return places.get(name, f"/{name}") + slash + rest


def _check_sizes(tools: ToolSet, limits: Limits) -> None:
    """Schemas are judged in a time that grows with their size; all of them together are bounded."""
    total = 0
    for index, definition in enumerate(tools.definitions):
        total += size(definition.schema) if isinstance(definition, Tool) else 0
        if total > limits.schema_nodes:
            raise LimitExceeded(
                "schema_nodes", limits.schema_nodes, total, pointer=tools.place(index)
            )


def _checked(definition: Definition) -> Definition:
    """A tool whose schema is real JSON Schema and describes an object."""
    if not isinstance(definition, Tool):
        return definition
    kind = definition.schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return Refused(definition.name, "the schema does not describe an object", definition.at)
    schema = in_present_draft(definition.schema)
    found = fault(schema)
    if found:
        return Refused(definition.name, f"the schema {found}", definition.at)
    return definition if schema == definition.schema else replace(definition, schema=schema)
