"""What all bodies with messages have: the members of the formats' own requests."""

from typing import Any

from pydantic import ConfigDict, Field

from app.api.schemas.tools import ToolMembersIn
from app.core.telling import either
from app.service.members import MESSAGE_MEMBERS


def native_members(schema: dict[str, Any]) -> None:
    """Which members are read depends on the format; the page names them all."""
    for name, formats in MESSAGE_MEMBERS.items():
        told = {"description": f"As in requests of {either(formats)}."}
        schema["properties"].setdefault(name, told)
    schema["additionalProperties"] = {
        "description": "A setting of the format's own request, like `max_tokens`: ignored, with"
        " the note `SETTINGS_IGNORED`. Any other member is refused."
    }


class MessagesIn(ToolMembersIn):
    model_config = ConfigDict(extra="allow", json_schema_extra=native_members)
    messages: list[dict[str, Any]] = Field(
        default_factory=list,
        min_length=1,
        description="Native messages of the format; its own name for them does as well.",
    )
    model: str | None = None
