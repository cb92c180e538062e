"""What a caller asks of a replay: one value from the query string down to the pipeline.

All that is said of an option stands with its field: the query of the HTTP interface and the flags
of `turnkeep replay` and `turnkeep diff` are made from it.
"""

from dataclasses import field, fields
from typing import Literal, TypeAlias, TypeVar, get_args

from ..model.value import dataclass

T = TypeVar("T")
Reasoning: TypeAlias = Literal["auto", "text", "drop"]
ToolsShown: TypeAlias = Literal["include", "omit", "flatten"]
REASONINGS: tuple[Reasoning, ...] = get_args(Reasoning)


def _option(default: T, *, later: bool = False, **told: str | int) -> T:
    """`said`: what the HTTP interface says of it; `flag`, `metavar`: what commands say, where they
    have a flag for it; `least`: its lowest number. `later`: see `tagged`."""
    return field(default=default, repr=not later, metadata=told)


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """For whom a history is rendered, how much of it, and how. A new option is a `later` one."""

    provider: str
    # Its own reasoning goes back to it.
    model: str | None = _option(
        None,
        said="The model that will read it. Left out: the newest one that the target's own provider"
        " spoke with, where its reasoning is bound to a model.",
        flag="the model that is to read it; left out: the newest one of the provider's own turns",
        metavar="NAME",
    )
    until: str | None = _option(
        None,
        said="A turn id: the history as of then.",
        flag="the history as of this turn, by its id or number",
        metavar="TURN",
    )
    last: int | None = _option(
        None,
        said="Turns, widened to whole groups.",
        flag="the newest N turns",
        metavar="N",
        least=1,
    )
    max_tokens: int | None = _option(
        None,
        said="A budget, estimated.",
        flag="what fits into so many tokens, estimated",
        metavar="N",
        least=1,
    )
    reasoning: Reasoning = _option("auto", flag="how thinking is shown")
    tools: ToolsShown = _option("include", flag="how calls and tools are shown")
    since: int | None = _option(
        None,
        said="A version: only what is new since then.",
        flag="only what is new since this version",
        metavar="VERSION",
        least=0,
    )
    ready: bool = _option(
        False,
        said="A request that can be sent as it is: where the history ends with the assistant, what"
        " the wire needs is added and named in `repairs`. Otherwise the history is shown for the"
        " next message to be appended to it.",
        flag="add what the wire needs to be sent as it is",
    )
    tokens: bool = _option(
        False, later=True, said="Say of each message its turns and its estimated tokens."
    )

    @property
    def is_window(self) -> bool:
        """Whether only a part of the history is asked for, the newest one."""
        return self.last is not None or self.max_tokens is not None

    @property
    def is_flat(self) -> bool:
        """Whether calls and results are shown as text."""
        return self.tools == "flatten"

    @property
    def tagged(self) -> str:
        """What tags are made of. Who does not ask for a later option has the tags of before."""
        tagged = repr(self)
        for one in fields(self):
            if not one.repr and (value := getattr(self, one.name)) != one.default:
                tagged += f" with {one.name}" if value is True else f" with {one.name} {value!r}"
        return tagged


# All but the provider, which is no choice.
OPTIONS = fields(ReplayOptions)[1:]
