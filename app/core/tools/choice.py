"""Tool choice as a wire can say it; what it cannot say is noted."""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.core.identity.tool_names import shown_name
from app.core.tools.definitions import Choice, HostedTool, Note, Tool
from app.core.tools.rules import ToolRules


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
