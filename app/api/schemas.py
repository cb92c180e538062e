"""The shapes of requests and answers, for validation and for the OpenAPI page."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.api.parameters import Format, Provider, Target
from app.core.conversation import Speaker, Status, TurnStatus
from app.core.ledger.records import MatchedBy
from app.core.neutral.excerpts import SHOWN
from app.core.render.options import Reasoning, ToolsShown

Metadata = dict[str, Any]
Order: TypeAlias = Literal["asc", "desc"]
CallState: TypeAlias = Literal["open", "answered", "denied", "interrupted", "unknown", "superseded"]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ConversationIn(_In):
    id: Annotated[str | None, Field(examples=["c1"])] = None
    title: str | None = None
    metadata: Metadata = {}


class ConversationChangeIn(_In):
    title: str | None = None
    metadata: Metadata | None = None


class UsageOut(BaseModel):
    """What responses took; 0 where the provider does not say."""

    input_tokens: Annotated[int, Field(description="The whole input, cached tokens included.")]
    output_tokens: Annotated[int, Field(description="The whole output, reasoning included.")]
    cached_tokens: Annotated[int, Field(description="Of the input: what was read from a cache.")]
    reasoning_tokens: Annotated[int, Field(description="Of the output: what was thinking.")]


class ConversationOut(BaseModel):
    id: str
    title: str | None
    metadata: Metadata
    version: Annotated[int, Field(description="The number of turns.")]
    created_at: str
    updated_at: str
    usage: Annotated[UsageOut, Field(description="What all its responses took together.")]


class _ListOut(BaseModel):
    has_more: bool
    next_cursor: str | None


class ConversationListOut(_ListOut):
    data: list[ConversationOut]


Definitions = Annotated[
    list[dict[str, Any]] | dict[str, Any] | None,
    Field(description="Tool definitions in the shape of the source; by name in the AI SDK's."),
]


class _ToolMembersIn(_In):
    """What is said of tools, under the names of the wires' own requests."""

    tools: Definitions = None
    tool_choice: Annotated[Any, Field(description="In the shape of the source.")] = None
    parallel_tool_calls: bool | None = None
    tool_config: Annotated[Any, Field(description="The tool choice of `gemini`.")] = None
    toolConfig: Annotated[  # noqa: N815
        Any, Field(description="Tools and choice of `bedrock`; the choice of `gemini`.")
    ] = None
    toolChoice: Annotated[  # noqa: N815
        Any, Field(description="The tool choice of `vercel` and `vercel-v4`.")
    ] = None


class TurnsIn(_ToolMembersIn):
    """One or more turns in a provider's own shape.

    A whole request may be posted as it is: the tools in it are kept with the turns, and settings
    like `max_tokens` are ignored with the note `SETTINGS_IGNORED`.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "provider": "kimi",
                    "messages": [
                        {"role": "user", "content": "What is in a.txt and b.txt?"},
                        {
                            "role": "assistant",
                            "content": "",
                            "tool_calls": [
                                {
                                    "id": "functions.read:0",
                                    "type": "function",
                                    "function": {"name": "read", "arguments": '{"path": "a.txt"}'},
                                },
                                {
                                    "id": "functions.read:1",
                                    "type": "function",
                                    "function": {"name": "read", "arguments": '{"path": "b.txt"}'},
                                },
                            ],
                        },
                    ],
                }
            ]
        },
    )
    provider: Provider
    format: Format = None
    model: str | None = None
    turn_id: Annotated[
        str | None, Field(description="Your own id, with one turn: a retry stores once.")
    ] = None
    turn_ids: Annotated[
        list[str | None] | None,
        Field(description="Your own ids, one for each turn; null for one that is to be derived."),
    ] = None
    messages: Annotated[
        list[dict[str, Any]],
        Field(description="Native messages of the format; or give `response`.", min_length=1),
    ] = []
    response: Annotated[
        dict[str, Any] | None,
        Field(description="Instead of messages: the provider's whole response, as it came."),
    ] = None
    metadata: Metadata = {}


class AppendQuery(_In):
    returned: Annotated[
        Literal["turns"] | None,
        Field(alias="return", description="`turns`: the receipt has the text of each turn."),
    ] = None


class PostQuery(AppendQuery):
    mode: Annotated[
        Literal["append", "sync"],
        Field(
            description="`sync`: the body is the whole list of messages; what is new is appended."
        ),
    ] = "append"


class StreamQuery(AppendQuery):
    """What stands beside the messages in other posts."""

    provider: Provider
    format: Format = None
    model: str | None = None
    turn_id: Annotated[
        str | None,
        Field(
            description="Your own id: a retry stores once, and completes what broke off.",
            pattern="^[A-Za-z0-9._:-]{1,128}$",
        ),
    ] = None


class _GivenOut(BaseModel):
    """What a call was given: a value, or the text that is none."""

    parameters: Annotated[Any, Field(description="Left out where the arguments are no JSON.")] = (
        None
    )
    arguments: Annotated[
        str | None, Field(description="The text instead, where it is no JSON or over 1 MB.")
    ] = None


class AppendedCallOut(_GivenOut):
    id: Annotated[str, Field(description="The canonical id; results may name it.")]
    raw_id: str | None
    name: str
    call_index: int


class AppendedResultOut(BaseModel):
    call_id: str | None
    raw_id: str | None
    matched_by: MatchedBy
    repeat: bool = False


class AppendedTurnOut(BaseModel):
    turn_id: str
    seq: int
    speaker: Speaker
    text: Annotated[
        str | None,
        Field(description="With `return=turns`: its text blocks, joined by newlines."),
    ] = None
    usage: Annotated[
        UsageOut | None, Field(description="Where the response said what it took.")
    ] = None
    tool_calls: list[AppendedCallOut]
    tool_results: list[AppendedResultOut]
    status: Annotated[TurnStatus, Field(description="Left out when complete.")] = "complete"


class NoteOut(BaseModel):
    code: str
    turn_id: str | None
    detail: str


class AppendedOut(BaseModel):
    conversation_id: str
    version: int
    turns: list[AppendedTurnOut]
    notes: list[NoteOut]
    known: Annotated[
        int | None,
        Field(
            description="Only with `mode=sync`: how many messages of the list were stored already."
        ),
    ] = None


class TurnOut(BaseModel):
    model_config = ConfigDict(extra="allow")
    seq: int
    turn_id: str
    speaker: Speaker
    provider: str
    format: str
    blocks: list[dict[str, Any]]
    usage: Annotated[
        UsageOut | None,
        Field(description="Where the response said it; in its own words: metadata.response.usage."),
    ] = None
    created_at: str
    hash: str
    status: Annotated[TurnStatus, Field(description="Left out when complete.")] = "complete"
    model: str | None = None
    metadata: Metadata = {}
    quarantined: Annotated[
        bool, Field(description="True where the stored turn can no longer be read.")
    ] = False
    payload: Annotated[Any, Field(description="What was posted, byte for byte.")] = None
    payload_text: Annotated[
        str | None, Field(description="The same, where it was a stream and no JSON.")
    ] = None
    payload_base64: Annotated[
        str | None, Field(description="The same, where it is no text: a stream in binary frames.")
    ] = None
    earlier: Annotated[
        list["TurnOut"], Field(description="An interrupted turn before it was completed.")
    ] = []


class TurnListOut(_ListOut):
    data: list[TurnOut]


class RepairOut(BaseModel):
    code: str
    turn_id: str | None
    call_id: str | None = None
    block: int | None = None
    detail: str


class PrefixOut(BaseModel):
    messages: int
    sha256: str


class PendingOut(_GivenOut):
    """A call that is shown without a result of its own."""

    call_id: Annotated[str, Field(description="The canonical id; its result may name it.")]
    provider_id: Annotated[str, Field(description="The id it is shown under on this target.")]
    name: str
    turn_id: Annotated[str, Field(description="The turn that makes the call.")]
    placeholder: Annotated[
        str | None,
        Field(description="The text that is shown as its result; null where none is shown."),
    ]


class SinceOut(BaseModel):
    version: int
    prefix: Annotated[PrefixOut, Field(description="What a caller had at that version.")]
    unchanged: Annotated[
        bool, Field(description="True: `request` holds only what is new. False: it holds all.")
    ]


class ReplayOut(BaseModel):
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
    since: Annotated[SinceOut | None, Field(description="Only where `since` was asked.")] = None


class ReplayQuery(_In):
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


class PageQuery(_In):
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    cursor: Annotated[str | None, Field(description="The `next_cursor` of the page before.")] = None


class ConversationQuery(PageQuery):
    """Which conversations. Everything that is given must hold."""

    order: Annotated[
        Literal["id", "updated"],
        Field(description="By id, or the one that changed last first."),
    ] = "id"
    q: Annotated[
        str | None,
        Field(
            description="Words of one turn, of the title or of an id (conversation, turn, call)."
            " All must occur; the last may be the beginning of a word.",
            examples=["weather in par"],
        ),
    ] = None
    title: Annotated[str | None, Field(description="Words of the title, like `q`.")] = None
    tool: Annotated[
        list[str], Field(description="A tool that was called, by its exact name; may repeat.")
    ] = []
    provider: Annotated[
        list[str], Field(description="A provider that turns are of; may repeat.")
    ] = []

    @model_validator(mode="before")
    @classmethod
    def _without_metadata(cls, given: Any) -> Any:
        """`metadata.KEY` has names of the caller's own; the route reads them itself."""
        return {key: value for key, value in given.items() if not key.startswith("metadata.")}


class TurnPageQuery(_In):
    after: Annotated[int, Field(ge=0, le=2**62, description="Turns with a higher seq.")] = 0
    before: Annotated[int | None, Field(ge=0, le=2**62, description="Turns with a lower seq.")] = (
        None
    )
    order: Annotated[Order, Field(description="`desc`: the newest first; page with `before`.")] = (
        "asc"
    )
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    raw: Annotated[bool, Field(description="Adds what was posted.")] = False


class ToolCallPageQuery(PageQuery):
    state: Annotated[CallState | None, Field(description="Only calls in this state.")] = None
    order: Annotated[Order, Field(description="`desc`: the newest first.")] = "desc"


class ResultOut(BaseModel):
    turn_id: str
    seq: int
    raw_id: str | None
    matched_by: MatchedBy
    status: Status


class _SaidOut(BaseModel):
    """What a result says: `result` or `content`, or the beginning of its `text` where it is long.

    All is left out where the turn can no longer be read.
    """

    result: Annotated[Any, Field(description="The value, where it is one.")] = None
    content: Annotated[
        list[dict[str, Any]] | None, Field(description="The blocks, where it has some.")
    ] = None
    text: Annotated[
        str | None, Field(description=f"Where it is cut: the first {SHOWN:,} characters.")
    ] = None
    error: Annotated[str | None, Field(description="What went wrong, where that is said.")] = None
    size: Annotated[
        int | None, Field(description="Characters of the text, or of the JSON of the whole.")
    ] = None
    cut: Annotated[bool, Field(description="Whether less than the whole is shown.")] = False
    created_at: Annotated[str | None, Field(description="When it was stored.")] = None


class ShownResultOut(_SaidOut, ResultOut):
    pass


class ToolCallOut(_GivenOut):
    id: str
    raw_id: str | None
    provider: str
    model: str | None
    name: str
    turn_id: str
    seq: int
    call_index: int
    state: Annotated[
        CallState,
        Field(description="`superseded`: the newest version of its turn does not make the call."),
    ]
    arguments_size: Annotated[
        int | None, Field(description="Where they are cut: the characters of all arguments.")
    ] = None
    arguments_cut: Annotated[
        bool, Field(description=f"Whether `arguments` are only the first {SHOWN:,} characters.")
    ] = False
    created_at: Annotated[str | None, Field(description="When the call was stored.")] = None
    ids: Annotated[dict[str, str], Field(description="The id that each target shows.")]
    result: Annotated[
        ShownResultOut | None, Field(description="The one that replays show: the last real one.")
    ]
    repeats: Annotated[list[ResultOut], Field(description="Its other results, oldest first.")]


class ToolCallListOut(_ListOut):
    data: list[ToolCallOut]


class FoundCallOut(ToolCallOut):
    conversation_id: str
    kind: Annotated[
        Literal["raw", "canonical", "provider_id"],
        Field(description="As which of its ids the call is known by this one."),
    ]


class FoundResultOut(ShownResultOut):
    """A result whose call is not known."""

    conversation_id: str
    kind: Literal["orphan_result"]
    name: Annotated[str | None, Field(description="The tool, where the result names it.")]


class FoundTurnOut(BaseModel):
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


class FoundListOut(_ListOut):
    data: list[FoundCallOut | FoundResultOut | FoundTurnOut]


class LookupQuery(PageQuery):
    id: Annotated[
        str,
        Field(
            min_length=1,
            description="Any id of a call, a result, a response or a turn.",
            examples=["call_abc123"],
        ),
    ]


class CheckedOut(BaseModel):
    turns: int
    tool_calls: int
    provider_ids: int


class VerifiedOut(BaseModel):
    ok: bool
    checked: CheckedOut
    problems: list[NoteOut]


class ProblemOut(BaseModel):
    """RFC 9457."""

    model_config = ConfigDict(extra="allow")
    type: str
    title: str
    status: int
    detail: str
    code: str
    pointer: str | None = None
    error_type: Annotated[
        str | None, Field(description="Of an error response: the provider's own name for it.")
    ] = None
    looks_like: Annotated[
        list[str] | None,
        Field(description="The formats whose response or stream it may be."),
    ] = None
    turn_id: Annotated[
        str | None,
        Field(description="The turn that is meant; with 412, the one that is stored all the same."),
    ] = None


class _ToolDefinitionsIn(_ToolMembersIn):
    strict: Annotated[bool | None, Field(description="Refuse all when one cannot be used.")] = None


class ToolsIn(_ToolDefinitionsIn):
    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["provider"]}, {"required": ["format"]}]}
    )
    provider: Annotated[
        str | None, Field(examples=["anthropic"], description="May be left out beside `format`.")
    ] = None
    format: Format = None


class DroppedOut(BaseModel):
    index: Annotated[int, Field(description="Counted over all functions that are defined.")]
    name: str | None
    reason: str


class ToolNoteOut(BaseModel):
    code: str
    tool: str | None = None
    detail: str


class ToolsPutOut(BaseModel):
    conversation_id: str
    version: int
    number: int
    tools: int
    dropped: list[DroppedOut]
    notes: Annotated[
        list[ToolNoteOut], Field(description="What had to be changed in order to be kept.")
    ]


class ToolsOut(BaseModel):
    conversation_id: str
    version: int
    provider: str
    request: dict[str, Any]
    dropped: list[DroppedOut]
    notes: list[ToolNoteOut]


class ToolsQuery(_In):
    provider: Target
    required: Literal["keep", "filter"] | None = None


class ConvertToolsIn(_ToolDefinitionsIn):
    source: Annotated[Target, Field(alias="from", description="Who wrote it.")]
    to: Target
    required: Literal["keep", "filter"] | None = None
    description: Annotated[
        Literal["keep", "filter"] | None,
        Field(
            description="Whether tools of OpenAI's shapes that have no description are left out"
            " (filter, the default) or kept with a note."
        ),
    ] = None


class ConvertToolsOut(BaseModel):
    tools: Any
    tool_choice: Any
    request: Annotated[dict[str, Any], Field(description="Both as members of a request.")]
    dropped: list[DroppedOut]
    notes: list[ToolNoteOut]


class ConvertMessagesIn(_ToolMembersIn):
    """Messages, and the other members of a request: system text, tools, tool choice."""

    model_config = ConfigDict(extra="allow")
    source: Annotated[Target, Field(alias="from", description="Who wrote it.")]
    to: Target
    messages: Annotated[list[dict[str, Any]], Field(min_length=1)] = []
    model: str | None = None
    reasoning: Annotated[
        Literal["auto", "text", "drop"] | dict[str, Any],
        Field(description="An object is the request's own setting of this name, and ignored."),
    ] = "auto"
    ready: Annotated[
        bool, Field(description="A request that can be sent as it is, as in replays.")
    ] = False


class ConvertMessagesOut(BaseModel):
    request: dict[str, Any]
    repairs: list[RepairOut]
    notes: Annotated[
        list[NoteOut], Field(description="What was read in part, or ignored, like settings.")
    ]


class ConvertToolIdIn(_In):
    id: str
    to: Literal["openai", "history", "anthropic"]


class ConvertToolIdOut(BaseModel):
    id: str
