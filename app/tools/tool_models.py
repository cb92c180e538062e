"""Shapes of tool definitions and of what is said of them."""

from typing import Annotated, Any

from pydantic import ConfigDict

from ..edge.documented import Format, Target
from ..edge.shapes import In, Out, left_out, said
from .fit import Required

Definitions = Annotated[
    list[dict[str, Any]] | dict[str, Any] | None,
    said("Tool definitions in the shape of the source; by name in the AI SDK's."),
]


class ToolMembersIn(In):
    """What is said of tools, under the names of the wires' own requests."""

    tools: Definitions = None
    tool_choice: Any = said("In the shape of the source.", None)
    parallel_tool_calls: bool | None = None
    tool_config: Any = said("The tool choice of `gemini`.", None)
    toolConfig: Any = said("Tools and choice of `bedrock`; the choice of `gemini`.", None)  # noqa: N815
    toolChoice: Any = said("The tool choice of `vercel` and `vercel-v4`.", None)  # noqa: N815


class ToolDefinitionsIn(ToolMembersIn):
    strict: bool | None = said("Refuse all when one cannot be used.", None)


class ToolsIn(ToolDefinitionsIn):
    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["provider"]}, {"required": ["format"]}]}
    )
    provider: str | None = said("May be left out beside `format`.", None, examples=["anthropic"])
    format: Format = None


class ToolsQuery(In):
    provider: Target
    required: Required | None = None


class DroppedOut(Out):
    index: int = said("Counted over all functions that are defined.")
    name: str | None
    reason: str


class ToolNoteOut(Out):
    code: str
    tool: str = left_out()
    detail: str


class ToolsPutOut(Out):
    conversation_id: str
    version: int
    number: int
    tools: int
    dropped: list[DroppedOut]
    notes: list[ToolNoteOut] = said("What had to be changed in order to be kept.")


class ToolsOut(Out):
    conversation_id: str
    version: int
    provider: str
    request: dict[str, Any]
    dropped: list[DroppedOut]
    notes: list[ToolNoteOut]
