"""The values a conversation is made of: speakers, blocks, turns. Frozen; no storage, no wire.

A block is what one participant said in one breath. Codecs build blocks from a wire and show them on
a wire; nothing in between changes them. `native` holds a provider's own JSON for the things only
that provider can read (signed thinking, provider-executed tools).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Literal, TypeAlias, TypeVar, get_args

from .json_values import Json, JsonObject
from .large import PIECE, Bytes, Chunks
from .value import dataclass

# A note is kept in its place for people and programs; no model ever sees it.
Speaker: TypeAlias = Literal["human", "ai", "tool", "system", "note"]
Status: TypeAlias = Literal["ok", "error", "denied", "interrupted", "unknown"]
SPEAKERS: tuple[str, ...] = get_args(Speaker)
STATUSES: tuple[str, ...] = get_args(Status)
# A turn whose stream broke is interrupted: it holds what had arrived.
TurnStatus: TypeAlias = Literal["complete", "interrupted"]
TURN_STATUSES: tuple[str, ...] = get_args(TurnStatus)
# What OpenAI's models say of a text of theirs, and want to see again on it.
Phase: TypeAlias = Literal["commentary", "final_answer"]
PHASES: tuple[str, ...] = get_args(Phase)


def _source() -> str:
    """The JSON pointer to the object that a block was read from. It is not part of the block."""
    default: str = field(default="", compare=False, repr=False)
    return default


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    signature: str | None = None
    phase: Phase | None = None
    source: str = _source()


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: a data URL, or an address that is passed on and never fetched."""

    url: str
    detail: str | None = None
    source: str = _source()


@dataclass(frozen=True, slots=True)
class File:
    url: str
    name: str | None = None
    media_type: str | None = None
    source: str = _source()


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning. Only its issuer may see `native` again, only unchanged, only on its `wire`."""

    text: str
    native: Json = None
    wire: str | None = None
    provider: str | None = None
    model: str | None = None
    source: str = _source()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call. `arguments` is the text as it came; `id` is canonical once the turn is stored.

    `signature` is Gemini's thought signature, the one provider that signs calls.
    """

    raw_id: str | None
    name: str
    arguments: str
    id: str = ""
    signature: str | None = None
    custom: bool = False
    source: str = _source()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A result: a JSON value, or `parts` where the wire gave a list of blocks.

    `call_id` is the canonical id of its call, where an export that came back says it.
    """

    raw_id: str | None
    result: Json = None
    parts: "tuple[Part, ...] | None" = None
    status: Status = "ok"
    error: str | None = None
    name: str | None = None
    call_id: str | None = None
    source: str = _source()


Result = TypeVar("Result")


def is_real(status: str) -> bool:
    """Whether a result says what the tool did, and not only that nobody knows."""
    return status not in ("interrupted", "unknown")


def last_real(results: Sequence[Result], real: Callable[[Result], bool]) -> Result | None:
    """Of several results of a call the one that counts; one that is not real only where all are."""
    told = [one for one in results if real(one)] or results
    return told[-1] if told else None


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something only its issuer understands, kept verbatim."""

    kind: str
    native: Json
    wire: str | None = None
    provider: str | None = None
    model: str | None = None
    source: str = _source()


@dataclass(frozen=True, slots=True)
class Envelope:
    """A posted message without its blocks. `slots`: the members that hold them."""

    members: JsonObject
    slots: frozenset[str]

    @property
    def in_line(self) -> bool:
        """True for one of the messages, and not a text next to them."""
        return not self.members.keys().isdisjoint(("role", "type"))


@dataclass(frozen=True, slots=True)
class Posted:
    """How a block was posted, for replays to the provider that issued it.

    `slot` is the member of the message that holds the block, "" where the message is the block;
    `listed`: that member is a list. `value` is the posted object, None where the codec writes the
    same one from the block. `before` and `after` are its neighbours in the list that became no
    blocks, such as marks for a prompt cache.
    """

    envelope: Envelope
    slot: str
    listed: bool
    value: Json = None
    before: tuple[Json, ...] = ()
    after: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Original:
    """What the blocks of a turn do not say of the messages that were posted.

    `format` is the format of the messages. `blocks` has an entry for each block, or none at all
    where they say everything. `members` names what other providers are not shown.
    """

    format: str
    envelopes: tuple[Envelope, ...] = ()
    blocks: tuple[Posted | None, ...] = ()
    members: tuple[str, ...] = ()


Part: TypeAlias = Text | Image | File | Opaque
Block: TypeAlias = Text | Image | File | Thinking | ToolCall | ToolResult | Opaque


# Bytes of a payload from which on it is kept in pieces, with its blocks.
_LONG = 2 * PIECE
# The code of the remark that a stream could not be made into a turn: its payload is all of it.
UNREADABLE = "STREAM_UNREADABLE"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something worth saying about what was stored. The codes are stable."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn as a codec read it, before it has a place in a conversation.

    `payload` is what was posted (`stream`, if it came as a stream), `format` its shape, `pointer`
    where in the body it stands, `facts` what a provider says about a response of its own: id,
    model, stop reason, usage. `messages` are the messages that it was read from, with their
    pointers.
    """

    speaker: Speaker
    blocks: tuple[Block, ...]
    payload: str = ""
    pointer: str = ""
    turn_id: str | None = None
    provider: str | None = None
    model: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    stream: Bytes | None = None
    facts: JsonObject | None = None
    status: TurnStatus = "complete"
    notes: tuple[Remark, ...] = ()
    format: str = ""
    messages: tuple[tuple[str, JsonObject], ...] = ()
    original: Original | None = None

    @property
    def raw(self) -> Bytes:
        """What was posted, byte for byte; in pieces where it is long."""
        if self.stream is not None:
            return self.stream
        if len(self.payload) <= _LONG:
            encoded = self.payload.encode("utf-8", "surrogatepass")
            if len(encoded) <= _LONG:
                return encoded
        return Chunks(self._pieces)

    def _pieces(self) -> Iterator[bytes]:
        for start in range(0, len(self.payload), PIECE):
            yield self.payload[start : start + PIECE].encode("utf-8", "surrogatepass")

    @property
    def all_metadata(self) -> JsonObject:
        """What is stored: the caller's words, and the provider's facts under `response`."""
        return self.metadata | {"response": self.facts} if self.facts else self.metadata

    def placed(self, seq: int, turn_id: str, blocks: tuple[Block, ...]) -> "Turn":
        """The turn that this becomes at a place, with blocks whose calls have their ids."""
        return Turn(
            seq,
            turn_id,
            self.speaker,
            blocks,
            self.provider or "",
            self.model,
            self.all_metadata,
            self.status,
            format=self.format,
            original=self.original,
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """A stored turn. `blocks` is None when the stored bytes can no longer be read.

    `completed_at`: the version of the conversation at which an interrupted turn became whole.
    """

    seq: int
    turn_id: str
    speaker: Speaker
    blocks: tuple[Block, ...] | None
    provider: str
    model: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    status: TurnStatus = "complete"
    completed_at: int | None = None
    format: str = ""
    original: Original | None = None

    @property
    def posted_as(self) -> str:
        """The format in which it was posted; of an imported turn the one it had before."""
        return self.original.format if self.original else self.format

    @property
    def response(self) -> JsonObject:
        """What the provider says about the response that the turn is; empty where it is none."""
        response = self.metadata.get("response")
        return response if isinstance(response, dict) else {}

    def calls(self) -> list[ToolCall]:
        return [block for block in self.blocks or () if isinstance(block, ToolCall)]

    def text(self) -> str:
        """All that it says in text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.blocks or () if isinstance(block, Text))

    def results(self) -> Iterator[tuple[int, ToolResult]]:
        """The results with their places among the blocks."""
        for place, block in enumerate(self.blocks or ()):
            if isinstance(block, ToolResult):
                yield place, block
