"""Shapes of replays."""

from typing import Any

from app.api.documented import Target
from app.api.schemas.shapes import GivenOut, In, Out, left_out, said
from app.core.render.options import Reasoning, ToolsShown


class ReplayQuery(In):
    provider: Target
    model: str | None = None
    until: str | None = said("A turn id: the history as of then.", None)
    last: int | None = said("Turns, widened to whole groups.", None, ge=1, le=2**62)
    max_tokens: int | None = said("A budget, estimated.", None, ge=1, le=2**62)
    reasoning: Reasoning = "auto"
    tools: ToolsShown = "include"
    since: int | None = said("A version: only what is new since then.", None, ge=0, le=2**62)
    ready: bool = said(
        "A request that can be sent as it is: where the history ends with the assistant, what the"
        " wire needs is added and named in `repairs`. Otherwise the history is shown for the next"
        " message to be appended to it.",
        default=False,
    )
    tokens: bool = said("Say of each message its turns and its estimated tokens.", default=False)


class RepairOut(Out):
    code: str
    turn_id: str | None
    call_id: str = left_out()
    block: int = left_out("The place of the block in its turn.")
    detail: str


class PrefixOut(Out):
    messages: int
    sha256: str


class PendingOut(GivenOut):
    """A call that is shown without a result of its own."""

    call_id: str = said("The canonical id; its result may name it.")
    provider_id: str = said("The id it is shown under on this target.")
    name: str
    turn_id: str = said("The turn that makes the call.")
    placeholder: str | None = said(
        "The text that is shown as its result; null where none is shown."
    )


class SinceOut(Out):
    version: int
    prefix: PrefixOut = said("What a caller had at that version.")
    unchanged: bool = said("True: `request` holds only what is new. False: it holds all.")


class ReplayOut(Out):
    conversation_id: str
    version: int
    provider: str
    request: dict[str, Any] = said("What the provider's SDK takes as keyword arguments.")
    repairs: list[RepairOut]
    pending: list[PendingOut] = said("The calls in this window that have no result.")
    prefix: PrefixOut
    since: SinceOut = left_out("Only where `since` was asked.")
    tokens: list[int] = left_out(
        "With `tokens=true`, for each message of `request`: about how many tokens it takes."
    )
    turns: list[list[str]] = left_out(
        "With `tokens=true`, for each message of `request`: the ids of the turns it comes from."
        " None where it says what the wire demands."
    )
