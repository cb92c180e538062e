"""Shapes of conversations, of the questions that find them, and of what verifying says."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, model_validator

from ..edge.shapes import In, ListOut, Metadata, NoteOut, Out, PageQuery, UsageOut, left_out, said
from ..ledger.wanted import State
from ..model.limits import LONGEST_EXPIRY

ExpiresAfter: TypeAlias = Annotated[int, Field(ge=1, le=LONGEST_EXPIRY, strict=True)]


class ConversationIn(In):
    id: str | None = Field(None, examples=["c1"])
    title: str | None = None
    metadata: Metadata = Field(default_factory=dict)
    expires_after: ExpiresAfter | None = said(
        "Seconds after the last turn until the conversation is erased; null for never. Left out:"
        " as the service is set.",
        None,
    )


class ConversationChangeIn(In):
    title: str | None = None
    metadata: Metadata | None = None
    expires_after: ExpiresAfter | None = said("Seconds from now on; null for never.", None)


class ConversationQuery(PageQuery):
    """Which conversations. Everything that is given must hold."""

    order: Literal["id", "updated"] = said("By id, or the one that changed last first.", "id")
    q: str | None = said(
        "Words of one turn, of the title, of the metadata or of an id (conversation, turn,"
        " call)."
        " All must occur; the last may be the beginning of a word.",
        None,
        examples=["weather in par"],
    )
    title: str | None = said("Words of the title, like `q`.", None)
    tool: list[str] = said(
        "A tool that was called, by its exact name; may repeat.", default_factory=list
    )
    provider: list[str] = said("A provider that turns are of; may repeat.", default_factory=list)
    state: State | None = said(
        "`open`: with a call that has no result; `interrupted`: with a turn whose stream broke and"
        " that was not completed.",
        None,
    )

    @model_validator(mode="before")
    @classmethod
    def _without_metadata(cls, given: Any) -> Any:
        """`metadata.KEY` has names of the caller's own; the route reads them itself."""
        return {key: value for key, value in given.items() if not key.startswith("metadata.")}


class ListenQuery(In):
    after: int | None = said(
        "A version: nothing is told at once while the conversation is at it.",
        None,
        ge=0,
        le=10**15 - 1,
    )


class ConversationOut(Out):
    id: str
    title: str | None
    metadata: Metadata
    version: int = said("The number of turns.")
    created_at: str
    updated_at: str
    usage: UsageOut = said("What all its responses took together.")
    expires_after: int = left_out("Seconds after the last turn.")
    expires_at: str = left_out("When it is erased unless a turn is appended. Left out for never.")


class ListedConversationOut(ConversationOut):
    open_calls: int = said("How many of its calls have no result.")


class ConversationListOut(ListOut):
    data: list[ListedConversationOut]
    damaged: list[str] = left_out("Conversations that would be here but cannot be read; by id.")


class RemovedOut(Out):
    turns: int
    revisions: int = said("Later versions of turns.")
    tool_calls: int
    tool_results: int
    provider_ids: int
    tool_sets: int
    idempotency_keys: int


class ErasedOut(Out):
    conversation_id: str
    erased_at: str
    removed: RemovedOut


class UnfinishedOut(ErasedOut):
    left: RemovedOut = said(
        "The rows that are still to be removed, at most. The service goes on by itself. Words of"
        " the search go before the turns, title and metadata after them."
    )


class CheckedOut(Out):
    turns: int
    tool_calls: int
    provider_ids: int


class VerifiedOut(Out):
    ok: bool
    checked: CheckedOut
    problems: list[NoteOut]
