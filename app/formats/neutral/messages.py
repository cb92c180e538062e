"""Turns in the neutral form, read and written."""

from dataclasses import replace

from ...jsontext.fields import Fields, escaped, objects
from ...model.conversation import (
    SPEAKERS,
    TURN_STATUSES,
    Block,
    Draft,
    File,
    Image,
    Original,
    Text,
    ToolCall,
    ToolResult,
)
from ...model.errors import RuleBroken
from ...model.ids import signature_in
from ...model.json_values import Json, JsonObject, Texts
from ...model.telling import missing, named
from ..shared.placeholders import value_text
from ..shared.reading import check_named, draft, elements
from . import blocks as neutral
from .originals import read_original

# What we say of a stored turn beside what was said in it; such a turn may be posted again.
_ABOUT = ("seq", "created_at", "hash", "payload", "payload_text", "earlier", "usage")


def parse(members: JsonObject, texts: Texts) -> list[Draft]:
    key = "turns" if "turns" in members else "messages"
    return [_draft(fields, text) for fields, text in elements(members, texts, key)]


def _draft(fields: Fields, text: str) -> Draft:
    speaker = fields.word("speaker", SPEAKERS)
    fields.passed_over(*_ABOUT)
    turn_id, provider = fields.maybe_text("turn_id"), fields.maybe_text("provider")
    model, metadata = fields.maybe_text("model"), fields.get("metadata")
    status = fields.word("status", TURN_STATUSES) if fields.maybe_text("status") else "complete"
    blocks = _blocks(fields)
    posted_as, original = fields.maybe_text("format"), fields.get("original")
    return replace(
        draft(fields, speaker, blocks, text, "blocks"),  # type: ignore[arg-type]
        turn_id=turn_id,
        provider=provider,
        model=model,
        metadata={} if metadata is None else Fields(metadata, f"{fields.at}/metadata").members,
        status=status,  # type: ignore[arg-type]
        messages=(),
        original=_original(fields, original, posted_as, len(blocks)),
    )


def _original(fields: Fields, given: Json, posted_as: str | None, blocks: int) -> Original | None:
    """How an exported turn was posted before."""
    if given is None:
        return None if posted_as in (None, "neutral") else Original(posted_as)
    original = read_original(given, f"{fields.at}/original")
    if len(original.blocks) not in (0, blocks):
        raise fields.broken("original", "`original` must have one entry for each block.")
    return original


def _blocks(fields: Fields) -> list[Block]:
    """The blocks of a turn; `text` is short for a single block of text."""
    short = fields.maybe_text("text")
    if short is not None and fields.get("blocks") is not None:
        raise fields.broken("text", "`text` and `blocks` are two ways to say it; give one.")
    if short is not None:
        return [Text(short)]
    if "blocks" not in fields:
        raise _without_blocks(fields)
    blocks = [_block(inner) for inner in fields.each("blocks")]
    return _with_media(blocks) if _is_handmade(fields.members) else blocks


def _without_blocks(fields: Fields) -> RuleBroken:
    """Names what stands there instead, if something does."""
    strange = fields.own_unread()
    if not strange:
        return fields.broken("blocks", missing("blocks", "a list"))
    told = f"Content must stand in `blocks`; {named(strange[0])} is not read here."
    return fields.broken(escaped(strange[0]), told)


def _block(fields: Fields) -> Block:
    block = neutral.read_block(fields)
    if isinstance(block, ToolResult):
        fields.passed_over("matched_by")
        check_named(fields, block.call_id or block.raw_id, "call_id")
    if not isinstance(block, ToolCall) or block.signature is not None:
        return block
    return replace(block, signature=signature_in(block.raw_id))


def _is_handmade(members: JsonObject) -> bool:
    """A tool's turn that no export of ours wrote: those say of every result how it was called."""
    exported = any("raw_id" in block for block in objects(members.get("blocks")))
    return members.get("speaker") == "tool" and not exported


def _with_media(blocks: list[Block]) -> list[Block]:
    """In a tool's turn an image or file right behind a result belongs to that result."""
    joined: list[Block] = []
    for block in blocks:
        if isinstance(block, Image | File) and joined and isinstance(joined[-1], ToolResult):
            before = joined[-1]
            parts = before.parts
            if parts is None:
                parts = (Text(value_text(before.result)),)
            joined[-1] = replace(before, result=None, parts=(*parts, block))
        else:
            joined.append(block)
    return joined
