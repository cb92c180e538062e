"""Shapes of replays."""

from typing import Any

from pydantic import Field

from app.api.parameters import Target
from app.api.schemas.shapes import GivenOut, In, Out, left_out
from app.core.render.options import Reasoning, ToolsShown


class ReplayQuery(In):
    provider: Target
    model: str | None = None
    until: str | None = Field(None, description="A turn id: the history as of then.")
    last: int | None = Field(None, ge=1, le=2**62, description="Turns, widened to whole groups.")
    max_tokens: int | None = Field(None, ge=1, le=2**62, description="A budget, estimated.")
    reasoning: Reasoning = "auto"
    tools: ToolsShown = "include"
    since: int | None = Field(
        None, ge=0, le=2**62, description="A version: only what is new since then."
    )
    ready: bool = Field(
        False,
        description="A request that can be sent as it is: where the history ends with the "
        "assistant, what the wire needs is added and named in `repairs`. Otherwise the "
        "history is shown for the next message to be appended to it.",
    )


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

    call_id: str = Field(description="The canonical id; its result may name it.")
    provider_id: str = Field(description="The id it is shown under on this target.")
    name: str
    turn_id: str = Field(description="The turn that makes the call.")
    placeholder: str | None = Field(
        description="The text that is shown as its result; null where none is shown."
    )


class SinceOut(Out):
    version: int
    prefix: PrefixOut = Field(description="What a caller had at that version.")
    unchanged: bool = Field(
        description="True: `request` holds only what is new. False: it holds all."
    )


class ReplayOut(Out):
    conversation_id: str
    version: int
    provider: str
    request: dict[str, Any] = Field(
        description="What the provider's SDK takes as keyword arguments."
    )
    repairs: list[RepairOut]
    pending: list[PendingOut] = Field(description="The calls in this window that have no result.")
    prefix: PrefixOut
    since: SinceOut = left_out("Only where `since` was asked.")
