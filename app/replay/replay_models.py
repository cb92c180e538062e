"""Shapes of replays."""

from dataclasses import Field
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import create_model

from ..edge.documented import Target
from ..edge.shapes import GivenOut, In, Out, left_out, said
from .options import OPTIONS


def _asked(one: "Field[Any]") -> Any:
    told = one.metadata
    bounds = {"ge": told["least"], "le": 2**62} if "least" in told else {}
    return one.type, said(told.get("said"), one.default, **bounds)


if TYPE_CHECKING:
    ReplayQuery: TypeAlias = In
else:
    _OPTIONS = {one.name: _asked(one) for one in OPTIONS}
    ReplayQuery = create_model("ReplayQuery", __base__=In, provider=(Target, ...), **_OPTIONS)


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
    model: str = left_out("The model that it is for: the one asked for, or the newest one.")
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
