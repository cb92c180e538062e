"""Tool definitions and tool choice: what several wires read and write in the same way."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...jsontext.fields import Fields, filled, text_in
from ...model.definitions import Choice, Definition, HostedTool, Mode, Refused, Tool, tool
from ...model.errors import RuleBroken
from ...model.json_values import Json, JsonObject

Offered: TypeAlias = Sequence[Tool | HostedTool]
# How OpenAI, and who followed, call the modes.
MODES: dict[str, Mode] = {"auto": "auto", "required": "any", "none": "none"}


def for_each(read: Callable[[JsonObject], Definition]) -> Callable[[Json], list[Definition]]:
    """What reads one definition, made to read a list; nothing and null count as the empty list."""
    strange = Refused(None, "the definition is not a JSON object")

    def read_one(value: Json) -> Definition:
        if not isinstance(value, dict):
            return strange
        found = read(value)
        return replace(found, native=value) if isinstance(found, Refused) else found

    return lambda value: [*map(read_one, Fields({"tools": value}, "").items("tools"))]


def refused(value: JsonObject, reason: str) -> Refused:
    """A definition that cannot be used, under its name if it has one."""
    return Refused(text_in(value, "name"), reason)


def written(tools: Sequence[Tool | HostedTool], write: Callable[[Tool], JsonObject]) -> list[Json]:
    """Each definition as `write` says it; that of a hosted tool as it came."""
    return [one.native if isinstance(one, HostedTool) else write(one) for one in tools]


def function(said: JsonObject) -> Tool | Refused:
    """A function in OpenAI's words. A description without any is none, and some wires refuse it."""
    about, schema = said.get("description"), said.get("parameters")
    return tool(said.get("name"), None if about == "" else about, schema, strict=said.get("strict"))


def name_and_description(one: Tool) -> JsonObject:
    """What every definition begins with."""
    return filled(name=one.name, description=one.description)


def mode_word(choice: Choice) -> str:
    """The mode in the words of `MODES`."""
    return "required" if choice.mode == "any" else choice.mode


def bad_choice() -> RuleBroken:
    return RuleBroken("`tool_choice` is none that this format knows.", pointer="/tool_choice")
