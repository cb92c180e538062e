"""Google Gemini: contents with parts, roles `user` and `model`.

A call turn comes right behind a user or response turn, all responses of it stand in one turn of
their own, in the same number and order and under the same names. Thought signatures stay on their
parts; a call of another model carries the bypass value that Google documents, where Gemini 3 and
later would refuse it otherwise.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from app.codecs._gemini_names import member, snake, snake_keys
from app.codecs._gemini_stream import GeminiGathering
from app.codecs._gemini_tools import WIRE, read_choice, read_tools, write_tools
from app.codecs._reading import (
    a_list,
    a_text,
    an_object,
    arguments_text,
    elements,
    first_of,
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
    Remark,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.errors import RuleBroken
from app.core.jsontext import Json, JsonObject, dumps
from app.core.media import data_url, plain_base64
from app.core.profile import BOTH, Profile
from app.core.replies import Replies, Reply
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

KEYS = ("system_instruction", "systemInstruction", "messages", "contents")
LIST = "contents"
# What google-genai writes beside the contents of a request; proto3's JSON takes both spellings.
SETTINGS = names(
    "cachedContent continuationToken generationConfig labels modelArmorConfig outputConfig"
    " safetySettings serviceTier store"
    " cached_content continuation_token generation_config model_armor_config output_config"
    " safety_settings service_tier"
)
IDS = Prefixed("hist_tool_")
BYPASS = "skip_thought_signature_validator"

_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp"})
_EXECUTED = ("executable_code", "code_execution_result")


def _code_pairs(blocks: Sequence[Opaque]) -> set[int]:
    """Code that Gemini ran goes back with its result, or not at all."""
    kept: set[int] = set()
    for place, (code, result) in enumerate(pairwise(blocks)):
        if (code.kind, result.kind) == ("server_tool", "server_tool_result"):
            kept |= {place, place + 1}
    return kept


TOOLS = ToolRules(
    members=("tools", "tool_config", "toolConfig"),
    object_type=True,
    # Google's documentation of JSON Schema for Gemini: only what begins with $ beside a $ref.
    lone_refs=True,
    parallel=False,
    allowed=True,
    # The mode of function calling says nothing of google_search and its like.
    chooses_hosted=False,
)
PROFILE = Profile(
    results="together",
    system="beside",
    inner_system="user",
    alternate=BOTH,
    first_user=True,
    last_assistant=False,
    names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
    value_results=True,
    object_results=True,
    error_flag=True,
    wire=WIRE,
    thinking=True,
    issuers=frozenset({"gemini", "google", "vertex"}),
    keeps_opaque=_code_pairs,
    signature=BYPASS,
    # Up to 2.5 nothing is checked, and an unknown signature might be.
    signed_models=re.compile(r"(?!.*gemini-[12]\b).*", re.DOTALL),
    images=_IMAGES,
    files=frozenset({"application/pdf", "text/plain", "url"}),
)


def parse(posted: Posted) -> list[Draft]:
    key = "contents" if "contents" in posted.members else "messages"
    drafts = [_draft(members, text, at) for at, members, text in elements(posted, key)]
    for name in ("system_instruction", "systemInstruction"):
        system = posted.members.get(name)
        if system is not None:
            text = ",".join(posted.texts[name])
            blocks = (Text(system),) if isinstance(system, str) else _parts(system, f"/{name}")
            payload = f"[{text}]" if isinstance(system, list) else text
            return [Draft("system", tuple(blocks), payload=payload, pointer=f"/{name}"), *drafts]
    return drafts


def _read_reply(response: JsonObject, at: str) -> Reply:
    """A `GenerateContentResponse`: its first candidate. A blocked prompt has none."""
    feedback = member(response, "prompt_feedback")
    blocked = member(feedback, "block_reason") if isinstance(feedback, dict) else None
    candidate: JsonObject = {}
    notes: tuple[Remark, ...] = ()
    if blocked is None or a_list(response, "candidates", at):
        candidate, notes = first_of(response, "candidates", at)
    content = candidate.get("content")
    where = f"{at}/candidates/0/content"
    stop = member(candidate, "finish_reason")
    return reply(
        () if content is None else _parts(_as_asked(content, where), where),
        notes,
        id=member(response, "response_id"),
        model=member(response, "model_version"),
        stop_reason=stop if stop is not None else blocked,
        usage=snake_keys(member(response, "usage_metadata")),
        error=response.get("error"),
    )


def _as_asked(content: Json, at: str) -> JsonObject:
    """Parts as the SDK takes them, whichever way they came: raw, or dumped by the SDK.

    The wire writes camelCase and plain base64; the SDK's dumps snake_case and the URL's base64.
    """
    parts = a_list(an_object(content, at), "parts", at)
    return {"parts": [_part_as_asked(part) for part in parts]}


def _part_as_asked(part: Json) -> Json:
    if not isinstance(part, dict):
        return part
    members: JsonObject = {snake(key): value for key, value in part.items() if value is not None}
    if isinstance(signature := members.get("thought_signature"), str):
        members["thought_signature"] = plain_base64(signature)
    inline = members.get("inline_data")
    if isinstance(inline, dict) and isinstance(data := inline.get("data"), str):
        members["inline_data"] = {**inline, "data": plain_base64(data)}
    return members


def _used(usage: JsonObject) -> Usage:
    """`GenerateContentResponseUsageMetadata`: its total is the sum of these, without the cached,
    which the prompt includes."""
    thoughts = tokens(usage, "thoughts_token_count")
    return Usage(
        tokens(usage, "prompt_token_count") + tokens(usage, "tool_use_prompt_token_count"),
        tokens(usage, "candidates_token_count") + thoughts,
        tokens(usage, "cached_content_token_count"),
        thoughts,
    )


REPLIES = Replies(_read_reply, GeminiGathering, _used, arrays=True)


def _draft(members: JsonObject, text: str, at: str) -> Draft:
    role = maybe_text(members, "role", at) or "user"
    blocks = tuple(_parts(members, at))
    speaker: Speaker
    match role:
        case "user" | "function" | "tool":
            has_results = any(isinstance(block, ToolResult) for block in blocks)
            speaker = "tool" if has_results else "human"
        case "model":
            speaker = "ai"
        case "system":
            speaker = "system"
        case _:
            raise RuleBroken(
                f"The role {role!r} is unknown; known: user, model.", pointer=f"{at}/role"
            )
    return Draft(speaker, blocks, payload=text, pointer=at)


def _parts(holder: Json, at: str) -> Iterator[Block]:
    before: JsonObject | None = None
    for place, value in enumerate(a_list(an_object(holder, at), "parts", at)):
        where = f"{at}/parts/{place}"
        part = an_object(value, where)
        if before is not None and _signs(part, before):
            before = {**before, "thought_signature": member(part, "thought_signature")}
            continue
        if before is not None:
            yield _part(before, f"{at}/parts/{place - 1}")
        before = part
    if before is not None:
        yield _part(before, where)


def _signs(part: JsonObject, before: JsonObject) -> bool:
    """Whether a part only brings the signature of the text before it, as streams end.

    An unstreamed answer has both in one part, and an empty text would be refused.
    """
    return (
        part.get("text") == ""
        and bool(before.get("text"))
        and member(part, "thought_signature") is not None
        and member(before, "thought_signature") is None
        and bool(part.get("thought")) == bool(before.get("thought"))
    )


def _part(members: JsonObject, at: str) -> Block:
    signature = member(members, "thought_signature")
    signed = signature if isinstance(signature, str) else None
    if isinstance(call := member(members, "function_call"), dict):
        given = call.get("args")
        arguments = arguments_text(given if given is not None else {})
        name = maybe_text(call, "name", at) or ""
        return ToolCall(maybe_text(call, "id", at), name, arguments, signature=signed)
    if isinstance(response := member(members, "function_response"), dict):
        return _result(response, at)
    if isinstance(text := members.get("text"), str):
        if not members.get("thought"):
            return Text(text, signed)
        # No empty text is taken back, so a thought without words stays here.
        return Thinking(text, members if text else None, WIRE)
    if isinstance(inline := member(members, "inline_data"), dict):
        kind = str(member(inline, "mime_type") or "application/octet-stream")
        url = f"data:{kind};base64,{a_text(inline, 'data', at)}"
        return Image(url) if kind.startswith("image/") else File(url)
    if isinstance(file := member(members, "file_data"), dict):
        uri = member(file, "file_uri")
        media_type = member(file, "mime_type")
        if isinstance(uri, str):
            return File(uri, media_type=media_type if isinstance(media_type, str) else None)
    for place, name in enumerate(_EXECUTED):
        if member(members, name) is not None:
            return Opaque("server_tool_result" if place else "server_tool", members, WIRE)
    return Opaque(next(iter(members), "empty"), members, WIRE)


def _result(members: JsonObject, at: str) -> ToolResult:
    response = members.get("response")
    raw_id = maybe_text(members, "id", at)
    name = maybe_text(members, "name", at)
    if isinstance(response, dict) and list(response) == ["result"]:
        return ToolResult(raw_id, result=response["result"], name=name)
    if isinstance(response, dict) and list(response) == ["error"]:
        error = response["error"]
        text = error if isinstance(error, str) else dumps(error)
        return ToolResult(raw_id, status="error", error=text, name=name)
    return ToolResult(raw_id, result=response, name=name)


def render(view: View) -> JsonObject:
    request: JsonObject = {}
    if view.system:
        request["system_instruction"] = {"parts": [{"text": text.text} for text in view.system]}
    request["contents"] = [_content(message) for message in view.messages]
    return request


def _content(message: Message) -> JsonObject:
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [_written(content) for content in message.contents()]}


def _written(content: Content) -> Json:
    match content:
        case Text():
            shown: JsonObject = {"text": content.text}
            if content.signature:
                shown["thought_signature"] = content.signature
            return shown
        case Image() | File():
            return _written_media(content)
        case Thinking() | Opaque():
            return content.native
        case CallShown():
            shown = {
                "function_call": {"id": content.id, "name": content.name, "args": content.value}
            }
            if content.signature:
                shown["thought_signature"] = content.signature
            return shown
        case AnswerShown():
            response: JsonObject = {
                "id": content.id,
                "name": content.name,
                "response": _response(content),
            }
            return {"function_response": response}


def _response(answer: AnswerShown) -> JsonObject:
    if answer.failed:
        return {"error": answer.text}
    if isinstance(answer.value, dict):
        return answer.value
    return {"result": answer.text if answer.value is None else answer.value}


def _written_media(content: Image | File) -> JsonObject:
    held = data_url(content.url)
    if held is not None:
        return {"inline_data": {"mime_type": held.media_type, "data": held.data}}
    media_type = content.media_type if isinstance(content, File) else None
    file: JsonObject = {"file_uri": content.url}
    if media_type:
        file["mime_type"] = media_type
    return {"file_data": file}
