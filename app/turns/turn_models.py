"""Shapes of posted turns, of the receipt for them, and of stored turns."""

from typing import Any, Literal

from pydantic import ConfigDict

from ..edge.documented import CallerTurnId, Format, Provider
from ..edge.shapes import (
    GivenOut,
    In,
    ListOut,
    Metadata,
    NoteOut,
    Order,
    Out,
    PageSize,
    UsageOut,
    left_out,
    said,
)
from ..formats.shared.members import MESSAGE_MEMBERS
from ..ledger.records import MatchedBy
from ..model.conversation import Speaker, TurnStatus
from ..model.telling import either
from ..tools.tool_models import ToolMembersIn
from .block_models import BlockOut

_EXAMPLE: dict[str, Any] = {
    "provider": "kimi",
    "messages": [
        {"role": "user", "content": "What is in a.txt and b.txt?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": f"functions.read:{number}",
                    "type": "function",
                    "function": {"name": "read", "arguments": f'{{"path": "{path}"}}'},
                }
                for number, path in enumerate(("a.txt", "b.txt"))
            ],
        },
    ],
}


def _native_members(schema: dict[str, Any]) -> None:
    """Which members are read depends on the format; the page names them all."""
    for name, formats in MESSAGE_MEMBERS.items():
        told = {"description": f"As in requests of {either(formats)}."}
        schema["properties"].setdefault(name, told)
    schema["additionalProperties"] = {
        "description": "A setting of the format's own request, like `max_tokens`: ignored, with"
        " the note `SETTINGS_IGNORED`. Any other member is refused."
    }


class MessagesIn(ToolMembersIn):
    """What all bodies with messages have: the members of the formats' own requests."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_native_members)
    messages: list[dict[str, Any]] = said(
        "Native messages of the format; its own name for them does as well.",
        default_factory=list,
        min_length=1,
    )
    model: str | None = None


def _with_example(schema: dict[str, Any]) -> None:
    _native_members(schema)
    schema["examples"] = [_EXAMPLE]


class TurnsIn(MessagesIn):
    """One or more turns in a provider's own shape.

    A whole request may be posted as it is: the tools in it are kept with the turns, and settings
    like `max_tokens` are ignored with the note `SETTINGS_IGNORED`.
    """

    model_config = ConfigDict(json_schema_extra=_with_example)
    provider: Provider
    format: Format = None
    turn_id: CallerTurnId = said("Your own id, with one turn: a retry stores once.", None)
    turn_ids: list[str | None] | None = said(
        "Your own ids, one for each turn; null for one that is to be derived.", None
    )
    response: dict[str, Any] | None = said(
        "Instead of messages: the provider's whole response, as it came.", None
    )
    metadata: Metadata | None = None


class AppendQuery(In):
    returned: Literal["turns"] | None = said(
        "`turns`: the receipt has the text of each turn.", None, alias="return"
    )


class PostQuery(AppendQuery):
    mode: Literal["append", "sync"] = said(
        "`sync`: the body is the whole list of messages; what is new is appended. Nothing is"
        " removed: the note `LIST_ENDS_EARLIER` says how many stored turns the list lacks.",
        "append",
    )


class StreamQuery(AppendQuery):
    """What stands beside the messages in other posts."""

    provider: Provider
    format: Format = None
    model: str | None = None
    turn_id: CallerTurnId = said(
        "Your own id: a retry stores once, and completes what broke off.", None
    )


class TurnPageQuery(In):
    after: int = said("Turns with a higher seq.", 0, ge=0, le=2**62)
    before: int | None = said("Turns with a lower seq.", None, ge=0, le=2**62)
    order: Order = said("`desc`: the newest first; page with `before`.", "asc")
    limit: PageSize = 100
    raw: bool = said("Adds what was posted.", default=False)


class AppendedCallOut(GivenOut):
    id: str = said("The canonical id; results may name it.")
    raw_id: str | None
    name: str
    call_index: int


class AppendedResultOut(Out):
    call_id: str | None
    raw_id: str | None
    matched_by: MatchedBy
    repeat: Literal[True] = left_out("Where the call had a result already.")


class AppendedTurnOut(Out):
    turn_id: str
    seq: int
    speaker: Speaker
    text: str = left_out("With `return=turns`: its text blocks, joined by newlines.")
    usage: UsageOut = left_out("Where the response said what it took.")
    tool_calls: list[AppendedCallOut]
    tool_results: list[AppendedResultOut]
    status: TurnStatus = left_out("Left out when complete.")


class AppendedOut(Out):
    conversation_id: str
    version: int
    turns: list[AppendedTurnOut]
    notes: list[NoteOut]
    known: int = left_out(
        "Only with `mode=sync`: how many messages of the list were stored before."
    )


class TurnOut(Out):
    seq: int
    turn_id: str
    speaker: Speaker
    provider: str
    format: str
    blocks: list[BlockOut]
    usage: UsageOut = left_out(
        "Where the response said it; in its own words: metadata.response.usage."
    )
    created_at: str
    hash: str
    status: TurnStatus = left_out("Left out when complete.")
    model: str = left_out()
    metadata: Metadata = left_out()
    quarantined: Literal[True] = left_out("Where the stored turn can no longer be read.")
    payload: Any = left_out("What was posted, byte for byte.")
    payload_text: str = left_out("The same, where it was a stream and no JSON.")
    payload_base64: str = left_out("The same, where it is no text: a stream in binary frames.")
    earlier: list["TurnOut"] = left_out("An interrupted turn before it was completed.")


class TurnListOut(ListOut):
    data: list[TurnOut]
