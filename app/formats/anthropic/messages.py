"""Anthropic's messages, read and written. Other wires meet its calls and results too."""

import base64
import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from ...jsontext.fields import Fields, filled
from ...model.conversation import (
    Block,
    Draft,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from ...model.errors import RuleBroken
from ...model.json_values import Json, JsonObject, Texts
from ...model.media import data_url
from ...model.usage import Usage, tokens
from ..shared import home, reading
from ..shared.calls import calls
from ..shared.responses import Reply
from ..shared.view import CallShown, Content, Message, ResultShown, Shown
from .tools import WIRE

_ROLES = ("user", "assistant", "system")
# What the API says of a message of its own; such a message may be posted back as it came.
_ABOUT = ("id", "type", "model", "stop_reason", "stop_sequence", "usage", "container")
_SERVER_RESULT = re.compile(r".+_tool_result")


def parse(members: JsonObject, texts: Texts) -> list[Draft]:
    drafts = [_draft(fields, text) for fields, text in reading.elements(members, texts, "messages")]
    return [*reading.beside(members, texts, "system", blocks), *drafts]


def read_reply(response: JsonObject, at: str) -> Reply:
    """A `Message`."""
    if not isinstance(response.get("content"), list):
        raise RuleBroken("`content` is required and must be a list.", pointer=f"{at}/content")
    fields = Fields(response, at)
    said = list(blocks(fields, "content"))
    # What the API says about its response is no content; only what stands in the blocks is.
    fields.passed_over(*response)
    message: JsonObject = {"role": "assistant", "content": response["content"]}
    notes = reading.left_over(fields, said, "content")
    return reading.reply(response, said, notes, [(at, message)])


def used(usage: JsonObject) -> Usage:
    """`Usage`. The SDK (`Message.usage`): the whole input is the sum of these three."""
    cached = tokens(usage, "cache_read_input_tokens")
    fresh = tokens(usage, "input_tokens") + tokens(usage, "cache_creation_input_tokens")
    return Usage(
        fresh + cached,
        tokens(usage, "output_tokens"),
        cached,
        tokens(usage, "output_tokens_details", "thinking_tokens"),
    )


def write(messages: Sequence[Message]) -> list[Json]:
    return [{"role": one.role, "content": _text_or_blocks(one.parts)} for one in messages]


def write_system(parts: Sequence[Shown]) -> JsonObject:
    return {"system": _text_or_blocks(parts)} if parts else {}


def _draft(fields: Fields, text: str) -> Draft:
    speaker = reading.speaker_of(fields, _ROLES)
    fields.passed_over(*_ABOUT)
    said: list[Block] = list(blocks(fields, "content"))
    if speaker == "ai":
        # A chat message under this name is a slip that many make; what it calls is plain.
        said += calls(fields)
    return reading.draft(fields, reading.answering(speaker, said), said, text, "content")


def blocks(fields: Fields, name: str) -> Iterator[Block]:
    """The content under a name: a text, or blocks."""
    return reading.text_or_list(fields, name, lambda one: [_block(one)], "blocks")


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
            return Thinking("", reading.whole(fields), WIRE)
        case "tool_use":
            return call(fields)
        case "tool_result":
            return result(fields)
        case "server_tool_use" | "mcp_tool_use":
            return Opaque("server_tool", reading.whole(fields), WIRE)
        case _:
            is_result = _SERVER_RESULT.fullmatch(kind)
            return Opaque("server_tool_result" if is_result else kind, reading.whole(fields), WIRE)


def _thinking(fields: Fields) -> Thinking:
    text = fields.text("thinking")
    if isinstance(signature := fields.get("signature"), str) and signature:
        return Thinking(text, reading.whole(fields), WIRE)
    return Thinking(text, None, WIRE)


def call(fields: Fields) -> ToolCall:
    """A `tool_use` block."""
    fields.passed_over("type", "cache_control")
    name = fields.maybe_text("name") or ""
    return ToolCall(fields.maybe_text("id"), name, reading.arguments_text(fields.get("input")))


def result(fields: Fields) -> ToolResult:
    """A `tool_result` block."""
    fields.passed_over("type", "cache_control")
    raw_id = fields.maybe_text("tool_use_id")
    failed = fields.get("is_error") is True
    content = fields.get("content")
    parts = tuple(_parts(fields)) if isinstance(content, list) else None
    reading.check_named(fields, raw_id, "tool_use_id")
    value = content if parts is None else None
    return ToolResult(raw_id, value, parts, "error" if failed else "ok")


def _parts(fields: Fields) -> Iterator[Part]:
    for place, block in enumerate(blocks(fields, "content")):
        if isinstance(block, Thinking | ToolCall | ToolResult):
            told = "A result must hold text, images and documents only."
            raise fields.broken(f"content/{place}", told)
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
            return Opaque(kind, reading.whole(fields), WIRE)
    return Image(url) if kind == "image" else File(url, fields.maybe_text("title"))


def _text_or_blocks(parts: Sequence[Shown]) -> Json:
    if len(parts) == 1 and isinstance(parts[0].content, Text) and not home.is_listed(parts[0]):
        return parts[0].content.text
    return [*home.elements(parts, _element)]


def _element(part: Shown) -> Json:
    """A block as it was posted, under the id that its call has here; or as it is written."""
    posted, content = home.kept(part), part.content
    match content:
        case _ if posted is None:
            return _written(content)
        case CallShown():
            return home.with_ids(posted, id=content.id)
        case ResultShown():
            return home.with_ids(posted, tool_use_id=content.id)
        case _:
            return posted


def _written(content: Content) -> Json:
    match content:
        case Text():
            return {"type": "text", "text": content.text}
        case Image() | File():
            return _written_media(content)
        case Thinking() | Opaque():
            return content.native
        case CallShown():
            return {
                "type": "tool_use",
                "id": content.id,
                "name": content.name,
                "input": content.value,
            }
        case ResultShown():
            result: JsonObject = {"type": "tool_result", "tool_use_id": content.id}
            result["content"] = _text_or_blocks([Shown(part, None) for part in content.parts])
            return result | ({"is_error": True} if content.failed else {})
        case _:
            assert_never(content)


def _written_media(content: Image | File) -> JsonObject:
    held = data_url(content.url)
    source: JsonObject = {"type": "url", "url": content.url}
    if held and held.media_type == "text/plain":
        text = held.content.decode("utf-8", "replace")
        source = {"type": "text", "media_type": "text/plain", "data": text}
    elif held:
        source = {"type": "base64", "media_type": held.media_type, "data": held.data}
    if isinstance(content, Image):
        return {"type": "image", "source": source}
    return filled(type="document", source=source, title=content.name or None)
