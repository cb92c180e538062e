"""The messages of Vercel's AI SDK, in all versions: `tool-call` and `tool-result` parts.

Version 4 says `args`, `result` and `isError`; since 5 it is `input` and `output{type, value}`. Both
are read, the stored UI messages of both versions too; what is written is the version's own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

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
from ...model.json_values import Json, JsonObject, Texts
from ...model.media import data_url
from ..shared import home, reading
from ..shared.view import CallShown, Content, Message, ResultShown, Shown
from .options import OPTIONS, note_options, signed_options, thought_signature
from .reasoning import thoughts

_ROLES = ("system", "user", "assistant", "tool")
_MEDIA = reading.names("media image-data image-url file-data file-url")
# Where an object of media has its bytes or its address.
_HELD = ("data", "url")
_IMAGE, _FILE = "image/png", "application/octet-stream"
# What the SDK keeps for itself: of messages, of parts, of calls in messages of a user interface.
_ABOUT = ("id", "createdAt", "metadata", "annotations", "status", "revisionId")
_MARKS = ("providerExecuted", "state")
_UI_MARKS = ("preliminary", "title")
_REASONING = ("reasoning", "redacted-reasoning")
_SIGNED = ("text", "tool-call")
_FINISHED = {"result", "output-available", "output-error"}
# Parts of messages to a model. A tool of such a name has a `state` in a user interface.
_APPROVALS = ("tool-approval-request", "tool-approval-response")
_ABOUT_APPROVALS = ("id", "isAutomatic", "signature")


def parse(members: JsonObject, texts: Texts, wire: str) -> list[Draft]:
    """`wire` names the shape of native parts."""
    drafts = [
        _draft(fields, text, wire) for fields, text in reading.elements(members, texts, "messages")
    ]
    return [*reading.beside(members, texts, "system", reading.plain_text), *drafts]


def _draft(fields: Fields, text: str, wire: str) -> Draft:
    speaker = reading.speaker_of(fields, _ROLES)
    fields.passed_over(*_ABOUT)
    name = "parts" if fields.members.get("parts") else "content"
    blocks = list(reading.text_or_list(fields, name, partial(_part, wire=wire)))
    if name == "parts":
        # Version 4 says the same thing again in its older form.
        fields.passed_over("content", "toolInvocations")
    for invocation in fields.each("toolInvocations") if name == "content" else ():
        blocks.extend(_invocation(invocation))
    attached = fields.each("experimental_attachments")
    blocks.extend(_file(attachment.text("url"), attachment) for attachment in attached)
    if blocks:
        note_options(fields)
    else:
        # Where nothing is said, they are no content under a wrong name.
        fields.passed_over(*OPTIONS)
    return reading.draft(fields, speaker, blocks, text, name)


def _part(part: Fields, wire: str) -> Iterator[Block]:
    kind = part.text("type")
    part.passed_over(*_MARKS)
    if kind in _REASONING:
        return thoughts(part, wire)
    is_signed = kind in _SIGNED or _is_invocation(kind, part)
    signature = thought_signature(part) if is_signed else None
    note_options(part, signature)
    blocks = _blocks(part, kind, wire)
    return (_with(block, signature) for block in blocks) if signature else blocks


def _with(block: Block, signature: str) -> Block:
    return replace(block, signature=signature) if isinstance(block, Text | ToolCall) else block


def _blocks(part: Fields, kind: str, wire: str) -> Iterator[Block]:
    match kind:
        case "text":
            yield Text(part.text("text"))
        case "image" | "file":
            yield _media(part, kind, wire)
        case "tool-call":
            yield _call(part)
        case "tool-result":
            yield _result(part)
        case "step-start":
            return
        case "tool-invocation":
            yield from _invocation(part.inner("toolInvocation"))
        case _ if _is_invocation(kind, part):
            yield from _invocation(part, kind.removeprefix("tool-"))
        case _:
            yield Opaque(kind, part.whole(), wire)


def _is_invocation(kind: str, part: Fields) -> bool:
    """Whether a part is a call of a stored UI message: the tool's name stands in its type."""
    if kind in _APPROVALS and "state" not in part:
        return False
    return kind.startswith("tool-") or kind == "dynamic-tool"


def _media(part: Fields, kind: str, wire: str) -> Part:
    """An image or a file; one that is no bytes and no address is kept as it is."""
    name = kind if kind == "image" else "data" if "data" in part else "url"
    # ai 7: the data of a part is a text, or an object that says of what kind it is.
    inner = part.inner(name) if isinstance(part.members.get(name), dict) else None
    if inner is not None and not any(isinstance(inner.members.get(at), str) for at in _HELD):
        return Opaque(kind, part.whole(), wire)
    if inner is not None:
        inner.passed_over("type")
        name = next(at for at in _HELD if isinstance(inner.members.get(at), str))
    otherwise = _IMAGE if kind == "image" else _FILE
    url = _address(inner or part, name, otherwise, part.maybe_text("mediaType", "mimeType"))
    return Image(url) if kind == "image" else _file(url, part)


def _address(part: Fields, name: str, otherwise: str, media_type: str | None = None) -> str:
    """A data URL, an address, or bare base64 with its media type beside it."""
    given = part.text(name)
    if given.startswith(("data:", "http://", "https://")):
        return given
    media_type = media_type or part.maybe_text("mediaType", "mimeType")
    return f"data:{media_type or otherwise};base64,{given}"


def _file(url: str, part: Fields, *, is_image: bool = False) -> Image | File:
    """`is_image`: the part says so itself; otherwise its media type tells."""
    media_type = part.maybe_text("mediaType", "mimeType", "contentType")
    if is_image or (media_type or url.removeprefix("data:")).startswith("image/"):
        # An image has no name of its own.
        part.passed_over("filename", "name")
        return Image(url)
    return File(url, part.maybe_text("filename", "name"), media_type)


def _call(part: Fields, otherwise: str = "") -> ToolCall:
    arguments = reading.text_or_value(part.get("input" if "input" in part else "args"))
    name = part.maybe_text("toolName") or otherwise
    return ToolCall(part.maybe_text("toolCallId"), name, arguments)


def _result(part: Fields) -> ToolResult:
    raw_id = part.maybe_text("toolCallId")
    name = part.maybe_text("toolName")
    output = part.members.get("output")
    if "result" in part or not isinstance(output, dict) or "type" not in output:
        value = part.get("result") if "result" in part else part.get("output")
        failed = part.get("isError") is True
        result = ToolResult(raw_id, value, status="error" if failed else "ok", name=name)
    else:
        result = replace(_output(part.inner("output")), raw_id=raw_id, name=name)
    reading.check_named(part, raw_id, "toolCallId")
    return result


def _output(output: Fields) -> ToolResult:
    """What came out, since version 5: a value under the name of its type."""
    kind = output.text("type")
    note_options(output)
    if kind == "execution-denied":
        return ToolResult(None, status="denied", error=output.maybe_text("reason"))
    if kind == "content" and isinstance(output.members.get("value"), list):
        return ToolResult(None, parts=tuple(map(_held, output.each("value"))))
    failed = kind.startswith("error")
    return ToolResult(None, output.get("value"), status="error" if failed else "ok")


def _held(part: Fields) -> Part:
    """A piece of a result's content: text, or media under the names of several versions."""
    kind = part.text("type")
    note_options(part)
    if kind == "text":
        return Text(part.text("text"))
    is_image = kind.startswith("image")
    for key in ("data", "url"):
        if kind in _MEDIA and isinstance(part.members.get(key), str):
            url = _address(part, key, _IMAGE if is_image else _FILE)
            return _file(url, part, is_image=is_image)
    return Opaque(kind, part.whole())


def _invocation(part: Fields, otherwise: str = "") -> Iterator[Block]:
    """A call of a stored UI message, with its result once there is one."""
    call = _call(part, otherwise)
    yield call
    part.passed_over("step", *_UI_MARKS)
    state = part.maybe_text("state")
    approval = part.inner("approval") if isinstance(part.members.get("approval"), dict) else None
    if _is_denied(state, approval):
        reason = _reason(approval) if approval else None
        yield ToolResult(call.raw_id, status="denied", error=reason)
    elif state not in _FINISHED:
        return
    elif state == "output-error":
        yield ToolResult(call.raw_id, status="error", error=part.maybe_text("errorText"))
    else:
        value = part.get("result") if "result" in part else part.get("output")
        yield ToolResult(call.raw_id, result=value)


def _is_denied(state: str | None, approval: Fields | None) -> bool:
    """Denied, whether the SDK has noticed it (`output-denied`) or only the person has said so."""
    said_no = approval is not None and approval.members.get("approved") is False
    return state == "output-denied" or (state == "approval-responded" and said_no)


def _reason(approval: Fields) -> str | None:
    """Why a call is denied, of an approval that says no."""
    approval.passed_over("approved", *_ABOUT_APPROVALS)
    return approval.maybe_text("reason")


def write(messages: Sequence[Message], *, is_v4: bool) -> list[Json]:
    """`is_v4` chooses the older names."""
    calls = (one for message in messages for one in message.contents())
    ids = {one.raw_id: one.id for one in calls if isinstance(one, CallShown)}
    plain, element = partial(_messages, is_v4=is_v4), partial(_element, is_v4=is_v4)
    return [
        item
        for one in messages
        for item in home.written(_with_ids(one, ids), plain, element, place=_place)
    ]


def _place(_: Content) -> tuple[str, bool]:
    return "content", True


def _with_ids(message: Message, ids: Mapping[str | None, str]) -> Message:
    """The message; approvals name their calls by the ids that these have here."""
    if not any(isinstance(content, Opaque) for content in message.contents()):
        return message
    return replace(message, parts=tuple(_with_id(part, ids) for part in message.parts))


def _with_id(part: Shown, ids: Mapping[str | None, str]) -> Shown:
    match part.content:
        case Opaque(native={"toolCallId": str(raw_id)}) as approval if raw_id in ids:
            native = cast(JsonObject, approval.native) | {"toolCallId": ids[raw_id]}
            posted = part.posted and replace(part.posted, value=native)
            return replace(part, content=replace(approval, native=native), posted=posted)
        case _:
            return part


def write_system(parts: Sequence[Shown], *, is_v4: bool) -> JsonObject:
    """One text. Since version 6 messages with options of their own are taken too."""
    texts = [part.content.text for part in parts if isinstance(part.content, Text)]
    posted = [part.posted.envelope.members for part in parts if part.posted]
    if not is_v4 and any("providerOptions" in members for members in posted):
        return {"system": [*home.written(Message("system", tuple(parts)), _system, _system_text)]}
    return {"system": "\n".join(texts)} if texts else {}


def _system(message: Message) -> Iterator[Json]:
    return map(_system_text, message.parts)


def _system_text(part: Shown) -> Json:
    return {"role": "system", "content": getattr(part.content, "text", "")}


def _messages(message: Message, *, is_v4: bool) -> Iterator[Json]:
    yield _message(message, is_v4=is_v4)


def _element(part: Shown, *, is_v4: bool) -> Json:
    """A part as it was posted, under the id that its call has here; or as it is written."""
    posted, content = home.kept(part), part.content
    match content, posted:
        case _, None:
            return _written(content, is_v4=is_v4)
        case (CallShown() | ResultShown(), _):
            return {**posted, "toolCallId": content.id, "toolName": content.name}
        case _:
            return posted


def _message(message: Message, *, is_v4: bool) -> JsonObject:
    contents = message.contents()
    texts = [one.text for one in contents if isinstance(one, Text) and not one.signature]
    if len(texts) == len(contents) and (is_v4 or len(texts) == 1):
        return {"role": message.role, "content": "\n".join(texts)}
    parts: list[Json] = [_written(content, is_v4=is_v4) for content in contents]
    return {"role": message.role, "content": parts}


def _written(content: Content, *, is_v4: bool) -> Json:
    match content:
        case Text():
            options = signed_options(content.signature)
            return {"type": "text", "text": content.text, **options}
        case File() if not (content.media_type or "").startswith("image/"):
            return _written_file(content, is_v4=is_v4)
        case Image() | File():
            return {"type": "image", "image": content.url}
        case Thinking() | Opaque():
            return content.native
        case CallShown():
            return {
                "type": "tool-call",
                "toolCallId": content.id,
                "toolName": content.name,
                "args" if is_v4 else "input": content.value,
                **signed_options(content.signature),
            }
        case ResultShown():
            return _written_result(content, is_v4=is_v4)


def _written_file(content: File, *, is_v4: bool) -> JsonObject:
    held = data_url(content.url)
    media_type = held.media_type if held else content.media_type or _FILE
    shown: JsonObject = {"type": "file", "data": held.data if held else content.url}
    shown["mimeType" if is_v4 else "mediaType"] = media_type
    return shown | filled(filename=content.name or None)


def _written_result(result: ResultShown, *, is_v4: bool) -> JsonObject:
    value: Json = result.text if result.value is None else result.value
    shown: JsonObject = {"type": "tool-result", "toolCallId": result.id, "toolName": result.name}
    if is_v4:
        return shown | filled(result=value, isError=result.failed or None)
    kind = "text" if isinstance(value, str) else "json"
    shown["output"] = {"type": f"error-{kind}" if result.failed else kind, "value": value}
    return shown
