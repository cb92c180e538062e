"""Messages of Converse, read and written."""

import base64
import re
from collections.abc import Iterator, Sequence

from ...jsontext.fields import Fields, filled
from ...jsontext.writing import dumps
from ...model.conversation import (
    Block,
    Draft,
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
from ...model.json_values import Json, JsonObject, Texts
from ...model.media import data_url
from ...model.usage import Usage, tokens
from ..shared import home, reading
from ..shared.responses import Reply
from ..shared.view import CallShown, Content, Message, ResultShown, Shown
from .stream import BROKEN_OFF
from .tools import WIRE

# botocore's service model: what a ContentBlock may be, beside what is read here.
_KINDS = reading.names("video audio guardContent searchResult toolAddition toolRemoval")
_SOURCES = ("s3Location", "text", "content")
IMAGES = {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")}
FILES = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
_TYPES = {name: media_type for media_type, name in (IMAGES | FILES).items()}
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9()\[\]-]+")


def parse(members: JsonObject, texts: Texts) -> list[Draft]:
    drafts = [_draft(fields, text) for fields, text in reading.elements(members, texts, "messages")]
    return [*reading.beside(members, texts, "system", _system), *drafts]


def _system(fields: Fields, name: str) -> Iterator[Block]:
    text = fields.text_if(name)
    return _blocks(fields, name) if text is None else iter((Text(text),))


def read_reply(response: JsonObject, at: str) -> Reply:
    """A `ConverseResponse`."""
    message = Fields(response, at).inner("output").inner("message")
    message.passed_over("role")
    blocks = list(_blocks(message, "content"))
    about = response.get("ResponseMetadata")
    return reading.reply(
        response,
        blocks,
        reading.left_over(message, blocks, "content"),
        [(message.at, {**message.members, "role": "assistant"})],
        id=about.get("RequestId") if isinstance(about, dict) else None,
        model=response.get("modelId"),
        stop_reason=response.get("stopReason"),
    )


def used(usage: JsonObject) -> Usage:
    """`TokenUsage`. What is read from a cache or written to one is counted apart from the input."""
    cached = tokens(usage, "cacheReadInputTokens")
    fresh = tokens(usage, "inputTokens") + tokens(usage, "cacheWriteInputTokens")
    return Usage(fresh + cached, tokens(usage, "outputTokens"), cached)


def _draft(fields: Fields, text: str) -> Draft:
    speaker = reading.speaker_of(fields, ("user", "assistant", "system"))
    blocks = list(_blocks(fields, "content"))
    return reading.draft(fields, reading.answering(speaker, blocks), blocks, text, "content")


def _blocks(fields: Fields, name: str) -> Iterator[Block]:
    for block in fields.each(name):
        # Marks for the prompt cache are transport and no content.
        if "cachePoint" in block:
            block.passed_over("cachePoint")
            continue
        served = _served(block) if fields.members.get("role") == "assistant" else None
        yield reading.sourced(served or _block(block), block)


def _served(block: Fields) -> Opaque | None:
    """Calls and results of tools that the provider runs itself: only these say their type."""
    for key, kind in (("toolUse", "server_tool"), ("toolResult", "server_tool_result")):
        inner = block.members.get(key)
        if isinstance(inner, dict) and inner.get("type") is not None:
            return Opaque(kind, block.whole(), WIRE)
    return None


def _block(block: Fields) -> Block:
    match block.members:
        case {"text": str(text)}:
            block.get("text")
            return Text(text)
        case {"toolUse": dict()}:
            use = block.inner("toolUse")
            name = use.maybe_text("name") or ""
            return ToolCall(
                use.maybe_text("toolUseId"), name, reading.arguments_text(use.get("input"))
            )
        case {"toolResult": dict()}:
            return _result(block.inner("toolResult"))
        case {"citationsContent": dict()}:
            # What was said; what it rests on stands in the payload, and a note says so.
            cited = block.inner("citationsContent")
            return Text("".join(one.maybe_text("text") or "" for one in cited.each("content")))
        case {"reasoningContent": dict(reasoning)}:
            return _thinking(block, reasoning)
        case _:
            return _media(block)


def _thinking(block: Fields, reasoning: JsonObject) -> Thinking:
    if isinstance(broken := reasoning.get(BROKEN_OFF), str):
        block.whole()
        return Thinking(broken)
    match reasoning:
        case {"reasoningText": {"text": str(text)}}:
            return Thinking(text, block.whole(), WIRE)
        case {"redactedContent": _}:
            return Thinking("", block.whole(), WIRE)
        case _:
            return Thinking("", block.members, WIRE)


def _media(block: Fields) -> Part:
    """An image or document whose bytes are here; everything else is kept as it is."""
    kind = next(iter(block.members), "empty")
    if kind not in ("image", "document"):
        return Opaque(kind, block.whole() if kind in _KINDS else block.members, WIRE)
    media = block.inner(kind)
    source = media.inner("source")
    form, data = media.members.get("format"), source.members.get("bytes")
    if isinstance(form, str) and form in _TYPES and isinstance(data, str):
        media.passed_over("format")
        source.passed_over("bytes")
        url = f"data:{_TYPES[form]};base64,{data}"
        return Image(url) if kind == "image" else File(url, media.maybe_text("name") or "")
    elsewhere = any(name in source for name in _SOURCES)
    return Opaque(kind, block.whole() if elsewhere else block.members, WIRE)


def _result(fields: Fields) -> ToolResult:
    raw_id = fields.maybe_text("toolUseId")
    status: Status = "error" if fields.get("status") == "error" else "ok"
    blocks = list(fields.each("content"))
    reading.check_named(fields, raw_id, "toolUseId")
    if len(blocks) == 1:
        for key in ("json", "text"):
            if key in blocks[0]:
                return ToolResult(raw_id, result=blocks[0].get(key), status=status)
    return ToolResult(raw_id, parts=tuple(map(_held, blocks)), status=status)


def _held(block: Fields) -> Part:
    """A piece of a result."""
    if (text := block.text_if("text")) is not None:
        return Text(text)
    if "json" in block:
        return Text(dumps(block.get("json")))
    return _media(block)


def write(messages: Sequence[Message]) -> list[Json]:
    return [{"role": one.role, "content": _elements(one.parts)} for one in messages]


def write_system(parts: Sequence[Shown]) -> JsonObject:
    return {"system": _elements(parts)} if parts else {}


def _elements(parts: Sequence[Shown]) -> list[Json]:
    return [*home.elements(parts, _element)]


def _element(part: Shown) -> Json:
    """A block as it was posted, under the id that its call has here; or as it is written."""
    posted, content = home.kept(part), part.content
    match content, posted:
        case _, None:
            return _written(content)
        case (CallShown(), {"toolUse": dict(use)}):
            return {**posted, "toolUse": {**use, "toolUseId": content.id}}
        case (ResultShown(), {"toolResult": dict(result)}):
            return {**posted, "toolResult": {**result, "toolUseId": content.id}}
        case _, {"document": dict(document)}:
            name = str(document.get("name") or "")
            return {**posted, "document": {**document, "name": _named(name)}}
        case _:
            return posted


def _written(content: Content) -> Json:
    match content:
        case Text():
            return {"text": content.text}
        case Image() | File():
            return _written_media(content)
        case Thinking() | Opaque():
            return content.native
        case CallShown():
            return {
                "toolUse": {"toolUseId": content.id, "name": content.name, "input": content.value}
            }
        case ResultShown():
            held: list[Json] = [{"json": content.value}]
            if not isinstance(content.value, dict):
                held = [_written(part) for part in content.parts]
            status = "error" if content.failed else None
            return {"toolResult": filled(toolUseId=content.id, content=held, status=status)}


def _written_media(content: Image | File) -> JsonObject:
    held = data_url(content.url)
    assert held is not None
    source: JsonObject = {"bytes": base64.b64encode(held.content).decode()}
    if isinstance(content, Image):
        return {"image": {"format": IMAGES[held.media_type], "source": source}}
    name = _named(content.name or "")
    return {"document": {"format": FILES[held.media_type], "name": name, "source": source}}


def _named(name: str) -> str:
    """A name that Converse takes for a document."""
    return _NOT_IN_A_NAME.sub(" ", name).strip()[:200] or "document"
