"""Anthropic Messages.

All results of an assistant message stand first in the next user message; roles alternate; the first
message is the user's; no blank text; the system prompt stands beside the messages. Signed thinking
goes back byte for byte, in place, to the model that issued it.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from app.codecs._anthropic_stream import AnthropicGathering
from app.codecs._anthropic_tools import WIRE, read_choice, read_tools, write_tools
from app.codecs._reading import (
    a_text,
    an_object,
    arguments_text,
    elements,
    maybe_text,
    names,
    reply,
)
from app.core.conversation import (
    Block,
    Draft,
    File,
    Image,
    Opaque,
    Part,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.errors import RuleBroken
from app.core.jsontext import Json, JsonObject
from app.core.media import data_url
from app.core.profile import BOTH, Profile
from app.core.replies import Replies, Reply
from app.core.schemawalk import COMBINATIONS
from app.core.toolrules import ToolRules
from app.core.usage import Usage, tokens
from app.core.view import AnswerShown, CallShown, Content, Message, View
from app.core.wire import Posted, Prefixed

__all__ = [
    "IDS",
    "KEYS",
    "LIST",
    "PROFILE",
    "REPLIES",
    "SETTINGS",
    "TOOLS",
    "parse",
    "read_choice",
    "read_tools",
    "render",
    "write_tools",
]

KEYS = ("system", "messages")
LIST = "messages"
# The anthropic SDK's MessageCreateParams, the beta ones too; the last three until 0.125.
SETTINGS = names(
    "betas cache_control compaction container context_management diagnostics fallback_credit_token"
    " fallbacks inference_geo max_tokens mcp_servers output_config service_tier speed"
    " stop_sequences stream thinking thread user_profile_id workspace_id"
    " temperature top_k top_p"
)
IDS = Prefixed("toolu_")

# Blocks of user messages that only this provider reads: files by id, search results.
_OWN = frozenset({"image", "document", "search_result", "container_upload"})
_SERVER_RESULT = re.compile(r".+_tool_result")


def _whole_pairs(blocks: Sequence[Opaque]) -> set[int]:
    """A provider-executed call and its result go back together or not at all."""
    uses: dict[Json, int] = {}
    kept: set[int] = set()
    for place, block in enumerate(blocks):
        native = block.native
        if not isinstance(native, dict):
            continue
        if block.kind in _OWN:
            kept.add(place)
        elif block.kind == "server_tool":
            # An input that broke off is a text here, and refused.
            if isinstance(native.get("input"), dict):
                uses[str(native.get("id"))] = place
        elif (used := uses.pop(str(native.get("tool_use_id")), None)) is not None:
            kept |= {used, place}
    return kept


# The API: "input_schema does not support oneOf, allOf, or anyOf at the top level"; "Property keys
# should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", which only those at the top must.
TOOLS = ToolRules(
    object_type=True,
    refused_top=COMBINATIONS,
    keys=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
    strict=True,
)
PROFILE = Profile(
    results="user",
    system="beside",
    inner_system="user",
    alternate=BOTH,
    first_user=True,
    last_assistant=False,
    calls_last=True,
    pins_blocks=True,
    ids=re.compile(r"[a-zA-Z0-9_-]+"),
    names=re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    blank_results=False,
    error_flag=True,
    wire=WIRE,
    thinking=True,
    issuers=frozenset({"anthropic"}),
    keeps_opaque=_whole_pairs,
    foreign_loops=False,
    images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
    # The API's error: "image exceeds 5 MB maximum … > 5242880 bytes", "… max allowed size: 8000".
    image_bytes=5_242_880,
    image_pixels=8_000,
    files=frozenset({"application/pdf", "text/plain", "url"}),
    result_media=True,
)


def parse(posted: Posted) -> list[Draft]:
    drafts = [_draft(members, text, at) for at, members, text in elements(posted, "messages")]
    system = posted.members.get("system")
    if system is None:
        return drafts
    blocks = tuple(_blocks(system, "/system"))
    texts = posted.texts["system"]
    payload = texts[0] if isinstance(system, str) else f"[{','.join(texts)}]"
    return [Draft("system", blocks, payload=payload, pointer="/system"), *drafts]


def _read_reply(response: JsonObject, at: str) -> Reply:
    """A `Message`."""
    if not isinstance(response.get("content"), list):
        raise RuleBroken("content is a list and has to be given.", pointer=f"{at}/content")
    return reply(
        _blocks(response["content"], f"{at}/content"),
        id=response.get("id"),
        model=response.get("model"),
        stop_reason=response.get("stop_reason"),
        usage=response.get("usage"),
        error=response.get("error"),
    )


def _used(usage: JsonObject) -> Usage:
    """`Usage`. The SDK (`Message.usage`): the whole input is the sum of these three."""
    cached = tokens(usage, "cache_read_input_tokens")
    fresh = tokens(usage, "input_tokens") + tokens(usage, "cache_creation_input_tokens")
    return Usage(
        fresh + cached,
        tokens(usage, "output_tokens"),
        cached,
        tokens(usage, "output_tokens_details", "thinking_tokens"),
    )


REPLIES = Replies(_read_reply, AnthropicGathering, _used)


def render(view: View) -> JsonObject:
    request: JsonObject = {}
    if len(view.system) == 1:
        request["system"] = view.system[0].text
    elif view.system:
        request["system"] = [{"type": "text", "text": text.text} for text in view.system]
    request["messages"] = [_message(message) for message in view.messages]
    return request


def _draft(members: JsonObject, text: str, at: str) -> Draft:
    role = a_text(members, "role", at)
    blocks = tuple(_blocks(members.get("content"), f"{at}/content"))
    speaker: Speaker
    match role:
        case "user":
            has_results = any(isinstance(block, ToolResult) for block in blocks)
            speaker = "tool" if has_results else "human"
        case "assistant":
            speaker = "ai"
        case "system":
            speaker = "system"
        case _:
            raise RuleBroken(
                f"The role {role!r} is unknown; known: user, assistant, system.",
                pointer=f"{at}/role",
            )
    return Draft(speaker, blocks, payload=text, pointer=at)


def _blocks(content: Json, at: str) -> Iterator[Block]:
    match content:
        case None:
            return
        case str():
            if content:
                yield Text(content)
        case list():
            for place, value in enumerate(content):
                yield _block(an_object(value, f"{at}/{place}"), f"{at}/{place}")
        case _:
            raise RuleBroken("content is a text or a list of blocks.", pointer=at)


def _block(members: JsonObject, at: str) -> Block:
    match members.get("type"):
        case "text":
            return Text(a_text(members, "text", at))
        case "image" | "document":
            return _media(members, at)
        case "thinking":
            signed = isinstance(signature := members.get("signature"), str) and signature
            return Thinking(a_text(members, "thinking", at), members if signed else None, WIRE)
        case "redacted_thinking":
            return Thinking("", members, WIRE)
        case "tool_use":
            name = maybe_text(members, "name", at) or ""
            return ToolCall(
                maybe_text(members, "id", at), name, arguments_text(members.get("input"))
            )
        case "tool_result":
            return _result(members, at)
        case "server_tool_use":
            return Opaque("server_tool", members, WIRE)
        case str() as kind:
            is_result = _SERVER_RESULT.fullmatch(kind)
            return Opaque("server_tool_result" if is_result else kind, members, WIRE)
        case _:
            raise RuleBroken("A content block needs a type.", pointer=f"{at}/type")


def _media(members: JsonObject, at: str) -> Part:
    source = an_object(members.get("source"), f"{at}/source")
    is_image = members["type"] == "image"
    match source.get("type"):
        case "base64":
            media_type = a_text(source, "media_type", f"{at}/source")
            url = f"data:{media_type};base64,{a_text(source, 'data', f'{at}/source')}"
        case "text":
            data = a_text(source, "data", f"{at}/source").encode("utf-8", "surrogatepass")
            url = f"data:text/plain;base64,{base64.b64encode(data).decode()}"
        case "url":
            url = a_text(source, "url", f"{at}/source")
        case _:
            return Opaque(str(members["type"]), members, WIRE)
    return Image(url) if is_image else File(url, maybe_text(members, "title", at))


def _result(members: JsonObject, at: str) -> ToolResult:
    content = members.get("content")
    raw_id = maybe_text(members, "tool_use_id", at)
    status = "error" if members.get("is_error") is True else "ok"
    if not isinstance(content, list):
        return ToolResult(raw_id, result=content, status=status)  # type: ignore[arg-type]
    parts: list[Part] = []
    for place, block in enumerate(_blocks(content, f"{at}/content")):
        if isinstance(block, Thinking | ToolCall | ToolResult):
            raise RuleBroken(
                "A result holds text, images and documents.", pointer=f"{at}/content/{place}"
            )
        parts.append(block)
    return ToolResult(raw_id, parts=tuple(parts), status=status)  # type: ignore[arg-type]


def _message(message: Message) -> JsonObject:
    contents = message.contents()
    if len(contents) == 1 and isinstance(contents[0], Text):
        return {"role": message.role, "content": contents[0].text}
    return {"role": message.role, "content": [_written(content) for content in contents]}


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
        case AnswerShown():
            return _written_result(content)
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


def _written_result(answer: AnswerShown) -> JsonObject:
    shown: JsonObject = {"type": "tool_result", "tool_use_id": answer.id}
    if len(answer.parts) == 1 and isinstance(answer.parts[0], Text):
        shown["content"] = answer.parts[0].text
    else:
        shown["content"] = [_written(part) for part in answer.parts]
    if answer.failed:
        shown["is_error"] = True
    return shown
