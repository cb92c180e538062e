"""Anthropic's messages, read and written."""

import base64
from collections.abc import Sequence
from typing import assert_never

from app.codecs.anthropic.blocks import blocks
from app.codecs.shared import reading
from app.codecs.shared.calls import calls
from app.core.conversation import Block, Draft, File, Image, Opaque, Speaker, Text, Thinking
from app.core.errors import RuleBroken
from app.core.json.fields import Fields
from app.core.json.text import Json, JsonObject
from app.core.render.media import data_url
from app.core.render.view import CallShown, Content, ResultShown, View
from app.core.wire.codec import Posted
from app.core.wire.responses import Reply
from app.core.wire.usage import Usage, tokens

_SPEAKERS: dict[str, Speaker] = {"user": "human", "assistant": "ai", "system": "system"}
# What the API says of a message of its own; such a message may be posted back as it came.
_ABOUT = ("id", "type", "model", "stop_reason", "stop_sequence", "usage", "container")


def parse(posted: Posted) -> list[Draft]:
    drafts = [_draft(fields, text) for fields, text in reading.elements(posted, "messages")]
    return [*reading.beside(posted, "system", blocks), *drafts]


def read_reply(response: JsonObject, at: str) -> Reply:
    """A `Message`."""
    if not isinstance(response.get("content"), list):
        raise RuleBroken("`content` is required and must be a list.", pointer=f"{at}/content")
    fields = Fields(response, at)
    said = list(blocks(fields, "content"))
    # What the API says about its response is no content; only what stands in the blocks is.
    fields.passed_over(*response)
    stop_reason = response.get("stop_reason")
    return reading.reply(
        said, reading.left_over(fields, said, "content"), **reading.facts_of(response, stop_reason)
    )


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


def render(view: View) -> JsonObject:
    request: JsonObject = {}
    if len(view.system) == 1:
        request["system"] = view.system[0].text
    elif view.system:
        request["system"] = [{"type": "text", "text": text.text} for text in view.system]
    request["messages"] = [
        {"role": message.role, "content": _text_or_blocks(message.contents())}
        for message in view.messages
    ]
    return request


def _draft(fields: Fields, text: str) -> Draft:
    speaker = reading.speaker_of(fields, _SPEAKERS)
    fields.passed_over(*_ABOUT)
    said: list[Block] = list(blocks(fields, "content"))
    if speaker == "ai":
        # A chat message under this name is a slip that many make; what it calls is plain.
        said += calls(fields)
    return reading.draft(fields, reading.answering(speaker, said), said, text, "content")


def _text_or_blocks(contents: Sequence[Content]) -> Json:
    if len(contents) == 1 and isinstance(contents[0], Text):
        return contents[0].text
    return [_written(content) for content in contents]


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
            result["content"] = _text_or_blocks(content.parts)
            return result | ({"is_error": True} if content.failed else {})
        case _:
            assert_never(content)


def _written_media(content: Image | File) -> JsonObject:
    shown: JsonObject = {"type": "image" if isinstance(content, Image) else "document"}
    held = data_url(content.url)
    if held is None:
        shown["source"] = {"type": "url", "url": content.url}
    elif held.media_type == "text/plain":
        text = base64.b64decode(held.data).decode("utf-8", "replace")
        shown["source"] = {"type": "text", "media_type": "text/plain", "data": text}
    else:
        shown["source"] = {"type": "base64", "media_type": held.media_type, "data": held.data}
    if isinstance(content, File) and content.name:
        shown["title"] = content.name
    return shown
