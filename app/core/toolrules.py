"""What a wire demands of tool definitions, and the rewriting that satisfies it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.core import schemas
from app.core.combinations import COMBINATIONS, with_plain_top, with_top_resolved
from app.core.jsontext import JsonObject
from app.core.names import shown_name
from app.core.schemas import note_if_changed
from app.core.tools import Choice, HostedTool, Note, Refused, Tool

Required: TypeAlias = Literal["keep", "filter"]
_OPENAI = ("openai", "openai-responses")


@dataclass(frozen=True, slots=True)
class ToolRules:
    """The demands of one wire.

    members       the members of a request that offer tools
    config        the one among them that holds definitions and choice together
    openai        OpenAI itself: Anthropic's definitions get `required` filtered and unknown formats
                  taken out, and `strict` of others stays only where OpenAI's rules for it hold.
                  Definitions that were written for OpenAI are not touched
    object_type   the schema says `type: object` at its top
    refused_top   words that may not stand at the top of a schema
    lone_refs     nothing may stand beside `$ref`
    typed_branches   `type` may not stand beside anyOf and oneOf, but inside them
    most          how many tools a request may offer
    none, parallel, allowed   whether "no tools", parallel calls on or off, and a narrowed list of
                              tools can be said
    strict        a definition can say that it is strict
    hosted        tools that other providers run themselves are kept, for them
    """

    members: tuple[str, ...] = ("tools", "tool_choice", "parallel_tool_calls")
    config: str | None = None
    openai: bool = False
    object_type: bool = False
    refused_top: tuple[str, ...] = ()
    lone_refs: bool = False
    typed_branches: bool = False
    most: int | None = None
    none: bool = True
    parallel: bool = True
    allowed: bool = False
    strict: bool = False
    hosted: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """Definitions and choice as a wire takes them, and what that took."""

    tools: tuple[Tool | HostedTool, ...]
    choice: Choice | None
    dropped: tuple[tuple[int, Refused], ...]
    notes: tuple[Note, ...]


def prepared(
    definitions: Sequence[Tool | HostedTool | Refused],
    choice: Choice | None,
    source: str,
    target: str,
    rules: ToolRules,
    names: re.Pattern[str],
    required: Required | None = None,
) -> Prepared:
    """Definitions for a wire: names mapped, schemas rewritten, what is unusable named."""
    notes: list[Note] = []
    dropped: list[tuple[int, Refused]] = []
    tools: list[Tool | HostedTool] = []
    seen: set[str] = set()
    for index, definition in enumerate(definitions):
        fit = _fit(definition, source, target, rules, names, required, notes)
        if not isinstance(fit, Refused) and fit.name in seen:
            fit = Refused(fit.name, "another tool has this name already")
        if not isinstance(fit, Refused) and len(tools) == rules.most:
            fit = Refused(fit.name, f"the target takes no more than {rules.most} tools")
        if isinstance(fit, Refused):
            dropped.append((index, fit))
        else:
            seen.add(fit.name)
            tools.append(fit)
    return Prepared(
        tuple(tools), _choice(choice, tools, rules, names, notes), tuple(dropped), tuple(notes)
    )


def _fit(
    definition: Tool | HostedTool | Refused,
    source: str,
    target: str,
    rules: ToolRules,
    names: re.Pattern[str],
    required: Required | None,
    notes: list[Note],
) -> Tool | HostedTool | Refused:
    if isinstance(definition, Refused):
        return definition
    if isinstance(definition, HostedTool):
        if definition.wire == target or rules.hosted:
            return definition
        return Refused(definition.name, f"only {definition.wire} runs this tool itself")
    name = shown_name(definition.name, names)
    if name != definition.name:
        notes.append(Note("NAME_SANITIZED", f"shown as {name}", definition.name))
    fit = _with_schema(definition, source, rules, required, notes)
    return replace(fit, name=name)


def _with_schema(
    tool: Tool, source: str, rules: ToolRules, required: Required | None, notes: list[Note]
) -> Tool:
    schema, name = tool.schema, tool.name
    from_anthropic = rules.openai and source == "anthropic"
    if required == "filter" or (required is None and from_anthropic):
        filtered = schemas.with_filtered_required(schema)
        why = "optional properties are no longer required"
        schema = note_if_changed(schema, filtered, "REQUIRED_FILTERED", why, name, notes)
    if from_anthropic:
        plain = schemas.without_formats(schema, schemas.OPENAI_FORMATS)
        why = "formats that the target does not know are left out"
        schema = note_if_changed(schema, plain, "FORMAT_REMOVED", why, name, notes)
    foreign = rules.openai and source not in _OPENAI
    if foreign or not rules.openai:
        schema = _shaped(schema, rules, name, notes)
    strict = tool.strict
    if strict and not rules.strict:
        notes.append(Note("STRICT_DROPPED", "the target has no strict tools", name))
        strict = False
    if strict and foreign and not schemas.is_strict(schema):
        notes.append(Note("STRICT_DROPPED", "the schema breaks the rules of strict tools", name))
        strict = False
    return replace(tool, schema=schema, strict=strict)


def _shaped(schema: JsonObject, rules: ToolRules, name: str, notes: list[Note]) -> JsonObject:
    """The schema in the form that the wire takes; only what accepts more than before is noted."""
    if rules.object_type:
        schema = schemas.as_object(with_top_resolved(schema))
    if any(word in schema for word in rules.refused_top):
        plain = schema
        if any(word in schema for word in COMBINATIONS if word in rules.refused_top):
            plain = with_plain_top(schema)
        plain = schemas.without_top(plain, rules.refused_top)
        why = "combinations at the top are joined into one object; more inputs are accepted"
        schema = note_if_changed(schema, plain, "SCHEMA_LOOSENED", why, name, notes)
    if rules.lone_refs:
        schema = schemas.with_lone_references(schema)
    if rules.typed_branches:
        schema = schemas.with_typed_branches(schema)
    return schema


def _choice(
    choice: Choice | None,
    tools: Iterable[Tool | HostedTool],
    rules: ToolRules,
    names: re.Pattern[str],
    notes: list[Note],
) -> Choice | None:
    if choice is None:
        return None
    known = {tool.name for tool in tools}
    if choice.name is not None:
        choice = replace(choice, name=shown_name(choice.name, names))
        if choice.name not in known:
            why = "the chosen tool is not defined; the model chooses among the others"
            notes.append(Note("CHOICE_CHANGED", why, choice.name))
            choice = replace(choice, mode="auto", name=None)
    allowed = tuple(shown_name(name, names) for name in choice.allowed)
    if choice.mode == "none":
        allowed = ()
    kept = tuple(name for name in allowed if name in known)
    if kept != allowed:
        notes.append(Note("CHOICE_CHANGED", "allowed tools that are not defined are left out"))
    choice = replace(choice, allowed=kept)
    if choice.allowed and not rules.allowed:
        why = "the target cannot narrow the list of tools; all of them are offered"
        notes.append(Note("CHOICE_CHANGED", why))
        choice = replace(choice, allowed=())
    if choice.mode == "none" and not rules.none:
        why = "the target cannot forbid tools; it is left to the model"
        notes.append(Note("CHOICE_CHANGED", why))
        choice = replace(choice, mode="auto")
    if choice.parallel is not None and not rules.parallel:
        notes.append(Note("PARALLEL_UNSAID", "the target cannot say whether calls may be parallel"))
        choice = replace(choice, parallel=None)
    return choice
