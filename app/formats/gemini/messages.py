"""Gemini's contents, read and written."""

from collections.abc import Iterator, Sequence

from ...jsontext.fields import Fields, filled
from ...jsontext.writing import dumps
from ...model.conversation import (
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
from ...model.json_values import Json, JsonObject, Texts
from ...model.media import data_url, plain_base64
from ...model.telling import one_of
from ...model.usage import Usage, tokens
from ..shared import home, reading
from ..shared.placeholders import value_text
from ..shared.responses import Reply
from ..shared.view import CallShown, Content, Message, ResultShown, Shown
from .spelling import CANDIDATE, both, member, snake, snake_keys
from .tools import WIRE

_EXECUTED = ("executable_code", "code_execution_result")
# google-genai's Part: kinds that are kept as they are.
_KINDS = frozenset({"tool_call", "tool_response"})
_SPEAKERS: dict[str, Speaker] = {
    "user": "human",
    "function": "human",
    "tool": "human",
    "model": "ai",
    "system": "system",
}


def parse(members: JsonObject, texts: Texts) -> list[Draft]:
    key = "contents" if "contents" in members else "messages"
    drafts = [_draft(fields, text) for fields, text in reading.elements(members, texts, key)]
    name = "system_instruction"
    if members.get(name) is None:
        name = "systemInstruction"
    return [*reading.beside(members, texts, name, _system), *drafts]


def _system(fields: Fields, name: str) -> Iterator[Block]:
    match fields.members[name]:
        case str(text):
            fields.get(name)
            yield Text(text, source=f"{fields.at}/{name}")
        case list():
            # The SDK takes parts, or texts, without an object around them.
            yield from _parts(fields, name)
        case _:
            inner = fields.inner(name)
            inner.passed_over("role")
            yield from _parts(inner, "parts")


def read_reply(response: JsonObject, at: str) -> Reply:
    """A `GenerateContentResponse`: its first candidate. A blocked prompt has none."""
    feedback = member(response, "prompt_feedback")
    blocked = member(feedback, "block_reason") if isinstance(feedback, dict) else None
    fields = Fields(response, at)
    candidate = Fields({}, at)
    notes: tuple[Remark, ...] = ()
    if blocked is None or fields.items("candidates"):
        candidate, notes = reading.first_of(fields, "candidates")
    said: list[Block] = []
    messages: list[tuple[str, JsonObject]] = []
    if candidate.get("content") is not None:
        content = candidate.below(_as_asked(candidate.inner("content")), "content")
        said = list(_parts(content, "parts"))
        messages = [(content.at, {**content.members, "role": "model"})]
        notes = (*notes, *reading.left_over(content, said, "parts"))
    candidate.passed_over(*(name for name in candidate.members if snake(name) in CANDIDATE))
    notes = (*notes, *reading.left_over(candidate, said, "content"))
    stop = member(candidate.members, "finish_reason")
    return reading.reply(
        response,
        said,
        notes,
        messages,
        id=member(response, "response_id"),
        model=member(response, "model_version"),
        stop_reason=stop if stop is not None else blocked,
        usage=snake_keys(member(response, "usage_metadata")),
    )


def _as_asked(content: Fields) -> JsonObject:
    """Parts as the SDK takes them, whichever way they came: raw, or dumped by the SDK.

    The wire writes camelCase and plain base64; the SDK's dumps snake_case and the URL's base64.
    """
    parts: list[Json] = [_part_as_asked(part) for part in content.items("parts")]
    rest = {name: value for name, value in content.whole().items() if name != "role"}
    return {**rest, "parts": parts}


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


def used(usage: JsonObject) -> Usage:
    """`GenerateContentResponseUsageMetadata`: its total is the sum of these, without the cached,
    which the prompt includes."""
    thoughts = tokens(usage, "thoughts_token_count")
    return Usage(
        tokens(usage, "prompt_token_count") + tokens(usage, "tool_use_prompt_token_count"),
        tokens(usage, "candidates_token_count") + thoughts,
        tokens(usage, "cached_content_token_count"),
        thoughts,
    )


def _draft(fields: Fields, text: str) -> Draft:
    role = fields.maybe_text("role") or "user"
    if role not in _SPEAKERS:
        raise fields.broken("role", one_of("role", role, ["user", "model"]))
    blocks = list(_parts(fields, "parts"))
    return reading.draft(fields, reading.answering(_SPEAKERS[role], blocks), blocks, text, "parts")


def _parts(fields: Fields, name: str) -> Iterator[Block]:
    before: Fields | None = None
    for part in fields.each(name):
        if before is not None and _signs(part.members, before.members):
            # One part with what both say; it stands for both.
            signature = member(part.whole(), "thought_signature")
            joined: JsonObject = {**before.whole(), "thought_signature": signature}
            before = fields.below(joined, before.at.removeprefix(f"{fields.at}/"))
            continue
        if before is not None:
            yield reading.sourced(_part(before), before)
        before = part
    if before is not None:
        yield reading.sourced(_part(before), before)


def _signs(part: JsonObject, before: JsonObject) -> bool:
    """Whether a part only brings the signature of the text before it, as streams end.

    An unstreamed response has both in one part, and an empty text would be refused.
    """
    return (
        part.get("text") == ""
        and bool(before.get("text"))
        and member(part, "thought_signature") is not None
        and member(before, "thought_signature") is None
        and bool(part.get("thought")) == bool(before.get("thought"))
    )


def _part(part: Fields) -> Block:
    signature = part.get(*both("thought_signature"))
    signed = signature if isinstance(signature, str) else None
    thought = part.get("thought")
    if isinstance(member(part.members, "function_call"), dict):
        call = part.inner(*both("function_call"))
        call.passed_over(*both("will_continue"), *both("partial_args"))
        given = call.get("args")
        arguments = reading.arguments_text(given if given is not None else {})
        name = call.maybe_text("name") or ""
        return ToolCall(call.maybe_text("id"), name, arguments, signature=signed)
    if isinstance(member(part.members, "function_response"), dict):
        return _result(part.inner(*both("function_response")))
    if (text := part.text_if("text")) is not None:
        if not thought:
            return Text(text, signed)
        # No empty text is taken back, so a thought without words stays here.
        return Thinking(text, reading.without_nulls(part.members) if text else None, WIRE)
    return _media(part) or _kept(part)


def _media(part: Fields) -> Image | File | None:
    if isinstance(member(part.members, "inline_data"), dict):
        inline = part.inner(*both("inline_data"))
        kind = str(inline.get(*both("mime_type")) or "application/octet-stream")
        url = f"data:{kind};base64,{inline.text('data')}"
        if kind.startswith("image/"):
            return Image(url)
        return File(url, inline.maybe_text(*both("display_name")))
    if not isinstance(member(part.members, "file_data"), dict):
        return None
    file = part.inner(*both("file_data"))
    uri = file.maybe_text(*both("file_uri"))
    if uri is None:
        return None
    name = file.maybe_text(*both("display_name"))
    return File(uri, name, file.maybe_text(*both("mime_type")))


def _kept(part: Fields) -> Opaque:
    """A part of a kind that only Gemini reads; one that nobody knows is noted besides."""
    for place, name in enumerate(_EXECUTED):
        if member(part.members, name) is not None:
            kind = "server_tool_result" if place else "server_tool"
            return Opaque(kind, reading.whole(part), WIRE)
    members = reading.without_nulls(part.members)
    kind = next(iter(members), "empty") if isinstance(members, dict) else "empty"
    if snake(kind) in _KINDS:
        part.whole()
    return Opaque(kind, members, WIRE)


def _result(fields: Fields) -> ToolResult:
    response = fields.get("response")
    raw_id = fields.maybe_text("id")
    name = fields.maybe_text("name")
    fields.passed_over(*both("will_continue"), "scheduling")
    media = [_media(part) or _kept(part) for part in fields.each("parts")]
    reading.check_named(fields, raw_id, "id")
    if media:
        said = () if response is None else (Text(value_text(response)),)
        return ToolResult(raw_id, parts=(*said, *media), name=name)
    if isinstance(response, dict) and list(response) == ["result"]:
        return ToolResult(raw_id, result=response["result"], name=name)
    if isinstance(response, dict) and list(response) == ["error"]:
        error = response["error"]
        text = error if isinstance(error, str) else dumps(error)
        return ToolResult(raw_id, status="error", error=text, name=name)
    return ToolResult(raw_id, result=response, name=name)


def write(messages: Sequence[Message]) -> list[Json]:
    return [
        {
            "role": "model" if message.role == "assistant" else "user",
            "parts": [*home.elements(message.parts, _element)],
        }
        for message in messages
    ]


def write_system(texts: Sequence[Shown]) -> JsonObject:
    parts: list[Json] = [
        {"text": one.content.text} for one in texts if isinstance(one.content, Text)
    ]
    return {"system_instruction": {"parts": parts}} if parts else {}


def _element(part: Shown) -> Json:
    """A part as it was posted, under the id that its call has here; or as it is written."""
    posted, content = home.kept(part), part.content
    if posted is None:
        return _written(content)
    if not isinstance(content, CallShown | ResultShown):
        return posted
    kind = "function_call" if isinstance(content, CallShown) else "function_response"
    return {
        name: home.with_ids(value, id=content.id, name=content.name)
        if snake(name) == kind and isinstance(value, dict)
        else value
        for name, value in posted.items()
    }


def _written(content: Content) -> Json:
    match content:
        case Text():
            return filled(text=content.text, thought_signature=content.signature or None)
        case Image() | File():
            return _written_media(content)
        case Thinking() | Opaque():
            return content.native
        case CallShown():
            call = filled(id=content.id or None, name=content.name, args=content.value)
            return filled(function_call=call, thought_signature=content.signature or None)
        case ResultShown():
            said = _response(content)
            answered = filled(id=content.id or None, name=content.name, response=said)
            return {"function_response": answered}


def _response(result: ResultShown) -> JsonObject:
    if result.failed:
        return {"error": result.text}
    if isinstance(result.value, dict):
        return result.value
    return {"result": result.text if result.value is None else result.value}


def _written_media(content: Image | File) -> JsonObject:
    held = data_url(content.url)
    if held is not None:
        return {"inline_data": {"mime_type": held.media_type, "data": held.data}}
    kind = content.media_type or None if isinstance(content, File) else None
    return {"file_data": filled(file_uri=content.url, mime_type=kind)}
