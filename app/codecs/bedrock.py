"""AWS Bedrock Converse.

Pairing and order as on Anthropic; blocks are objects with one member; a JSON result is an object;
tools must be declared whenever tool blocks stand in the history (the API's error: "The toolConfig
field must be defined …"). Bytes are shown as base64 text, which is how the wire carries them.
"""

import base64
import re
from collections.abc import Iterator, Sequence

from app.codecs._bedrock_stream import BROKEN_OFF, BedrockGathering
from app.codecs._bedrock_tools import WIRE, read_choice, read_tools, write_tools
from app.codecs._reading import (
    a_list,
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
from app.core.jsontext import Json, JsonObject, dumps
from app.core.media import data_url
from app.core.profile import BOTH, Profile
from app.core.replies import Replies, Reply
from app.core.schemawalk import COMBINATIONS
from app.core.toolrules import ToolRules
from app.core.tools import (
    EMPTY_SCHEMA,
    Tool,
)
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
# botocore's service model of Converse, without `promptVariables`, which are content.
SETTINGS = names(
    "additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig inferenceConfig"
    " modelId outputConfig performanceConfig requestMetadata serviceTier"
)
IDS = Prefixed("tooluse_")

_IMAGES = {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")}
_FILES = {
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
_TYPES = {name: media_type for media_type, name in (_IMAGES | _FILES).items()}
# botocore's service model: S3Uri.
_S3 = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9()\[\]-]+")

TOOLS = ToolRules(
    members=("toolConfig",),
    config="toolConfig",
    object_type=True,
    # As Anthropic, which answers through Bedrock in the same words.
    refused_top=COMBINATIONS,
    keys=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
    none=False,
    parallel=False,
    strict=True,
)


def _own_blocks(blocks: Sequence[Opaque]) -> set[int]:
    """Media in S3, and text for guardrails."""
    return {
        place
        for place, block in enumerate(blocks)
        if block.kind == "guardContent" or _is_in_s3(block)
    }


def _is_in_s3(block: Opaque) -> bool:
    match block.native:
        case {block.kind: {"source": {"s3Location": {"uri": str(uri)}}}}:
            return _S3.fullmatch(uri) is not None
        case _:
            return False


PROFILE = Profile(
    keeps_opaque=_own_blocks,
    results="user",
    system="beside",
    inner_system="user",
    alternate=BOTH,
    first_user=True,
    last_assistant=False,
    calls_last=True,
    pins_blocks=True,
    ids=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    blank_results=False,
    value_results=True,
    error_flag=True,
    tools_declared=True,
    wire=WIRE,
    thinking=True,
    issuers=frozenset({"bedrock"}),
    foreign_loops=False,
    images=frozenset(_IMAGES),
    files=frozenset(_FILES),
    # Converse: an image has at most 3.75 MB and 8,000 pixels a side.
    image_bytes=3_932_160,
    image_pixels=8_000,
    result_media=True,
)


def parse(posted: Posted) -> list[Draft]:
    drafts = [_draft(members, text, at) for at, members, text in elements(posted, "messages")]
    system = posted.members.get("system")
    if system is None:
        return drafts
    texts = posted.texts["system"]
    if isinstance(system, str):
        return [Draft("system", (Text(system),), payload=texts[0], pointer="/system"), *drafts]
    blocks = tuple(_blocks(posted.members, "system", ""))
    payload = f"[{','.join(texts)}]"
    return [Draft("system", blocks, payload=payload, pointer="/system"), *drafts]


def _read_reply(response: JsonObject, at: str) -> Reply:
    """A `ConverseResponse`."""
    output = an_object(response.get("output"), f"{at}/output")
    where = f"{at}/output/message"
    message = an_object(output.get("message"), where)
    return reply(
        _blocks(message, "content", where),
        id=_request_id(response),
        model=response.get("modelId"),
        stop_reason=response.get("stopReason"),
        usage=response.get("usage"),
        error=response.get("error"),
    )


def _request_id(response: JsonObject) -> Json:
    about = response.get("ResponseMetadata")
    return about.get("RequestId") if isinstance(about, dict) else None


def _used(usage: JsonObject) -> Usage:
    """`TokenUsage`. What is read from a cache or written to one is counted apart from the input."""
    cached = tokens(usage, "cacheReadInputTokens")
    fresh = tokens(usage, "inputTokens") + tokens(usage, "cacheWriteInputTokens")
    return Usage(fresh + cached, tokens(usage, "outputTokens"), cached)


REPLIES = Replies(_read_reply, BedrockGathering, _used)


def _draft(members: JsonObject, text: str, at: str) -> Draft:
    role = a_text(members, "role", at)
    blocks = tuple(_blocks(members, "content", at))
    speaker: Speaker
    match role:
        case "user":
            has_results = any(isinstance(block, ToolResult) for block in blocks)
            speaker = "tool" if has_results else "human"
        case "assistant":
            speaker = "ai"
        case _:
            raise RuleBroken(
                f"The role {role!r} is unknown; known: user, assistant.", pointer=f"{at}/role"
            )
    return Draft(speaker, blocks, payload=text, pointer=at)


def _blocks(members: JsonObject, key: str, at: str) -> Iterator[Block]:
    for place, value in enumerate(a_list(members, key, at)):
        where = f"{at}/{key}/{place}"
        block = an_object(value, where)
        # Marks for the prompt cache are transport and no content.
        if "cachePoint" not in block:
            served = _served(block) if members.get("role") == "assistant" else None
            yield served or _block(block, where)


def _served(members: JsonObject) -> Opaque | None:
    """Calls and results of tools that the provider runs itself: only these say their type."""
    for key, kind in (("toolUse", "server_tool"), ("toolResult", "server_tool_result")):
        if isinstance(inner := members.get(key), dict) and inner.get("type") is not None:
            return Opaque(kind, members, WIRE)
    return None


def _block(members: JsonObject, at: str) -> Block:
    if isinstance(text := members.get("text"), str):
        return Text(text)
    if isinstance(use := members.get("toolUse"), dict):
        name = maybe_text(use, "name", at) or ""
        return ToolCall(maybe_text(use, "toolUseId", at), name, arguments_text(use.get("input")))
    if isinstance(result := members.get("toolResult"), dict):
        return _result(result, f"{at}/toolResult")
    if isinstance(cited := members.get("citationsContent"), dict):
        where = f"{at}/citationsContent"
        return Text("".join(_texts(cited, where)))
    if isinstance(reasoning := members.get("reasoningContent"), dict):
        if isinstance(broken := reasoning.get(BROKEN_OFF), str):
            return Thinking(broken)
        inner = reasoning.get("reasoningText")
        said = inner.get("text") if isinstance(inner, dict) else ""
        return Thinking(said if isinstance(said, str) else "", members, WIRE)
    return _media(members)


def _texts(cited: JsonObject, at: str) -> Iterator[str]:
    """What was said; what it rests on stands in the payload."""
    for place, value in enumerate(a_list(cited, "content", at)):
        if isinstance(text := an_object(value, f"{at}/content/{place}").get("text"), str):
            yield text


def _media(members: JsonObject) -> Part:
    for kind in ("image", "document"):
        if isinstance(media := members.get(kind), dict):
            source = media.get("source")
            data = source.get("bytes") if isinstance(source, dict) else None
            media_type = _TYPES.get(str(media.get("format")))
            if isinstance(data, str) and media_type:
                url = f"data:{media_type};base64,{data}"
                return Image(url) if kind == "image" else File(url, str(media.get("name", "")))
    return Opaque(next(iter(members), "empty"), members, WIRE)


def _result(members: JsonObject, at: str) -> ToolResult:
    raw_id = maybe_text(members, "toolUseId", at)
    status = "error" if members.get("status") == "error" else "ok"
    content = a_list(members, "content", at)
    if len(content) == 1 and isinstance(only := content[0], dict):
        for key in ("json", "text"):
            if key in only:
                return ToolResult(raw_id, result=only[key], status=status)  # type: ignore[arg-type]
    parts: list[Part] = []
    for place, value in enumerate(content):
        block = an_object(value, f"{at}/content/{place}")
        if isinstance(text := block.get("text"), str):
            parts.append(Text(text))
        elif "json" in block:
            parts.append(Text(dumps(block["json"])))
        else:
            parts.append(_media(block))
    return ToolResult(raw_id, parts=tuple(parts), status=status)  # type: ignore[arg-type]


def render(view: View) -> JsonObject:
    request: JsonObject = {}
    if view.system:
        request["system"] = [{"text": text.text} for text in view.system]
    request["messages"] = [_message(message) for message in view.messages]
    stubs = [Tool(name, None, EMPTY_SCHEMA) for name in view.tools]
    return request | write_tools(stubs, None)


def _message(message: Message) -> JsonObject:
    content: list[Json] = [_written(content) for content in message.contents()]
    return {"role": message.role, "content": content}


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
        case AnswerShown():
            shown: JsonObject = {"toolUseId": content.id}
            if isinstance(content.value, dict):
                shown["content"] = [{"json": content.value}]
            else:
                shown["content"] = [_written(part) for part in content.parts]
            if content.failed:
                shown["status"] = "error"
            return {"toolResult": shown}


def _written_media(content: Image | File) -> JsonObject:
    held = data_url(content.url)
    assert held is not None
    source: JsonObject = {"bytes": base64.b64encode(held.content).decode()}
    if isinstance(content, Image):
        return {"image": {"format": _IMAGES[held.media_type], "source": source}}
    name = _NOT_IN_A_NAME.sub(" ", content.name or "").strip()[:200] or "document"
    return {"document": {"format": _FILES[held.media_type], "name": name, "source": source}}
