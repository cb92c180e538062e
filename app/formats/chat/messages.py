"""The chat shape that many providers share: roles, `tool_calls`, messages with the role `tool`.

A dialect says in what its wire differs. Reading is the same for all of them and takes what gateways
really send: arguments as objects, content as null, results as values.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

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
from ...model.usage import Usage, tokens
from ..anthropic import messages as anthropic
from ..shared import home, reading
from ..shared.calls import calls
from ..shared.responses import Reply
from ..shared.view import CallShown, Content, Message, ResultShown, Shown
from .reasoning_details import words

WIRE = "chat"
# The shape of reasoning that OpenRouter signs and wants back as it was.
DETAILED = "openrouter"
# Mistral's own way to name a file that it holds.
FILE_ID = "file_id"

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_REASONING = ("reasoning_content", "reasoning")
# What says how to go on (Mistral and DeepSeek, Kimi), how to train, what to cache: no content.
_MARKS = ("prefix", "partial", "weight", "cache_control")


@dataclass(frozen=True, slots=True)
class Dialect:
    """In what a chat wire differs from OpenAI's.

    string_content   content is one text, never a list of parts (images apart)
    names_results    a tool message carries the tool's name
    thinks_in_content  reasoning goes back as parts of the content
    detailed         reasoning goes back as `reasoning` and `reasoning_details`
    says_strict      every tool definition says whether it is strict
    """

    string_content: bool = False
    names_results: bool = False
    thinks_in_content: bool = False
    detailed: bool = False
    says_strict: bool = False

    @property
    def wire(self) -> str:
        """The shape of its reasoning."""
        return DETAILED if self.detailed else WIRE


def parse(members: JsonObject, texts: Texts, wire: str) -> list[Draft]:
    """`wire` is the shape of the reasoning."""
    return [
        _draft(fields, text, wire) for fields, text in reading.elements(members, texts, "messages")
    ]


def read_reply(response: JsonObject, at: str, wire: str) -> Reply:
    """A `ChatCompletion`: its first choice."""
    choice, notes = reading.first_of(Fields(response, at), "choices")
    message = choice.inner("message")
    message.passed_over("role")
    blocks = _said(message, wire)
    notes = (*notes, *reading.left_over(message, blocks, "content"))
    members = {"role": "assistant", **message.members} if _is_own(message, blocks) else {}
    messages = [(message.at, members)]
    reason = choice.get("finish_reason")
    return reading.reply(response, blocks, notes, messages, stop_reason=reason)


def used(usage: JsonObject) -> Usage:
    """`CompletionUsage`. DeepSeek and Kimi count cached tokens under names of their own."""
    cached = (
        tokens(usage, "prompt_tokens_details", "cached_tokens")
        or tokens(usage, "prompt_cache_hit_tokens")
        or tokens(usage, "cached_tokens")
    )
    return Usage(
        tokens(usage, "prompt_tokens"),
        tokens(usage, "completion_tokens"),
        cached,
        tokens(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def write(messages: Sequence[Message], dialect: Dialect) -> list[Json]:
    if not home.is_posted(messages):
        return [_marked(_message(one, dialect), one) for one in messages]
    plain, element = partial(_messages, dialect=dialect), partial(_element, dialect=dialect)
    place = partial(_place, dialect=dialect)
    wire = {"joins": dialect.thinks_in_content or dialect.detailed}
    wire["joins_texts"] = dialect.string_content
    return [
        _marked(item, message)
        for message in _with_old_pairs(messages)
        for item in home.written(message, plain, element, place=place, **wire)
    ]


def _with_old_pairs(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages; calls and results of the older form have it only if their other half has it."""
    old = [part for message in messages for part in message.parts if _is_old(part)]
    ids = Counter(getattr(part.content, "id", "") for part in old)
    for message in messages:
        parts = [
            part
            if not _is_old(part) or ids[getattr(part.content, "id", "")] > 1
            else _renewed(part)
            for part in message.parts
        ]
        yield replace(message, parts=tuple(parts)) if old else message


def _is_old(part: Shown) -> bool:
    """True for `function_call`, and for messages of the role `function`."""
    posted = part.posted
    is_call = posted is not None and posted.slot == "function_call"
    return is_call or (home.kept(part) or {}).get("role") == "function"


def _renewed(part: Shown) -> Shown:
    posted = part.posted
    is_result = posted is not None and posted.slot == ""
    return replace(part, posted=replace(posted, value=None) if is_result and posted else None)


def _marked(item: Json, message: Message) -> Json:
    """The message, marked as the one to go on with if it is, and not marked otherwise."""
    assert isinstance(item, dict)
    if message.is_prefix:
        return {**item, "prefix": True}
    if "prefix" not in item:
        return item
    return {name: value for name, value in item.items() if name != "prefix"}


def _place(content: Content, dialect: Dialect) -> tuple[str, bool]:
    """The member that holds a content, and whether that is a list."""
    match content:
        case CallShown():
            return "tool_calls", True
        case Thinking():
            return "reasoning_content", False
        case Text() if dialect.string_content:
            return "content", False
        case _:
            return "content", True


def _messages(message: Message, dialect: Dialect) -> Iterator[Json]:
    yield _message(message, dialect)


def _element(part: Shown, dialect: Dialect) -> Json:
    """A part, call or result as it was posted, under the id that the call has here."""
    posted, content = home.kept(part), part.content
    match content:
        case CallShown():
            if posted is not None and _is_old(part):
                return posted
            call = posted or _call(content)
            return call | {"id": content.id} if "id" in call else {"id": content.id, **call}
        case ResultShown():
            assert posted is not None
            names: JsonObject = {}
            if posted["role"] == "tool":
                names["tool_call_id"] = content.id
            # The name that the wire wants; a null that was posted is what it takes too.
            if posted.get("name", content.name if dialect.names_results else None) is not None:
                names["name"] = content.name
            return home.in_order(posted | names)
        case _:
            return _part_of(content) if posted is None else posted


def _draft(fields: Fields, text: str, wire: str) -> Draft:
    speaker = reading.speaker_of(fields, _ROLES)
    fields.passed_over(*_MARKS)
    blocks = [_result(fields)] if speaker == "tool" else _said(fields, wire)
    draft = reading.draft(fields, reading.answering(speaker, blocks), blocks, text, "content")
    return draft if _is_own(fields, blocks) else replace(draft, messages=((fields.at, {}),))


def _is_own(message: Fields, blocks: Sequence[Block]) -> bool:
    """True if no provider of this shape refuses the message: no call or result is in its content.

    Others go back to nobody as they were posted.
    """
    content = f"{message.at}/content/"
    calls = (block for block in blocks if isinstance(block, ToolCall | ToolResult))
    return not any(call.source.startswith(content) for call in calls)


def _said(fields: Fields, wire: str) -> list[Block]:
    # openai: ChatCompletionMessage; a server fills them in, empty as a rule.
    fields.told_if_full("annotations", "audio", "images")
    return [*_reasoning(fields, wire), *_content(fields), *calls(fields)]


def _reasoning(fields: Fields, wire: str) -> Iterator[Thinking]:
    members = fields.members
    said = {key: text for key in _REASONING if isinstance(text := members.get(key), str)}
    details = members.get("reasoning_details")
    fields.told_if_full("reasoning_details")
    if isinstance(details, list) and details:
        fields.passed_over("reasoning_details", *said)
        text = next(iter(said.values()), "") or words(details)
        yield Thinking(text, {**said, "reasoning_details": details}, DETAILED)
    elif said:
        key, text = next(iter(said.items()))
        # Some servers say the same thing under both names.
        fields.passed_over(*(other for other in said if said[other] == text))
        yield Thinking(text, {key: text}, wire, source=f"{fields.at}/{key}")


def _content(fields: Fields) -> Iterator[Block]:
    yield from reading.text_or_list(fields, "content", lambda one: [_part(one)])
    if refusal := fields.maybe_text("refusal"):
        yield Text(refusal, source=f"{fields.at}/refusal")


def _part(fields: Fields) -> Block:
    fields.passed_over("cache_control")
    kind = fields.text("type")
    match kind:
        case "text" | "input_text" | "output_text":
            return Text(fields.text("text"))
        case "refusal":
            return Text(fields.text("refusal"))
        case "image_url":
            return _image(fields)
        case "file" if fields.members.get("file") is None and fields.text_if("file_id"):
            # mistralai: FileChunk.
            return Opaque(FILE_ID, fields.whole(), WIRE)
        case "file":
            return _file(fields)
        case "thinking":
            return _thought(fields)
        # Gateways leave calls and results of Anthropic's here; nobody can mean anything else.
        case "tool_use":
            return anthropic.call(fields)
        case "tool_result":
            return anthropic.result(fields)
        case _:
            return Opaque(kind, fields.whole(), WIRE)


def _image(fields: Fields) -> Image:
    if (url := fields.text_if("image_url")) is not None:
        return Image(url)
    inner = fields.inner("image_url")
    return Image(inner.text("url"), inner.maybe_text("detail"))


def _file(fields: Fields) -> Part:
    inner = fields.inner("file")
    if (data := inner.text_if("file_data")) is not None:
        return File(data, inner.maybe_text("filename"))
    by_id = isinstance(inner.members.get("file_id"), str)
    return Opaque("file", fields.whole() if by_id else fields.members, WIRE)


def _thought(fields: Fields) -> Thinking:
    """Mistral's thinking chunk: a list of texts inside the content."""
    if (said := fields.text_if("thinking")) is not None:
        return Thinking(said)
    texts = [one.maybe_text("text") or "" for one in fields.each("thinking")]
    return Thinking("".join(texts), fields.whole(), WIRE)


def _result(fields: Fields) -> ToolResult:
    content = fields.get("content")
    raw_id = fields.maybe_text("tool_call_id")
    name = fields.maybe_text("name")
    result = ToolResult(raw_id, result=content, name=name)
    if isinstance(content, list) and all(map(_is_part, content)):
        read = reading.text_or_list(fields, "content", lambda one: [_part_of_result(one)])
        result = ToolResult(raw_id, parts=tuple(read), name=name)
    reading.check_named(fields, raw_id, "tool_call_id")
    return reading.sourced(result, fields)


def _part_of_result(fields: Fields) -> Part:
    """A chunk of a result. Thinking, calls and results inside a result are kept as they are."""
    block = _part(fields)
    return block if isinstance(block, Part) else Opaque(fields.text("type"), fields.whole(), WIRE)


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _message(message: Message, dialect: Dialect) -> JsonObject:
    contents = message.contents()
    if message.role == "tool":
        (result,) = contents
        assert isinstance(result, ResultShown)
        name: JsonObject = {"name": result.name} if dialect.names_results else {}
        return {"role": "tool", "tool_call_id": result.id, **name, "content": result.text}
    shown: JsonObject = {"role": message.role, "content": _content_of(message.parts, dialect)}
    calls: list[Json] = [
        _element(part, dialect) for part in message.parts if isinstance(part.content, CallShown)
    ]
    thoughts = [part for part in contents if isinstance(part, Thinking)]
    if dialect.thinks_in_content:
        thoughts = []
    if thoughts:
        shown |= _written_thoughts(thoughts, dialect)
    if isinstance(details := shown.get("reasoning_details"), list):
        shown["reasoning_details"] = _renamed(details, contents)
    if calls:
        shown["tool_calls"] = calls
    return shown


def _call(call: CallShown) -> JsonObject:
    function: JsonObject = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _written_thoughts(thoughts: Sequence[Thinking], dialect: Dialect) -> JsonObject:
    if not dialect.detailed:
        return {"reasoning_content": "\n".join(thought.text for thought in thoughts)}
    shown: JsonObject = {}
    for thought in thoughts:
        assert isinstance(thought.native, dict)
        for key, said in _declared(thought.native).items():
            before = shown.get(key)
            if isinstance(before, str) and isinstance(said, str):
                shown[key] = f"{before}\n{said}"
            elif isinstance(before, list) and isinstance(said, list):
                shown[key] = [*before, *said]
            else:
                shown[key] = said
    return shown


def _renamed(details: Sequence[Json], contents: Sequence[Content]) -> list[Json]:
    """Gemini's signature of a call stands in a detail under the call's id: under the shown one."""
    calls = [part for part in contents if isinstance(part, CallShown)]
    ids: dict[Json, str] = {call.raw_id: call.id for call in reversed(calls) if call.raw_id}
    return [
        detail | {"id": ids[detail["id"]]}
        if isinstance(detail, dict)
        and detail.get("type") == "reasoning.encrypted"
        and isinstance(detail.get("id"), str)
        and detail["id"] in ids
        else detail
        for detail in details
    ]


def _declared(native: JsonObject) -> JsonObject:
    """Words under the one name that @openrouter/sdk declares for them, all else as it came."""
    said = [text for key in _REASONING if isinstance(text := native.get(key), str)]
    others = {key: value for key, value in native.items() if key not in _REASONING}
    return {"reasoning": "\n".join(dict.fromkeys(said)), **others} if said else others


def _content_of(parts: Sequence[Shown], dialect: Dialect) -> Json:
    kinds = Text | Image | File | Opaque | (Thinking if dialect.thinks_in_content else Text)
    said = [part for part in parts if isinstance(part.content, kinds)]
    texts = [one.content.text for one in said if isinstance(one.content, Text)]
    only_text = len(texts) == len(said) and not any(map(home.kept, said))
    if only_text and (dialect.string_content or len(texts) < 2):
        return "\n".join(texts)
    return [*home.elements(said, partial(_element, dialect=dialect))]


def _part_of(content: Content) -> Json:
    match content:
        case Text():
            return {"type": "text", "text": content.text}
        case Image():
            image = filled(url=content.url, detail=content.detail or None)
            return {"type": "image_url", "image_url": image}
        case File():
            file: JsonObject = {"filename": content.name or "file", "file_data": content.url}
            return {"type": "file", "file": file}
        case Thinking(native={"type": "thinking"}) | Opaque():
            return content.native
        case Thinking():
            return {"type": "thinking", "thinking": [{"type": "text", "text": content.text}]}
        case _:
            raise AssertionError("calls and results are no parts of content")
