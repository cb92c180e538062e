"""Shapes of the audit: calls, their results, and where an id is known."""

from typing import Annotated, Any, Literal

from pydantic import Field

from ..edge.shapes import GivenOut, ListOut, Order, Out, PageQuery, left_out, said
from ..ledger.records import CallState, MatchedBy
from ..model.conversation import Speaker, Status, TurnStatus
from ..turns.block_models import PartOut
from .excerpts import SHOWN


class ToolCallPageQuery(PageQuery):
    state: CallState | None = said("Only calls in this state.", None)
    order: Order = said("`desc`: the newest first.", "desc")
    format: Literal["json", "csv"] = said(
        "`csv`: all calls as a table, whatever the `limit`.", "json"
    )


class LookupQuery(PageQuery):
    id: str = said(
        "Any id of a call, a result, a response or a turn.", min_length=1, examples=["call_abc123"]
    )


class ResultOut(Out):
    turn_id: str
    seq: int
    raw_id: str | None
    matched_by: MatchedBy
    status: Status


class _SaidOut(Out):
    """What a result says: `result` or `content`, or the beginning of its `text` where it is long.

    All is left out where the turn can no longer be read.
    """

    result: Any = left_out("The value, where it is one.")
    content: list[PartOut] = left_out("The blocks, where it has some.")
    text: str = left_out(f"Where it is cut: the first {SHOWN:,} characters.")
    error: str = left_out("What went wrong, where that is said.")
    size: int = left_out("Characters of the text, or of the JSON of the whole.")
    cut: bool = left_out("Whether less than the whole is shown.")
    created_at: str = left_out("When it was stored.")


class ShownResultOut(_SaidOut, ResultOut):
    pass


class ToolCallOut(GivenOut):
    id: str
    raw_id: str | None
    provider: str
    model: str | None
    name: str
    turn_id: str
    seq: int
    call_index: int
    state: CallState = said("`superseded`: the newest version of its turn does not make the call.")
    hash_input: str | None = said(
        "The text whose sha256 gives the id, in base64url, the first 24 characters behind"
        " `hist_tool_`. Null for a canonical id that came with its call."
    )
    arguments_size: int = left_out("Where they are cut: the characters of all arguments.")
    arguments_cut: Literal[True] = left_out(
        f"Where `arguments` are only the first {SHOWN:,} characters."
    )
    created_at: str = left_out("When the call was stored.")
    ids: dict[str, str] = said("The id that each target shows.")
    result: ShownResultOut | None = said("The one that replays show: the last real one.")
    repeats: list[ResultOut] = said("Its other results, oldest first.")


class ToolCallListOut(ListOut):
    data: list[ToolCallOut]


class FoundCallOut(ToolCallOut):
    conversation_id: str
    kind: Literal["raw", "canonical", "provider_id"] = said(
        "As which of its ids the call is known by this one."
    )


class FoundResultOut(ShownResultOut):
    """A result whose call is not known."""

    conversation_id: str
    kind: Literal["orphan_result"]
    name: str | None = said("The tool, where the result names it.")


class FoundTurnOut(Out):
    """A turn, found by its own id or by that of the response it is."""

    conversation_id: str
    kind: Literal["turn", "response"]
    turn_id: str
    seq: int
    speaker: Speaker
    provider: str
    model: str | None
    status: TurnStatus
    created_at: str


class FoundListOut(ListOut):
    data: list[Annotated[FoundCallOut | FoundResultOut | FoundTurnOut, Field(discriminator="kind")]]
    damaged: list[str] = left_out("Conversations that know the id but cannot be read; by id.")
