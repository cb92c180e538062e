"""A turn that is to be stored, with all that can be computed before it has a place.

Encoding and hashing are done before the writer's turn comes. What depends on the place (ids, the
link in the chain) is put in afterwards.
"""

from dataclasses import dataclass
from datetime import datetime

from app.core.conversation import Block, Draft, ToolCall, Turn
from app.core.identity.ids import CANONICAL_PREFIX
from app.core.json.large import Bytes, Chunks
from app.core.json.text import dumps, joined_array
from app.core.ledger.records import TurnRecord
from app.core.neutral.blocks import block_json
from app.service.posting import Post
from app.service.turnform import blocks_bytes, content_hash, response_id

# A call is encoded under this id, which is exchanged for its own when that is known.
_NO_ID = CANONICAL_PREFIX + "-" * 24
_NO_ID_BYTES = _NO_ID.encode()


@dataclass(frozen=True, slots=True)
class NewTurn:
    """`encoded`: its blocks, one by one; empty where they are so long that they go in pieces."""

    draft: Draft
    format: str
    content_hash: bytes
    metadata: bytes
    encoded: tuple[bytes, ...]

    def record(self, turn: Turn, now: datetime) -> TurnRecord:
        """The turn as it is stored at its place, but for its link in the chain."""
        return TurnRecord(
            turn.seq,
            turn.turn_id,
            turn.speaker,
            turn.provider,
            self.format,
            turn.model,
            self.draft.raw,
            self._blocks(turn),
            self.metadata,
            self.content_hash,
            b"",
            now,
            turn.status,
            response_id=response_id(turn),
        )

    def _blocks(self, turn: Turn) -> Bytes:
        blocks = turn.blocks or ()
        if isinstance(self.draft.stream, Chunks):
            return blocks_bytes(blocks, long=True)
        placed = (
            one.replace(_NO_ID_BYTES, block.id.encode(), 1) if isinstance(block, ToolCall) else one
            for one, block in zip(self.encoded, blocks, strict=True)
        )
        return joined_array(list(placed))


def made_ready(post: Post) -> tuple[NewTurn, ...]:
    """The turns of a post."""
    return tuple(
        NewTurn(
            draft,
            post.format,
            content_hash(draft, post.format),
            dumps(draft.all_metadata).encode(),
            () if isinstance(draft.stream, Chunks) else tuple(map(_encoded, draft.blocks)),
        )
        for draft in post.drafts
    )


def _encoded(block: Block) -> bytes:
    if isinstance(block, ToolCall):
        block = ToolCall(block.raw_id, block.name, block.arguments, _NO_ID, block.signature)
    return dumps(block_json(block)).encode()
