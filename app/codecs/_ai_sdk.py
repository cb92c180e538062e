"""The messages of Vercel's AI SDK, in all versions: `tool-call` and `tool-result` parts.

Version 4 says `args`, `result` and `isError`; since 5 it is `input` and `output{type, value}`. Both
are read, the stored UI messages of both versions too; what is written is the version's own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from app.codecs._reading import a_text, an_object, elements, maybe_text, names
from app.core.conversation import (
    Block,
    Draft,
    File,
    Image,
    Opaque,
    Part,
    Speaker,
    Status,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.errors import RuleBroken
from app.core.jsontext import Json, JsonObject, dumps
from app.core.media import data_url
from app.core.view import AnswerShown, CallShown, Content, Message, View
from app.core.wire import Posted

KEYS = ("system", "messages")
LIST = "messages"
# What generateText and streamText of ai 4 and 5 take and JSON can say, without `prompt`.
SETTINGS = names(
    "activeTools allowSystemInMessages experimental_activeTools experimental_continueSteps"
    " experimental_output experimental_providerMetadata experimental_telemetry frequencyPenalty"
    " headers includeRawChunks maxOutputTokens maxRetries maxSteps maxTokens presencePenalty"
    " providerOptions seed stopSequences temperature toolCallStreaming topK topP"
)

_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "user": "human",
    "assistant": "ai",
    "tool": "tool",
}
_MEDIA = {
    "media": "application/octet-stream",
    "image-data": "image/png",
    "image-url": "image/png",
    "file-data": "application/octet-stream",
    "file-url": "application/octet-stream",
}
_FINISHED = {"result", "output-available", "output-error", "output-denied"}


@dataclass(frozen=True, slots=True)
class Version:
    """`wire` names the shape of native parts; `v4` chooses the older names."""

    wire: str
    v4: bool


def parse(posted: Posted, version: Version) -> list[Draft]:
    drafts = [
        _draft(members, text, at, version) for at, members, text in elements(posted, "messages")
    ]
    system = maybe_text(posted.members, "system", "")
    if system is None:
        return drafts
    payload = posted.texts["system"][0]
    return [Draft("system", (Text(system),), payload=payload, pointer="/system"), *drafts]


def _draft(members: JsonObject, text: str, at: str, version: Version) -> Draft:
    role = a_text(members, "role", at)
    if role not in _SPEAKERS:
        known = ", ".join(_SPEAKERS)
        raise RuleBroken(f"The role {role!r} is unknown; known: {known}.", pointer=f"{at}/role")
    blocks: list[Block] = []
    content = members.get("parts", members.get("content"))
    key = "parts" if "parts" in members else "content"
    if isinstance(content, str):
        blocks += [Text(content)] if content else []
    elif isinstance(content, list):
        for place, value in enumerate(content):
            where = f"{at}/{key}/{place}"
            blocks.extend(_part(an_object(value, where), where, version))
    elif content is not None:
        raise RuleBroken("content is a text or a list of parts.", pointer=f"{at}/{key}")
    invocations = members.get("toolInvocations")
    if isinstance(invocations, list) and "parts" not in members:
        for place, value in enumerate(invocations):
            where = f"{at}/toolInvocations/{place}"
            blocks.extend(_invocation(an_object(value, where), where))
    return Draft(_SPEAKERS[role], tuple(blocks), payload=text, pointer=at)


def _part(members: JsonObject, at: str, version: Version) -> Iterator[Block]:
    kind = a_text(members, "type", at)
    match kind:
        case "text":
            yield Text(a_text(members, "text", at))
        case "image":
            yield Image(_address(members, "image", "image/png", at))
        case "file":
            data = "data" if "data" in members else "url"
            yield _file(_address(members, data, "application/octet-stream", at), members, at)
        case "reasoning" | "redacted-reasoning":
            said = members.get("text", members.get("reasoning"))
            yield Thinking(said if isinstance(said, str) else "", members, version.wire)
        case "tool-call":
            yield _call(members, at)
        case "tool-result":
            yield _result(members, at)
        case "step-start":
            return
        case "tool-invocation":
            inner = an_object(members.get("toolInvocation"), f"{at}/toolInvocation")
            yield from _invocation(inner, f"{at}/toolInvocation")
        case _ if kind.startswith("tool-") or kind == "dynamic-tool":
            name = maybe_text(members, "toolName", at) or kind.removeprefix("tool-")
            yield from _invocation({**members, "toolName": name}, at)
        case _:
            yield Opaque(kind, members, version.wire)


def _address(members: JsonObject, key: str, otherwise: str, at: str) -> str:
    """A data URL, an address, or bare base64 with its media type beside it."""
    given = a_text(members, key, at)
    if given.startswith(("data:", "http://", "https://")):
        return given
    media_type = maybe_text(members, "mediaType", at) or maybe_text(members, "mimeType", at)
    return f"data:{media_type or otherwise};base64,{given}"


def _file(url: str, members: JsonObject, at: str) -> Image | File:
    media_type = maybe_text(members, "mediaType", at) or maybe_text(members, "mimeType", at)
    if (media_type or url.removeprefix("data:")).startswith("image/"):
        return Image(url)
    return File(url, maybe_text(members, "filename", at), media_type)


def _call(members: JsonObject, at: str) -> ToolCall:
    given = members.get("input", members.get("args"))
    arguments = given if isinstance(given, str) else "" if given is None else dumps(given)
    name = maybe_text(members, "toolName", at) or ""
    return ToolCall(maybe_text(members, "toolCallId", at), name, arguments)


def _result(members: JsonObject, at: str) -> ToolResult:
    raw_id = maybe_text(members, "toolCallId", at)
    name = maybe_text(members, "toolName", at)
    output = members.get("output")
    if "result" in members or not isinstance(output, dict) or "type" not in output:
        value = members.get("result", output)
        status: Status = "error" if members.get("isError") is True else "ok"
        return ToolResult(raw_id, result=value, status=status, name=name)
    status = "error" if str(output["type"]).startswith("error") else "ok"
    if output["type"] == "execution-denied":
        reason = maybe_text(output, "reason", at)
        return ToolResult(raw_id, status="denied", error=reason, name=name)
    if output["type"] == "content" and isinstance(held := output.get("value"), list):
        parts = tuple(_held(an_object(one, at), at) for one in held)
        return ToolResult(raw_id, parts=parts, status=status, name=name)
    return ToolResult(raw_id, result=output.get("value"), status=status, name=name)


def _held(members: JsonObject, at: str) -> Part:
    """A piece of a result's content: text, or media under the names of several versions."""
    kind = a_text(members, "type", at)
    if kind == "text":
        return Text(a_text(members, "text", at))
    for key in ("data", "url"):
        if kind in _MEDIA and isinstance(members.get(key), str):
            return _file(_address(members, key, _MEDIA[kind], at), members, at)
    return Opaque(kind, members)


def _invocation(members: JsonObject, at: str) -> Iterator[Block]:
    """A call of a stored UI message, with its result once there is one."""
    yield _call(members, at)
    state = members.get("state")
    raw_id = maybe_text(members, "toolCallId", at)
    if state not in _FINISHED:
        return
    if state == "output-denied":
        yield ToolResult(raw_id, status="denied")
    elif state == "output-error":
        yield ToolResult(raw_id, status="error", error=maybe_text(members, "errorText", at))
    else:
        yield ToolResult(raw_id, result=members.get("result", members.get("output")))


def render(view: View, version: Version) -> JsonObject:
    request: JsonObject = {}
    if view.system:
        request["system"] = "\n".join(text.text for text in view.system)
    request["messages"] = [_message(message, version) for message in view.messages]
    return request


def _message(message: Message, version: Version) -> JsonObject:
    contents = message.contents()
    texts = [content.text for content in contents if isinstance(content, Text)]
    if len(texts) == len(contents) and (version.v4 or len(texts) == 1):
        return {"role": message.role, "content": "\n".join(texts)}
    parts: list[Json] = [_written(content, version) for content in contents]
    return {"role": message.role, "content": parts}


def _written(content: Content, version: Version) -> Json:
    match content:
        case Text():
            return {"type": "text", "text": content.text}
        case Image():
            return {"type": "image", "image": content.url}
        case File() if (content.media_type or "").startswith("image/"):
            return {"type": "image", "image": content.url}
        case File():
            return _written_file(content, version)
        case Thinking() | Opaque():
            return content.native
        case CallShown():
            return {
                "type": "tool-call",
                "toolCallId": content.id,
                "toolName": content.name,
                "args" if version.v4 else "input": content.value,
            }
        case AnswerShown():
            return _written_result(content, version)


def _written_file(content: File, version: Version) -> JsonObject:
    held = data_url(content.url)
    media_type = held.media_type if held else content.media_type or "application/octet-stream"
    shown: JsonObject = {"type": "file", "data": held.data if held else content.url}
    shown["mimeType" if version.v4 else "mediaType"] = media_type
    if content.name:
        shown["filename"] = content.name
    return shown


def _written_result(answer: AnswerShown, version: Version) -> JsonObject:
    value: Json = answer.text if answer.value is None else answer.value
    shown: JsonObject = {
        "type": "tool-result",
        "toolCallId": answer.id,
        "toolName": answer.name,
    }
    if version.v4:
        shown["result"] = value
        if answer.failed:
            shown["isError"] = True
        return shown
    kind = "text" if isinstance(value, str) else "json"
    shown["output"] = {"type": f"error-{kind}" if answer.failed else kind, "value": value}
    return shown
