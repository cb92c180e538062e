"""Shapes of replays."""

from typing import Annotated, Any

from pydantic import Field

from app.api.parameters import Target
from app.api.schemas.shapes import GivenOut, In, Out, left_out
from app.core.render.options import Reasoning, ToolsShown


class ReplayQuery(In):
    provider: Target
    model: str | None = None
    until: Annotated[str | None, Field(description="A turn id: the history as of then.")] = None
    last: Annotated[int | None, Field(ge=1, description="Turns, widened to whole groups.")] = None
    max_tokens: Annotated[int | None, Field(ge=1, description="A budget, estimated.")] = None
    reasoning: Reasoning = "auto"
    tools: ToolsShown = "include"
    since: Annotated[
        int | None, Field(ge=0, description="A version: only what is new since then.")
    ] = None
    ready: Annotated[
        bool,
        Field(
            description="A request that can be sent as it is: where the history ends with the "
            "assistant, what the wire needs is added and named in `repairs`. Otherwise the "
            "history is shown for the next message to be appended to it."
        ),
    ] = False


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

    call_id: Annotated[str, Field(description="The canonical id; its result may name it.")]
    provider_id: Annotated[str, Field(description="The id it is shown under on this target.")]
    name: str
    turn_id: Annotated[str, Field(description="The turn that makes the call.")]
    placeholder: Annotated[
        str | None,
        Field(description="The text that is shown as its result; null where none is shown."),
    ]


class SinceOut(Out):
    version: int
    prefix: Annotated[PrefixOut, Field(description="What a caller had at that version.")]
    unchanged: Annotated[
        bool, Field(description="True: `request` holds only what is new. False: it holds all.")
    ]


class ReplayOut(Out):
    conversation_id: str
    version: int
    provider: str
    request: Annotated[
        dict[str, Any], Field(description="What the provider's SDK takes as keyword arguments.")
    ]
    repairs: list[RepairOut]
    pending: Annotated[
        list[PendingOut], Field(description="The calls in this window that have no result.")
    ]
    prefix: PrefixOut
    since: SinceOut = left_out("Only where `since` was asked.")
