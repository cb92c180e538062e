"""What a store keeps of a conversation, as values: the words between service and storage."""

from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias, get_args

from ..model.large import Bytes
from ..model.usage import Usage
from ..model.value import dataclass

# Turns of a conversation that may be erased at once; a longer one would hold up other writers.
SMALL = 20
# What a conversation consists of, in the words of the receipt for its removal.
PARTS = (
    *("turns", "revisions", "tool_calls", "tool_results", "provider_ids", "tool_sets"),
    "idempotency_keys",
)

MatchedBy: TypeAlias = Literal[
    "canonical", "raw", "provider_id", "normalized", "name", "position", "none"
]
RULES: tuple[str, ...] = get_args(MatchedBy)
CallState: TypeAlias = Literal["open", "answered", "denied", "interrupted", "unknown", "superseded"]
CALL_STATES: tuple[CallState, ...] = get_args(CallState)
# The columns of calls as a table; behind them stand the targets.
CALL_COLUMNS = (
    *("seq", "turn_id", "call_index", "provider", "model", "name", "raw_id", "canonical_id"),
    *("state", "matched_by", "result_turn_id", "hash_input"),
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the ledger knows it. `provider_ids`: by target, where the target gives its own.

    `call_index` is below 0 where the newest version of its turn does not make it any more.
    """

    id: str
    raw_id: str | None
    name: str
    provider: str
    model: str | None
    turn_id: str
    seq: int
    call_index: int
    answered: bool = False
    provider_ids: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A conversation and the head of its chain.

    `orphans` counts results that wait for a call, `open_calls` calls that wait for a result; the
    turns up to `indexed` are indexed. It expires so many seconds (`expires_after`) after the last
    turn, which is `expires_at`; None: never.
    """

    id: str
    title: str | None
    metadata: bytes
    version: int
    head_hash: bytes
    orphans: int
    created_at: datetime
    updated_at: datetime
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    indexed: int = 0
    # The end of the chain of tool sets. Whoever saves the head puts it in.
    tools_hash: bytes = b""
    expires_after: int | None = None
    expires_at: datetime | None = None
    open_calls: int = 0

    def renewed(self, now: datetime) -> "ConversationRecord":
        """The same, expiring from now on."""
        seconds = self.expires_after
        expires_at = None if seconds is None else now + timedelta(seconds=seconds)
        return self if expires_at == self.expires_at else replace(self, expires_at=expires_at)

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    @property
    def usage(self) -> Usage:
        """What all responses took together."""
        return Usage(
            self.input_tokens, self.output_tokens, self.cached_tokens, self.reasoning_tokens
        )


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn as bytes. `payload` is what was posted, `blocks` the neutral form with canonical ids,
    `originals` what the blocks do not say of the posted messages (empty for most turns).

    Long ones are written in pieces.

    `content_hash` tells a retry from another turn under the same id; `hash` chains the turns.
    """

    seq: int
    turn_id: str
    speaker: str
    provider: str
    format: str
    model: str | None
    payload: Bytes
    blocks: Bytes
    metadata: bytes
    content_hash: bytes
    hash: bytes
    created_at: datetime
    status: str = "complete"
    originals: Bytes = b""
    # Where a revision replaced an interrupted turn: the version of the conversation then.
    completed_at: int | None = None
    # Under which a response is found. Only for writing: whoever reads has the metadata.
    response_id: str | None = None


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """A later version of an interrupted turn, in its place; it has its own link in the chain.

    Revisions are numbered from 1 over the conversation; this one came when the conversation had
    `at_version` turns.
    """

    number: int
    at_version: int
    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class ProviderId:
    """A row of the mapping table: the provider id of a call on a target that gives its own."""

    target: str
    provider_id: str
    call_id: str
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """A result, where it stands (turn and place among the blocks), and the call it answers."""

    seq: int
    place: int
    turn_id: str
    raw_id: str | None
    name: str | None
    status: str
    call_id: str | None
    matched_by: MatchedBy
    repeat: bool


@dataclass(frozen=True, slots=True)
class ToolSetRecord:
    """Tool definitions as they were from a version of the conversation on."""

    number: int
    at_version: int
    provider: str
    format: str
    payload: bytes
    definitions: bytes
    created_at: datetime


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """An idempotency key (by its text), the body that used it, and its receipt."""

    key: str
    body_sha256: bytes
    status: int
    receipt: bytes
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call with all its results, oldest first: a line of the audit."""

    call: Call
    results: list[ResultRecord] = field(default_factory=list)
