"""Tool definitions and tool choice as values: what a wire's own shapes are read into.

A `Tool` is a function that the agent runs; a `HostedTool` is one that a provider runs itself, known
to its own wire only. What cannot be used is `Refused` with the reason and never lost silently.

`own` are members of a definition that only its `wire` knows (`cache_control`, `defer_loading`).
`native` is a definition as it came. `at` is the rest of a JSON pointer into `tools`, where that is
not the place in a plain list.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from .json_values import Json, JsonObject

Mode: TypeAlias = Literal["auto", "any", "none", "tool"]


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str | None
    schema: JsonObject
    strict: bool = False
    own: JsonObject = field(default_factory=dict)
    wire: str | None = None
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class HostedTool:
    name: str
    native: JsonObject
    wire: str
    at: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Refused:
    name: str | None
    reason: str
    at: str | None = field(default=None, compare=False)
    native: JsonObject | None = field(default=None, compare=False)


Definition: TypeAlias = Tool | HostedTool | Refused


@dataclass(frozen=True, slots=True)
class Choice:
    """How the model may use tools. `allowed` narrows them; `parallel` None: not said.

    `native`: the choice in the words of its `wire`, where the other members would say less.
    """

    mode: Mode = "auto"
    name: str | None = None
    allowed: tuple[str, ...] = ()
    parallel: bool | None = None
    native: JsonObject | None = None
    wire: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something a conversion had to change, or could not say."""

    code: str
    detail: str
    tool: str | None = None

    def json(self) -> JsonObject:
        shown: JsonObject = {"code": self.code}
        if self.tool is not None:
            shown["tool"] = self.tool
        return shown | {"detail": self.detail}


EMPTY_SCHEMA: JsonObject = {"type": "object", "properties": {}}


def with_own(
    definition: Tool | Refused, value: JsonObject, known: Collection[str], wire: str | None
) -> Tool | Refused:
    """The definition with its other members, which only `wire` knows; None: nobody does."""
    own: JsonObject = {key: member for key, member in value.items() if key not in known}
    if isinstance(definition, Refused) or not own:
        return definition
    return replace(definition, own=own, wire=wire)


def tool(name: Json, description: Json, schema: Json, *, strict: Json = None) -> Tool | Refused:
    """A function's definition from its members."""
    if not isinstance(name, str) or not name:
        return Refused(None, "the tool has no name")
    if description is not None and not isinstance(description, str):
        return Refused(name, "the description is not a text")
    if schema is None:
        schema = EMPTY_SCHEMA
    if not isinstance(schema, dict):
        return Refused(name, "the schema is not a JSON object")
    return Tool(name, description, schema, strict is True)
