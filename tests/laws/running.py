"""How many histories each law is tried on, and how a render is asked for.

All laws together see about nine hundred histories, other ones each run; twenty thousand with
`TURNKEEP_LAWS=long`, and with `few` enough to see that all is in its place.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import hypothesis
from hypothesis import strategies as st

from app.formats.registry import CODECS, TARGETS, provider_id
from app.model.conversation import Turn
from tests import judges
from tests.histories import History, Render, posted

FACTOR = {"long": 4.0, "few": 0.02}.get(os.environ.get("TURNKEEP_LAWS", ""), 0.3)
MODELS = (None, None, "any", "claude-a", "kimi-k2-thinking", "deepseek-reasoner", "gemini-3-pro")
# The neutral form has no provider, hence no judge; the AI SDK needs node, which CI has.
JUDGED = tuple(
    target for target in TARGETS if target in judges.TARGETS and not judges.available(target)
)


def tried(histories: int, *, long: int | None = None) -> hypothesis.settings:
    """Settings for one law: a third of so many `histories`, and four times as many in a long run,
    or `long`.

    No deadline: the judges load their packages on first use.
    """
    many = long if long is not None and FACTOR > 1 else max(1, int(histories * FACTOR))
    return hypothesis.settings(max_examples=many, deadline=None)


@dataclass(frozen=True)
class Window:
    """How much of the history is asked for, and for which model."""

    until: int | None = None
    last: int | None = None
    max_tokens: int | None = None
    reasoning: str = "auto"
    model: str | None = None
    tools: str = "include"
    ready: bool = False

    def of(self, history: History, target: str) -> Render:
        return history.render(
            target,
            until=self.until,
            last=self.last,
            max_tokens=self.max_tokens,
            reasoning=self.reasoning,
            model=self.model,
            tools=self.tools,
            ready=self.ready,
        )

    @property
    def judged_model(self) -> str | None:
        """Who asks to drop all reasoning sends the request with thinking disabled."""
        return None if self.reasoning == "drop" else self.model

    def stored(self, history: History) -> list[Turn]:
        """The turns up to `until`, notes too."""
        return [t for t in history.remembered.turns if self.until is None or t.seq <= self.until]

    def turns(self, history: History) -> list[Turn]:
        """The turns up to `until` that a provider is shown, before `last` or a budget cuts them."""
        return spoken(self.stored(history))

    def must_show(self, history: History) -> list[Turn]:
        """The turns of which nothing may be missing: all, or those the window cannot cut."""
        turns = self.turns(history)
        if self.max_tokens is not None:
            return []
        return turns[-self.last :] if self.last is not None else turns


def windows() -> st.SearchStrategy[Window]:
    small = st.none() | st.integers(1, 6)
    return st.builds(
        Window,
        until=st.none() | st.integers(0, 12),
        last=small,
        max_tokens=st.none() | st.none() | st.integers(1, 200),
        reasoning=st.sampled_from(("auto", "auto", "text", "drop")),
        model=st.sampled_from(MODELS),
        tools=st.sampled_from(("include", "include", "omit", "flatten")),
        ready=st.sampled_from((False, False, True)),
    )


def messages(render: Render, target: str) -> list[Any]:
    found: list[Any] = render.request[CODECS[target].messages]
    return found


def all_ids(history: History) -> dict[str, dict[str, str]]:
    """Canonical id to the id under which each target shows the call."""
    calls = history.remembered.ledger.calls.values()
    return {
        call.id: {target: provider_id(target, call.id, call.provider_ids) for target in TARGETS}
        for call in calls
    }


def spoken(turns: Sequence[Turn]) -> list[Turn]:
    """The turns without notes, which no provider is shown."""
    return [turn for turn in turns if turn.speaker != "note"]


def with_turns(history: History, turns: list[Turn]) -> History:
    """The same history with some turns changed, as if their rows had been damaged."""
    return replace(history, remembered=replace(history.remembered, turns=turns))


def told(*bodies: str) -> History:
    return posted(*bodies)
