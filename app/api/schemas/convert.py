"""Shapes of conversions: the codecs without storage."""

from typing import Any

from pydantic import Field

from app.api.parameters import Target
from app.api.schemas.replay import RepairOut
from app.api.schemas.shapes import In, NoteOut, Out
from app.api.schemas.tools import DroppedOut, ToolDefinitionsIn, ToolNoteOut
from app.api.schemas.turns import MessagesIn
from app.core.render.options import Reasoning
from app.core.tools.fit import Required
from app.service.convert import IdForm


class ConvertToolsIn(ToolDefinitionsIn):
    source: Target = Field(alias="from", description="Who wrote it.")
    to: Target
    required: Required | None = None
    description: Required | None = Field(
        None,
        description="Whether tools of OpenAI's shapes that have no description are left out"
        " (filter, the default) or kept with a note.",
    )


class ConvertToolsOut(Out):
    tools: Any
    tool_choice: Any
    request: dict[str, Any] = Field(description="Both as members of a request.")
    dropped: list[DroppedOut]
    notes: list[ToolNoteOut]


class ConvertMessagesIn(MessagesIn):
    """Messages, and the other members of a request: system text, tools, tool choice."""

    source: Target = Field(alias="from", description="Who wrote it.")
    to: Target
    reasoning: Reasoning | dict[str, Any] = Field(
        "auto", description="An object is the request's own setting of this name, and ignored."
    )
    ready: bool = Field(False, description="A request that can be sent as it is, as in replays.")


class ConvertMessagesOut(Out):
    request: dict[str, Any]
    repairs: list[RepairOut]
    notes: list[NoteOut] = Field(description="What was read in part, or ignored, like settings.")


class ConvertToolIdIn(In):
    id: str
    to: IdForm


class ConvertToolIdOut(Out):
    id: str
