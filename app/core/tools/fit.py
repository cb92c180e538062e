"""Tool definitions and choice as a wire takes them; what that took, or cannot be said, is noted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.core.identity.tool_names import shown_name
from app.core.json.text import JsonObject
from app.core.tools.definitions import Choice, HostedTool, Note, Refused, Tool
from app.core.tools.rules import ToolRules
from app.core.tools.schema import rewrite as schemas
from app.core.tools.schema.combine import with_plain_top, with_top_resolved
from app.core.tools.schema.rewrite import note_if_changed
from app.core.tools.schema.walk import COMBINATIONS, inner_schemas, mapped, open_references

Required: TypeAlias = Literal["keep", "filter"]


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
    source: ToolRules,
    target: str,
    rules: ToolRules,
    names: re.Pattern[str],
    required: Required | None = None,
) -> Prepared:
    """Definitions for a wire: names mapped, schemas rewritten, what is unusable named.

    `source` are the rules of the wire that they were written for, `rules` those of the target.
    """
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
        tuple(tools),
        fitted_choice(choice, tools, target, rules, names, notes),
        tuple(dropped),
        tuple(notes),
    )


def _fit(
    definition: Tool | HostedTool | Refused,
    source: ToolRules,
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
        return Refused(definition.name, f"only {definition.wire} knows this kind of tool")
    name = shown_name(definition.name, names)
    if name != definition.name:
        notes.append(Note("NAME_SANITIZED", f"shown as {name}", definition.name))
    fit = _with_schema(definition, source, rules, required, notes)
    if (key := _refused_key(fit.schema, rules)) is not None:
        # Under another name it would no longer be the tool's input.
        return Refused(definition.name, f"the target refuses the property name {key[:80]!r}")
    if not rules.hosted and (leading := open_references(fit.schema)):
        why = f"{len(leading)} references lead out of the schema; providers refuse what they miss"
        notes.append(Note("REFERENCE_OPEN", why, definition.name))
    if fit.own and fit.wire != target and not rules.hosted:
        why = f"the target does not know {', '.join(sorted(fit.own))}"
        notes.append(Note("MEMBERS_DROPPED", why, definition.name))
        fit = replace(fit, own={})
    return replace(fit, name=name)


def _refused_key(schema: JsonObject, rules: ToolRules) -> str | None:
    properties = schema.get("properties")
    if rules.keys is None or not isinstance(properties, dict):
        return None
    return next((key for key in properties if not rules.keys.fullmatch(key)), None)


def _with_schema(
    tool: Tool, source: ToolRules, rules: ToolRules, required: Required | None, notes: list[Note]
) -> Tool:
    schema, name = tool.schema, tool.name
    loose = rules.exacting and source.lenient
    if required == "filter" or (required is None and loose):
        filtered = schemas.with_filtered_required(schema)
        why = "optional properties are no longer required"
        schema = note_if_changed(schema, filtered, "REQUIRED_FILTERED", why, name, notes)
    if loose:
        plain = schemas.without_formats(schema, schemas.OPENAI_FORMATS)
        why = "formats that the target does not know are left out"
        schema = note_if_changed(schema, plain, "FORMAT_REMOVED", why, name, notes)
    foreign = rules.exacting and not source.exacting
    if foreign or not rules.exacting:
        schema = _shaped(schema, rules, name, notes)
    strict = tool.strict
    if strict and not rules.strict:
        notes.append(Note("STRICT_DROPPED", "the target has no strict tools", name))
        strict = False
    if (
        strict
        and (foreign or rules.strict_closed)
        and not all(map(schemas.is_strict, inner_schemas(schema)))
    ):
        notes.append(Note("STRICT_DROPPED", "the schema breaks the rules of strict tools", name))
        strict = False
    return replace(tool, schema=schema, strict=strict)


def _shaped(schema: JsonObject, rules: ToolRules, name: str, notes: list[Note]) -> JsonObject:
    """The schema in the form that the wire takes; only what accepts more than before is noted."""
    if rules.object_type:
        schema = with_top_resolved(schema)
        # Every tool's input is one anyway.
        schema = schema if schema.get("type") == "object" else schema | {"type": "object"}
    if any(word in schema for word in rules.refused_top):
        plain = schema
        if any(word in schema for word in COMBINATIONS if word in rules.refused_top):
            plain = with_plain_top(schema)
        plain = schemas.without_top(plain, rules.refused_top)
        why = "combinations at the top are joined into one object; more inputs are accepted"
        schema = note_if_changed(schema, plain, "SCHEMA_LOOSENED", why, name, notes)
    if rules.lone_refs:
        schema = mapped(schema, schemas.lone_reference)
    if rules.typed_branches:
        schema = mapped(schema, schemas.typed_branches)
    return schema


def fitted_choice(
    choice: Choice | None,
    tools: Sequence[Tool | HostedTool],
    target: str,
    rules: ToolRules,
    names: re.Pattern[str],
    notes: list[Note],
) -> Choice | None:
    """The choice among the tools that are offered; none when there is nothing to choose."""
    known = {tool.name for tool in tools if rules.chooses_hosted or isinstance(tool, Tool)}
    if choice is None:
        return None
    if not known and not rules.hosted:
        if choice.mode in ("any", "tool"):
            why = "no tool is left to choose from; the choice is left out"
            notes.append(Note("CHOICE_CHANGED", why, choice.name))
        return None
    choice = _narrowed(_named(choice, known, names, notes), known, rules, names, notes)
    if choice.native is not None and choice.wire != target and not rules.hosted:
        why = f"only {choice.wire} knows all that the choice says; the nearest one is said"
        notes.append(Note("CHOICE_CHANGED", why))
        choice = replace(choice, native=None)
    if choice.mode == "none" and not rules.none:
        why = "the target cannot forbid tools; it is left to the model"
        notes.append(Note("CHOICE_CHANGED", why))
        choice = replace(choice, mode="auto")
    if choice.parallel is not None and not rules.parallel:
        notes.append(Note("PARALLEL_UNSAID", "the target cannot say whether calls may be parallel"))
        choice = replace(choice, parallel=None)
    return choice


def _named(choice: Choice, known: set[str], names: re.Pattern[str], notes: list[Note]) -> Choice:
    """A chosen tool under the name that it has on the wire."""
    if choice.name is None:
        return choice
    name = _shown(choice.name, known, names)
    if name in known:
        return replace(choice, name=name)
    why = "the chosen tool is not offered; the model chooses among the others"
    notes.append(Note("CHOICE_CHANGED", why, choice.name))
    return replace(choice, mode="auto", name=None, native=None)


def _narrowed(
    choice: Choice, known: set[str], rules: ToolRules, names: re.Pattern[str], notes: list[Note]
) -> Choice:
    """A list of allowed tools, without those that are not offered."""
    if not choice.allowed or choice.mode == "none":
        return replace(choice, allowed=())
    allowed = [_shown(name, known, names) for name in choice.allowed]
    kept = tuple(name for name in allowed if name in known)
    if len(kept) < len(allowed):
        why = "allowed tools that are not offered are left out"
        if not kept:
            why = "none of the allowed tools is offered; the model chooses among the others"
        notes.append(Note("CHOICE_CHANGED", why))
        choice = replace(choice, native=None)
    if kept and not rules.allowed:
        why = "the target cannot narrow the list of tools; all of them are offered"
        notes.append(Note("CHOICE_CHANGED", why))
        kept = ()
    return replace(choice, allowed=kept)


def _shown(name: str, known: set[str], names: re.Pattern[str]) -> str:
    # Tools that the provider runs itself keep their names.
    return name if name in known else shown_name(name, names)
