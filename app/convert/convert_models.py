"""Shapes of conversions: the codecs without storage."""

from typing import Any

from ..edge.documented import Target
from ..edge.shapes import In, NoteOut, Out, left_out, said
from ..replay.options import Reasoning
from ..replay.replay_models import RepairOut
from ..tools.fit import Required
from ..tools.tool_models import DroppedOut, ToolDefinitionsIn, ToolNoteOut
from ..turns.turn_models import MessagesIn
from .queries import IdForm


class ConvertToolsIn(ToolDefinitionsIn):
    source: Target = said("Who wrote it.", alias="from")
    to: Target
    required: Required | None = None
    description: Required | None = said(
        "Whether tools of OpenAI's shapes that have no description are left out"
        " (filter, the default) or kept with a note.",
        None,
    )


class ConvertToolsOut(Out):
    tools: Any
    tool_choice: Any
    request: dict[str, Any] = said("Both as members of a request.")
    dropped: list[DroppedOut]
    notes: list[ToolNoteOut]


class ConvertMessagesIn(MessagesIn):
    """Messages, and the other members of a request: system text, tools, tool choice."""

    source: Target = said("Who wrote it.", alias="from")
    to: Target
    reasoning: Reasoning | dict[str, Any] = said(
        "An object is the request's own setting of this name, and ignored.", "auto"
    )
    ready: bool = said("A request that can be sent as it is, as in replays.", default=False)


class ConvertMessagesOut(Out):
    model: str = left_out("The model that it is for, as in replays.")
    request: dict[str, Any]
    repairs: list[RepairOut]
    notes: list[NoteOut] = said("What was read in part, or ignored, like settings.")


class ConvertToolIdIn(In):
    id: str
    to: IdForm


class ConvertToolIdOut(Out):
    id: str
