"""What a caller asks of a replay: one value from the query string down to the pipeline."""

from dataclasses import field
from typing import Literal, TypeAlias, get_args

from app.core.value import dataclass

Reasoning: TypeAlias = Literal["auto", "text", "drop"]
ToolsShown: TypeAlias = Literal["include", "omit", "flatten"]
REASONINGS: tuple[Reasoning, ...] = get_args(Reasoning)


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """For whom a history is rendered, how much of it, and how.

    provider          the target
    model             who will read it; its own reasoning goes back to it
    until             a turn id: the history as of then
    last, max_tokens  the newest turns, or what fits into a budget
    reasoning, tools  how thinking, and how calls and definitions are shown
    since             a version: only what is new
    tokens            say of each message where it comes from, and about how long it is
    ready             to be sent as it is; otherwise the caller appends what comes next
    """

    provider: str
    model: str | None = None
    until: str | None = None
    last: int | None = None
    max_tokens: int | None = None
    reasoning: Reasoning = "auto"
    tools: ToolsShown = "include"
    since: int | None = None
    ready: bool = False
    # Not in what tags are made of: without it replays have the tags that they had.
    tokens: bool = field(default=False, repr=False)

    @property
    def is_window(self) -> bool:
        """Whether only a part of the history is asked for, the newest one."""
        return self.last is not None or self.max_tokens is not None

    @property
    def is_flat(self) -> bool:
        """Whether calls and results are shown as text."""
        return self.tools == "flatten"
