"""Items of the Responses API, read and written."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import cast

from ...jsontext.fields import Fields, filled
from ...jsontext.writing import dumps
from ...model.conversation import (
    PHASES,
    Block,
    Draft,
    File,
    Image,
    Opaque,
    Part,
    Phase,
    Remark,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from ...model.errors import RuleBroken
from ...model.json_values import Json, JsonObject, Texts
from ...model.usage import Usage, tokens
from ..shared import home, reading
from ..shared.responses import Reply
from ..shared.view import CallShown, Content, Message, ResultShown, Shown
from .tools import WIRE

_ROLES = ("system", "developer", "user", "assistant")
# What an item says of itself beside its content.
_ABOUT = ("id", "status", "async", "caller", "created_by")
# Items that the provider itself answers: whole by themselves.
_EXECUTED = frozenset({"web_search_call", "file_search_call", "code_interpreter_call"})
_ENDED = ("completed", "incomplete", "failed")
# openai's types: members that must be there and may be null, which a reply does not keep.
_NULLS: JsonObject = {"code": None, "outputs": None}


def parse(members: JsonObject, texts: Texts) -> list[Draft]:
    key = "input" if "input" in members else "messages"
    drafts = reading.beside(members, texts, "instructions", reading.plain_text)
    if isinstance(only := members.get(key), str):
        text = texts[key][0]
        return [*drafts, Draft("human", (Text(only),), payload=text, pointer=f"/{key}")]
    items = (_draft(fields, text) for fields, text in reading.elements(members, texts, key))
    for speaker, group in groupby(items, key=lambda item: item.speaker):
        neighbours = list(group)
        drafts += [_joined(neighbours)] if speaker == "ai" else neighbours
    return drafts


def read_reply(response: JsonObject, at: str) -> Reply:
    """A `Response`: all its output items are one turn."""
    if not isinstance(response.get("output"), list):
        raise RuleBroken("`output` is required and must be a list.", pointer=f"{at}/output")
    blocks: list[Block] = []
    notes: list[Remark] = []
    items = list(Fields(response, at).each("output"))
    for item in items:
        read = _item(item)[1]
        blocks += read
        notes += reading.left_over(item, read, "content")
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    stop_reason = reason if reason is not None else response.get("status")
    messages = [(item.at, item.members) for item in items]
    return reading.reply(response, blocks, notes, messages, stop_reason=stop_reason)


def used(usage: JsonObject) -> Usage:
    """`ResponseUsage`."""
    return Usage(
        tokens(usage, "input_tokens"),
        tokens(usage, "output_tokens"),
        tokens(usage, "input_tokens_details", "cached_tokens"),
        tokens(usage, "output_tokens_details", "reasoning_tokens"),
    )


def _draft(fields: Fields, text: str) -> Draft:
    speaker, blocks = _item(fields)
    return reading.draft(fields, speaker, blocks, text, "content")


def _joined(said: Sequence[Draft]) -> Draft:
    """Neighbouring items of the model are one turn."""
    if len(said) == 1:
        return said[0]
    payload = f"[{','.join(one.payload for one in said)}]"
    blocks = tuple(block for one in said for block in one.blocks)
    notes = tuple(note for one in said for note in one.notes)
    messages = tuple(message for one in said for message in one.messages)
    return Draft(
        "ai", blocks, payload=payload, pointer=said[0].pointer, notes=notes, messages=messages
    )


def _item(item: Fields) -> tuple[Speaker, list[Block]]:
    kind = item.maybe_text("type") or ("item_reference" if _is_reference(item) else "message")
    match kind:
        case "message":
            item.passed_over(*_ABOUT)
            return _said(item)
        case "function_call" | "custom_tool_call":
            item.passed_over(*_ABOUT)
            return "ai", [reading.sourced(_call(item, kind), item)]
        case "function_call_output" | "custom_tool_call_output":
            return "tool", [reading.sourced(_result(item), item)]
        case "reasoning":
            return "ai", [reading.sourced(_reasoning(item), item)]
        case _:
            # One that broke off before its end is nothing the provider takes back.
            whole = item.get("status") in _ENDED
            executed = "server_tool" if kind in _EXECUTED and whole else kind
            block = Opaque(executed, reading.whole(item), WIRE)
            return "ai", [reading.sourced(block, item)]


def _is_reference(item: Fields) -> bool:
    """True for an id alone. openai: ItemReference may leave out its type."""
    return "id" in item and item.members.keys() <= {"id", "type"}


def _said(item: Fields) -> tuple[Speaker, list[Block]]:
    """A message. The openai SDK: phases are preserved and sent again, on the model's messages."""
    speaker, parts = reading.speaker_of(item, _ROLES), list(_content(item, "content"))
    if speaker != "ai":
        item.passed_over("phase")
    elif item.members.get("phase") in PHASES:
        phase = cast(Phase, item.text("phase"))
        return speaker, [replace(p, phase=phase) if isinstance(p, Text) else p for p in parts]
    return speaker, list(parts)


def _content(fields: Fields, name: str) -> Iterator[Part]:
    return reading.text_or_list(fields, name, lambda one: [_part(one)])


def _part(part: Fields) -> Part:
    kind = part.text("type")
    match kind:
        case "input_text" | "output_text" | "text":
            # How likely each token was is no content.
            part.passed_over("logprobs")
            part.told_if_full("annotations")
            return Text(part.text("text"))
        case "refusal":
            return Text(part.text("refusal"))
        case "input_image" if (url := part.text_if("image_url")) is not None:
            return Image(url, part.maybe_text("detail"))
        case "input_file" if (url := part.text_if("file_data")) is not None:
            return File(url, part.maybe_text("filename"))
        case "input_file" if (url := part.text_if("file_url")) is not None:
            return File(url, part.maybe_text("filename"))
        case "input_image" | "input_file" if not isinstance(part.members.get("file_id"), str):
            return Opaque(kind, part.members, WIRE)
        case _:
            return Opaque(kind, reading.whole(part), WIRE)


def _call(item: Fields, kind: str) -> ToolCall:
    name = item.maybe_text("name") or ""
    raw_id = item.maybe_text("call_id")
    if kind == "custom_tool_call":
        return ToolCall(raw_id, name, reading.arguments_text(item.get("input")), custom=True)
    arguments = item.get("arguments")
    return ToolCall(raw_id, name, arguments if isinstance(arguments, str) else dumps(arguments))


def _result(item: Fields) -> ToolResult:
    raw_id = item.maybe_text("call_id")
    item.passed_over("status")
    output = item.get("output")
    result = ToolResult(raw_id, result=output)
    if isinstance(output, list) and all(isinstance(part, dict) for part in output):
        result = ToolResult(raw_id, parts=tuple(_content(item, "output")))
    reading.check_named(item, raw_id, "call_id")
    item.passed_over(*_ABOUT)
    return result


def _reasoning(item: Fields) -> Thinking:
    texts: list[str] = []
    for name in ("summary", "content"):
        for part in item.each(name):
            part.passed_over("type")
            if (said := part.maybe_text("text")) is not None:
                texts.append(said)
    text = "\n".join(texts)
    if isinstance(item.members.get("encrypted_content"), str):
        return Thinking(text, reading.whole(item), WIRE)
    item.passed_over(*_ABOUT)
    return Thinking(text, None, WIRE)


def write(messages: Sequence[Message]) -> list[Json]:
    if not home.is_posted(messages):
        return [item for one in messages for item in _items(one)]
    return _paired([item for one in messages for item in home.written(one, _items, _element)])


def _paired(items: list[Json]) -> list[Json]:
    """The items with each output in the form of its call: of a function or of a custom tool."""
    forms = {
        item.get("call_id"): f"{item['type']}_output"
        for item in items
        if isinstance(item, dict) and item.get("type") in ("function_call", "custom_tool_call")
    }
    return [
        item | {"type": forms[item["call_id"]]}
        if isinstance(item, dict)
        and item.get("type") in ("function_call_output", "custom_tool_call_output")
        and item.get("call_id") in forms
        else item
        for item in items
    ]


def write_system(parts: Sequence[Shown]) -> JsonObject:
    texts = [part.content.text for part in parts if isinstance(part.content, Text)]
    return {"instructions": "\n\n".join(texts)} if texts else {}


def _element(part: Shown) -> Json:
    """An item or a part of a message: as it was posted, under the id that its call has here."""
    value, content = home.kept(part), part.content
    if value is None:
        return next(_parts([content]))
    if not isinstance(content, CallShown | ResultShown):
        return value
    # The id of the item would have to be the provider's own; nothing refers to it.
    others = {name: one for name, one in value.items() if name != "id"}
    return home.with_ids(others, call_id=content.id)


def _items(message: Message) -> Iterator[Json]:
    contents = message.contents()
    if message.role in ("user", "system"):
        yield {"role": message.role, "content": _written(contents)}
        return
    for content in contents:
        match content:
            case Text():
                yield filled(role="assistant", phase=content.phase, content=content.text)
            case CallShown():
                yield {
                    "type": "function_call",
                    "call_id": content.id,
                    "name": content.name,
                    "arguments": content.arguments,
                }
            case ResultShown():
                yield {
                    "type": "function_call_output",
                    "call_id": content.id,
                    "output": content.text,
                }
            case Opaque(native={"type": "code_interpreter_call", **members}):
                yield cast(Json, {"type": "code_interpreter_call", **_NULLS, **members})
            case Thinking() | Opaque():
                yield content.native
            case _:
                raise AssertionError("the profile takes no media here")


def _written(contents: Sequence[Content]) -> Json:
    if len(contents) == 1 and isinstance(contents[0], Text):
        return contents[0].text
    return [*_parts(contents)]


def _parts(contents: Sequence[Content]) -> Iterator[Json]:
    for content in contents:
        match content:
            case Text():
                yield {"type": "input_text", "text": content.text}
            case Image():
                detail = content.detail or "auto"
                yield {"type": "input_image", "image_url": content.url, "detail": detail}
            case File() if content.url.startswith("http"):
                yield {"type": "input_file", "file_url": content.url}
            case File():
                name = content.name or "file"
                yield {"type": "input_file", "filename": name, "file_data": content.url}
            case Opaque(kind="input_image", native=dict(native)):
                yield {"detail": "auto", **native}
            case Opaque():
                yield content.native
            case _:
                raise AssertionError("only text and media stand in these messages")
