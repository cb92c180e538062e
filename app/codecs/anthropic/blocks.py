"""Anthropic's content blocks, read. Other wires meet its calls and results too."""

import base64
import re
from collections.abc import Iterator

from app.codecs.anthropic.tools import WIRE
from app.codecs.shared.reading import arguments_text, check_named, text_or_list
from app.core.conversation import (
    Block,
    File,
    Image,
    Opaque,
    Part,
    Status,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.errors import RuleBroken
from app.core.json.fields import Fields

_SERVER_RESULT = re.compile(r".+_tool_result")


def blocks(fields: Fields, name: str) -> Iterator[Block]:
    """The content under a name: a text, or blocks."""
    return text_or_list(fields, name, lambda one: [_block(one)], "blocks")


def _block(fields: Fields) -> Block:
    # A mark for the prompt cache is no content.
    fields.passed_over("cache_control")
    kind = fields.text("type")
    match kind:
        case "text":
            return Text(fields.text("text"))
        case "image" | "document":
            return _media(fields, kind)
        case "thinking":
            return _thinking(fields)
        case "redacted_thinking":
            return Thinking("", fields.whole(), WIRE)
        case "tool_use":
            return call(fields)
        case "tool_result":
            return result(fields)
        case "server_tool_use":
            return Opaque("server_tool", fields.whole(), WIRE)
        case _:
            is_result = _SERVER_RESULT.fullmatch(kind)
            return Opaque("server_tool_result" if is_result else kind, fields.whole(), WIRE)


def _thinking(fields: Fields) -> Thinking:
    text = fields.text("thinking")
    if isinstance(signature := fields.get("signature"), str) and signature:
        return Thinking(text, fields.whole(), WIRE)
    return Thinking(text, None, WIRE)


def call(fields: Fields) -> ToolCall:
    """A `tool_use` block."""
    fields.passed_over("type", "cache_control")
    name = fields.maybe_text("name") or ""
    return ToolCall(fields.maybe_text("id"), name, arguments_text(fields.get("input")))


def result(fields: Fields) -> ToolResult:
    """A `tool_result` block."""
    fields.passed_over("type", "cache_control")
    raw_id = fields.maybe_text("tool_use_id")
    status: Status = "error" if fields.get("is_error") is True else "ok"
    content = fields.get("content")
    parts = tuple(_parts(fields)) if isinstance(content, list) else None
    check_named(fields, raw_id, "tool_use_id")
    return ToolResult(raw_id, None if parts is not None else content, parts, status)


def _parts(fields: Fields) -> Iterator[Part]:
    for place, block in enumerate(blocks(fields, "content")):
        if isinstance(block, Thinking | ToolCall | ToolResult):
            raise RuleBroken(
                "A result must hold text, images and documents only.",
                pointer=f"{fields.at}/content/{place}",
            )
        yield block


def _media(fields: Fields, kind: str) -> Part:
    source = fields.inner("source")
    match source.text("type"):
        case "base64":
            url = f"data:{source.text('media_type')};base64,{source.text('data')}"
        case "text":
            source.passed_over("media_type")
            data = source.text("data").encode("utf-8", "surrogatepass")
            url = f"data:text/plain;base64,{base64.b64encode(data).decode()}"
        case "url":
            url = source.text("url")
        case _:
            return Opaque(kind, fields.whole(), WIRE)
    return Image(url) if kind == "image" else File(url, fields.maybe_text("title"))
