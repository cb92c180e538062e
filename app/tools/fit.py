"""Tool definitions and choice as a wire takes them; what that took, or cannot be said, is noted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ..formats.shared.tool_names import shown_name
from ..formats.shared.tool_rules import ToolRules
from ..formats.shared.walk import COMBINATIONS, inner_schemas, mapped, open_references
from ..model.definitions import Choice, Definition, HostedTool, Note, Refused, Tool
from ..model.json_values import JsonObject
from . import rewrite as schemas
from .combine import with_plain_top, with_top_resolved

Required: TypeAlias = Literal["keep", "filter"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Definitions and choice as a wire takes them, and what that took."""

    tools: tuple[Tool | HostedTool, ...]
    choice: Choice | None
    dropped: tuple[tuple[int, Refused], ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Fitting:
    """Fits the tools of one request to a target.

    `source` are the rules of the wire that they were written for, `rules` those of the target, and
    `names` what it takes as a name.
    """

    source: ToolRules
    target: str
    rules: ToolRules
    names: re.Pattern[str]
    required: Required | None = None
    notes: list[Note] = field(default_factory=list)

    def prepared(self, definitions: Sequence[Definition], choice: Choice | None) -> Prepared:
        """Names mapped, schemas rewritten, what is unusable named."""
        dropped: list[tuple[int, Refused]] = []
        tools: list[Tool | HostedTool] = []
        seen: set[str] = set()
        for index, definition in enumerate(definitions):
            fit = self._fit(definition)
            if not isinstance(fit, Refused) and fit.name in seen:
                fit = Refused(fit.name, "another tool has this name already")
            if not isinstance(fit, Refused) and len(tools) == self.rules.most:
                fit = Refused(fit.name, f"the target takes no more than {self.rules.most} tools")
            if isinstance(fit, Refused):
                dropped.append((index, fit))
            else:
                seen.add(fit.name)
                tools.append(fit)
        chosen = self._choice(choice, tools) if choice else None
        return Prepared(tuple(tools), chosen, tuple(dropped), tuple(self.notes))

    def _note(self, code: str, detail: str, tool: str | None = None) -> None:
        self.notes.append(Note(code, detail, tool))

    def _fit(self, definition: Definition) -> Definition:
        rules = self.rules
        if isinstance(definition, Refused):
            return definition
        if isinstance(definition, HostedTool):
            if definition.wire == self.target or rules.hosted:
                return definition
            return Refused(definition.name, f"only {definition.wire} knows this kind of tool")
        name = shown_name(definition.name, self.names)
        if name != definition.name:
            self._note("NAME_SANITIZED", f"shown as {name}", definition.name)
        fit = self._with_schema(definition)
        if (key := self._refused_key(fit.schema)) is not None:
            # Under another name it would no longer be the tool's input.
            return Refused(definition.name, f"the target refuses the property name {key[:80]!r}")
        if not rules.hosted and (open_ones := open_references(fit.schema)):
            why = "references lead out of the schema; providers refuse what they miss"
            self._note("REFERENCE_OPEN", f"{len(open_ones)} {why}", definition.name)
        if fit.own and fit.wire != self.target and not rules.hosted:
            why = f"the target does not know {', '.join(sorted(fit.own))}"
            self._note("MEMBERS_DROPPED", why, definition.name)
            fit = replace(fit, own={})
        return replace(fit, name=name)

    def _refused_key(self, schema: JsonObject) -> str | None:
        properties, allowed = schema.get("properties"), self.rules.keys
        if allowed is None or not isinstance(properties, dict):
            return None
        return next((key for key in properties if not allowed.fullmatch(key)), None)

    def _with_schema(self, tool: Tool) -> Tool:
        schema, rules, strict = tool.schema, self.rules, tool.strict
        loose = rules.exacting and self.source.lenient
        if self.required == "filter" or (self.required is None and loose):
            filtered = schemas.with_filtered_required(schema)
            if filtered != schema:
                why = "optional properties are no longer required"
                self._note("REQUIRED_FILTERED", why, tool.name)
            schema = filtered
        if loose:
            plain = schemas.without_formats(schema, schemas.OPENAI_FORMATS)
            if plain != schema:
                why = "formats that the target does not know are left out"
                self._note("FORMAT_REMOVED", why, tool.name)
            schema = plain
        foreign = rules.exacting and not self.source.exacting
        if foreign or not rules.exacting:
            schema = self._shaped(schema, tool.name)
        if strict and not rules.strict:
            self._note("STRICT_DROPPED", "the target has no strict tools", tool.name)
            strict = False
        must_be_closed = strict and (foreign or rules.strict_closed)
        if must_be_closed and not all(map(schemas.is_strict, inner_schemas(schema))):
            self._note("STRICT_DROPPED", "the schema breaks the rules of strict tools", tool.name)
            strict = False
        return replace(tool, schema=schema, strict=strict)

    def _shaped(self, schema: JsonObject, name: str) -> JsonObject:
        """The schema in the form that the wire takes; only what accepts more than before is
        noted."""
        rules = self.rules
        if rules.object_type:
            schema = with_top_resolved(schema)
            # Every tool's input is one anyway.
            schema = schema if schema.get("type") == "object" else schema | {"type": "object"}
        if any(word in schema for word in rules.refused_top):
            plain = schema
            if any(word in schema for word in COMBINATIONS if word in rules.refused_top):
                plain = with_plain_top(schema)
            plain = schemas.without_top(plain, rules.refused_top)
            if plain != schema:
                why = "combinations at the top are joined into one object; more inputs are accepted"
                self._note("SCHEMA_LOOSENED", why, name)
            schema = plain
        if rules.lone_refs:
            schema = mapped(schema, schemas.lone_reference)
        if rules.typed_branches:
            schema = mapped(schema, schemas.typed_branches)
        return schema

    def _choice(self, choice: Choice, tools: Sequence[Tool | HostedTool]) -> Choice | None:
        """The choice among the tools that are offered; none when there is nothing to choose."""
        rules = self.rules
        known = {tool.name for tool in tools if rules.chooses_hosted or isinstance(tool, Tool)}
        if not known and not rules.hosted:
            if choice.mode in ("any", "tool"):
                why = "no tool is left to choose from; the choice is left out"
                self._note("CHOICE_CHANGED", why, choice.name)
            return None
        choice = self._narrowed(self._named(choice, known), known)
        if choice.native is not None and choice.wire != self.target and not rules.hosted:
            why = f"only {choice.wire} knows all that the choice says; the nearest one is said"
            self._note("CHOICE_CHANGED", why)
            choice = replace(choice, native=None)
        if choice.mode == "none" and not rules.none:
            why = "the target cannot forbid tools; it is left to the model"
            self._note("CHOICE_CHANGED", why)
            choice = replace(choice, mode="auto")
        if choice.parallel is not None and not rules.parallel:
            self._note("PARALLEL_UNSAID", "the target cannot say whether calls may be parallel")
            choice = replace(choice, parallel=None)
        return choice

    def _named(self, choice: Choice, known: set[str]) -> Choice:
        """A chosen tool under the name that it has on the wire."""
        if choice.name is None:
            return choice
        name = self._shown(choice.name, known)
        if name in known:
            return replace(choice, name=name)
        why = "the chosen tool is not offered; the model chooses among the others"
        self._note("CHOICE_CHANGED", why, choice.name)
        return replace(choice, mode="auto", name=None, native=None)

    def _narrowed(self, choice: Choice, known: set[str]) -> Choice:
        """A list of allowed tools, without those that are not offered."""
        if not choice.allowed or choice.mode == "none":
            return replace(choice, allowed=())
        allowed = [self._shown(name, known) for name in choice.allowed]
        kept = tuple(name for name in allowed if name in known)
        if len(kept) < len(allowed):
            why = "allowed tools that are not offered are left out"
            if not kept:
                why = "none of the allowed tools is offered; the model chooses among the others"
            self._note("CHOICE_CHANGED", why)
            choice = replace(choice, native=None)
        if kept and not self.rules.allowed:
            why = "the target cannot narrow the list of tools; all of them are offered"
            self._note("CHOICE_CHANGED", why)
            kept = ()
        return replace(choice, allowed=kept)

    def _shown(self, name: str, known: set[str]) -> str:
        # Tools that the provider runs itself keep their names.
        return name if name in known else shown_name(name, self.names)
