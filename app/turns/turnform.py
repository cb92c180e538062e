"""Turns as bytes and back: what is stored of a turn, and the hash that chains it to the last.

Encoding and hashing are done before the writer's turn comes. What depends on the place (ids, the
link in the chain) is put in afterwards.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from ..formats.neutral.blocks import block, block_json
from ..formats.registry import CODECS
from ..jsontext.plain import loads_stored, read_object
from ..jsontext.reading import value_of
from ..jsontext.writing import (
    array_pieces,
    dumps,
    dumps_pieces,
    dumps_sorted,
    in_order,
    joined_array,
)
from ..ledger.records import TurnRecord
from ..model.conversation import SPEAKERS, UNREADABLE, Block, Draft, Remark, Text, ToolCall, Turn
from ..model.errors import TurnkeepError
from ..model.ids import CANONICAL_PREFIX
from ..model.json_values import Json, JsonObject
from ..model.large import PIECE, Bytes, Chunks, digest, hashed, whole
from ..model.usage import Usage
from ..model.value import dataclass
from .originals import original_bytes, stored_original

# The first byte of a link in the chain: how it was made.
CHAIN = b"\x01"
# A call is encoded under this id, which is exchanged for its own when that is known.
_NO_ID = CANONICAL_PREFIX + "-" * 24
_NO_ID_BYTES = _NO_ID.encode()


def read_turn(record: TurnRecord) -> Turn:
    """The turn; one whose bytes cannot be read any more has no blocks (None)."""
    return Turn(
        record.seq,
        record.turn_id,
        record.speaker if record.speaker in SPEAKERS else "system",  # type: ignore[arg-type]
        _read_blocks(record.blocks) if record.speaker in SPEAKERS else None,
        record.provider,
        record.model,
        read_object(record.metadata),
        "complete" if record.status == "complete" else "interrupted",
        record.completed_at,
        record.format,
        stored_original(record.originals),
    )


def response_id(turn: Turn) -> str | None:
    """The id that the provider gave to its response, where the turn is one."""
    given = turn.response.get("id")
    return given if isinstance(given, str) and given else None


def _read_blocks(stored: Bytes) -> tuple[Block, ...] | None:
    try:
        value = loads_stored(stored)
        if not isinstance(value, list):
            return None
        return tuple(block(one, f"/{place}") for place, one in enumerate(value))
    except (TurnkeepError, UnicodeDecodeError, RecursionError):
        return None


def content_hash(draft: Draft) -> bytes:
    """What tells a retry from another turn: who said what, however the JSON was spaced."""
    facts: list[Json] = [draft.provider, draft.format, draft.model, draft.metadata]
    if draft.facts is None:
        said = value_of(draft.payload)
        if len(draft.payload) > PIECE:
            return _hash_of_long([*facts, said])
        return hashlib.sha256(dumps_sorted([*facts, said]).encode()).digest()
    # The same response, whole or as a stream, whatever was said about it.
    counted = hashlib.sha256(dumps_sorted([*facts, draft.status]).encode())
    blocks = map(block_json, map(_unphased, draft.blocks))
    hashed((piece for one in blocks for piece in dumps_pieces(one)), counted)
    if any(remark.code == UNREADABLE for remark in draft.notes):
        # What it says stands in its bytes alone: other bytes are another turn.
        counted.update(digest(draft.raw).encode())
    return counted.digest()


def _unphased(block: Block) -> Block:
    """The same text without its phase, which earlier releases did not read."""
    return replace(block, phase=None) if isinstance(block, Text) and block.phase else block


def _hash_of_long(value: Json) -> bytes:
    """The sha256 of `dumps_sorted`, for which the lock of Python is held piece by piece."""
    counted = hashlib.sha256()
    hashed(dumps_pieces(in_order(value)), counted)
    return counted.digest()


def content_hashes(record: TurnRecord) -> Iterator[bytes]:
    """The content hashes that a post may have had which became this turn: a message, a response,
    or a stream that could not be read."""
    turn = read_turn(record)
    blocks = (
        replace(block, id="") if isinstance(block, ToolCall) else block
        for block in turn.blocks or ()
    )
    raw = whole(record.payload)
    said = Draft(
        turn.speaker,
        tuple(blocks),
        provider=turn.provider,
        model=turn.model,
        format=record.format,
    )
    # A stream is no JSON, and not even text in some formats.
    with suppress(TurnkeepError, RecursionError, UnicodeDecodeError):
        text = raw.decode("utf-8", "surrogatepass")
        yield content_hash(replace(said, payload=text, metadata=turn.metadata))
    metadata: JsonObject = {key: one for key, one in turn.metadata.items() if key != "response"}
    response = replace(said, metadata=metadata, facts={}, stream=raw, status=turn.status)
    yield content_hash(response)
    unread = (Remark(UNREADABLE, ""),)
    yield content_hash(replace(response, notes=unread))


def chain_hash(before: bytes, record: TurnRecord, revision: int | None = None) -> bytes:
    """The hash of a turn, or of a later version of one, and of all that was stored before it.

    It begins with a byte that says how it was made.
    """
    return CHAIN + hashlib.sha256(CHAIN + _link(before, record, revision)).digest()


def is_linked(before: bytes, record: TurnRecord, revision: int | None = None) -> bool:
    """Whether the turn carries the hash that it must have behind this one."""
    if record.hash.startswith(CHAIN) and len(record.hash) > hashlib.sha256().digest_size:
        return chain_hash(before, record, revision) == record.hash
    # Up to version 0.1 the hash was bare.
    return hashlib.sha256(_link(before, record, revision)).digest() == record.hash


def _link(before: bytes, record: TurnRecord, revision: int | None) -> bytes:
    facts: list[Json] = [
        record.seq,
        record.turn_id,
        record.speaker,
        record.provider,
        record.format,
        record.model,
        *(digest(part) for part in (record.payload, record.blocks, record.metadata)),
    ]
    if record.status != "complete" or revision is not None:
        facts += [record.status, revision]
    if record.originals:
        facts.append(digest(record.originals))
    return before + dumps(facts).encode()


def usage_of(wire: str, turn: Turn) -> Usage | None:
    """What a turn took that was posted in this format; None where the provider said nothing. Its
    own count stays as it came; this one is computed."""
    usage = turn.response.get("usage")
    if not isinstance(usage, dict):
        return None
    # An import is neutral; its usage is still in the words of the provider that counted.
    for name in (wire, turn.provider):
        if name in CODECS and (replies := CODECS[name].replies):
            used = replies.usage(usage)
            return used if used != Usage() else None
    return None


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn that is to be stored, with all that can be computed before it has a place.

    `encoded`: its blocks, one by one; empty where they are so long that they go in pieces.
    `originals`: what they do not say of the posted messages.
    """

    draft: Draft
    content_hash: bytes
    metadata: bytes
    encoded: tuple[bytes, ...]
    originals: bytes = b""

    def with_blocks(self, blocks: tuple[Block, ...]) -> "NewTurn":
        """The turn of the same message, of which something else is understood."""
        draft = replace(self.draft, blocks=blocks)
        return replace(self, draft=draft, encoded=_all_encoded(draft))

    def record(self, turn: Turn, now: datetime) -> TurnRecord:
        """The turn as it is stored at its place, but for its link in the chain."""
        raw = self.draft.raw
        originals: Bytes = self.originals
        if originals and isinstance(raw, Chunks):
            originals = Chunks(lambda: iter((self.originals,)))
        return TurnRecord(
            turn.seq,
            turn.turn_id,
            turn.speaker,
            turn.provider,
            self.draft.format,
            turn.model,
            raw,
            self._blocks(turn, in_pieces=isinstance(raw, Chunks)),
            self.metadata,
            self.content_hash,
            b"",
            now,
            turn.status,
            originals,
            response_id=response_id(turn),
        )

    def _blocks(self, turn: Turn, *, in_pieces: bool) -> Bytes:
        blocks = turn.blocks or ()
        if isinstance(self.draft.stream, Chunks):
            return Chunks(lambda: dumps_pieces([block_json(one) for one in blocks]))
        placed = [
            one.replace(_NO_ID_BYTES, block.id.encode(), 1) if isinstance(block, ToolCall) else one
            for one, block in zip(self.encoded, blocks, strict=True)
        ]
        return Chunks(partial(array_pieces, placed)) if in_pieces else joined_array(placed)


def made_ready(drafts: Iterable[Draft]) -> tuple[NewTurn, ...]:
    """Turns that are ready for the writer."""
    return tuple(
        NewTurn(
            draft,
            content_hash(draft),
            dumps(draft.all_metadata).encode(),
            () if isinstance(draft.stream, Chunks) else _all_encoded(draft),
            original_bytes(draft.original),
        )
        for draft in drafts
    )


def _all_encoded(draft: Draft) -> tuple[bytes, ...]:
    long = len(draft.payload) > PIECE
    return tuple(_encoded(block, long=long) for block in draft.blocks)


def _encoded(block: Block, *, long: bool) -> bytes:
    if isinstance(block, ToolCall):
        block = ToolCall(
            block.raw_id, block.name, block.arguments, _NO_ID, block.signature, block.custom
        )
    if long:
        return b"".join(dumps_pieces(block_json(block)))
    return dumps(block_json(block)).encode()
