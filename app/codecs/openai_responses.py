"""OpenAI Responses: a flat list of items instead of messages.

Calls and outputs pair by `call_id` alone. Item ids are left out: a wrong prefix, a duplicate or an
id that the server has forgotten is refused, a missing one never is. A reasoning item goes back to
its issuer only, with its encrypted content, and only in front of the item it belongs to.
"""

import re
from collections.abc import Iterator, Sequence
from typing import cast

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
from app.codecs._responses_stream import ResponsesGathering
from app.codecs._responses_tools import WIRE, read_choice, read_tools, write_tools
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
from app.core.profile import ASSISTANT, Profile
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

KEYS = ("instructions", "messages", "input")
LIST = "input"
# The openai SDK's ResponseCreateParams, without `prompt`, whose variables are content.
SETTINGS = names(
    "access_programs background context_management conversation image include max_output_tokens"
    " max_tool_calls moderation previous_response_id prompt_cache_key prompt_cache_options"
    " prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options"
    " temperature text top_logprobs top_p truncation user"
)
IDS = Prefixed("call_")

_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "human",
    "assistant": "ai",
}
# Items that the provider itself answers: whole by themselves.
_EXECUTED = frozenset({"web_search_call", "file_search_call", "code_interpreter_call"})
_ENDED = ("completed", "incomplete", "failed")
# openai's types: members that must be there and may be null, which a reply does not keep.
_NULLS: JsonObject = {"code": None, "outputs": None}


def _own_items(blocks: Sequence[Opaque]) -> set[int]:
    """Items that the provider answered itself, and files by id in user messages."""
    own = ("server_tool", "input_image", "input_file")
    return {place for place, block in enumerate(blocks) if block.kind in own}


# The API: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the
# top level" (langchain-ai/langchainjs#9804).
TOOLS = ToolRules(
    openai=True,
    described=True,
    object_type=True,
    refused_top=(*COMBINATIONS, "enum", "not"),
    allowed=True,
    strict=True,
)
PROFILE = Profile(
    system="beside",
    alternate=ASSISTANT,
    calls_last=True,
    splits_rounds=True,
    ids=re.compile(r".{1,64}", re.DOTALL),
    wire=WIRE,
    thinking=True,
    issuers=frozenset({"openai", "openai-responses"}),
    keeps_opaque=_own_items,
    images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
    files=frozenset({"application/pdf", "url"}),
)


def parse(posted: Posted) -> list[Draft]:
    key = "input" if "input" in posted.members else "messages"
    drafts: list[Draft] = []
    instructions = maybe_text(posted.members, "instructions", "")
    if instructions is not None:
        payload = posted.texts["instructions"][0]
        spoken = (Text(instructions),)
        drafts.append(Draft("system", spoken, payload=payload, pointer="/instructions"))
    if isinstance(only := posted.members.get(key), str):
        text = posted.texts[key][0]
        return [*drafts, Draft("human", (Text(only),), payload=text, pointer=f"/{key}")]
    said: list[Draft] = []
    for at, members, text in elements(posted, key):
        speaker, blocks = _item(members, at)
        draft = Draft(speaker, tuple(blocks), payload=text, pointer=at)
        if speaker == "ai":
            said.append(draft)
            continue
        drafts += [*_spoken(said), draft]
        said = []
    return [*drafts, *_spoken(said)]


def _read_reply(response: JsonObject, at: str) -> Reply:
    """A `Response`: all its output items are one turn."""
    if not isinstance(response.get("output"), list):
        raise RuleBroken("output is a list and has to be given.", pointer=f"{at}/output")
    blocks: list[Block] = []
    for place, item in enumerate(a_list(response, "output", at)):
        where = f"{at}/output/{place}"
        blocks += _item(an_object(item, where), where)[1]
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return reply(
        blocks,
        id=response.get("id"),
        model=response.get("model"),
        stop_reason=reason if reason is not None else response.get("status"),
        usage=response.get("usage"),
        error=response.get("error"),
    )


def _used(usage: JsonObject) -> Usage:
    """`ResponseUsage`."""
    return Usage(
        tokens(usage, "input_tokens"),
        tokens(usage, "output_tokens"),
        tokens(usage, "input_tokens_details", "cached_tokens"),
        tokens(usage, "output_tokens_details", "reasoning_tokens"),
    )


REPLIES = Replies(_read_reply, ResponsesGathering, _used)


def _spoken(said: Sequence[Draft]) -> Iterator[Draft]:
    """Neighbouring items of the model are one turn."""
    if len(said) < 2:
        yield from said
        return
    payload = f"[{','.join(draft.payload for draft in said)}]"
    blocks = tuple(block for draft in said for block in draft.blocks)
    yield Draft("ai", blocks, payload=payload, pointer=said[0].pointer)


def _item(members: JsonObject, at: str) -> tuple[Speaker, list[Block]]:
    kind = members.get("type", "message")
    match kind:
        case "message":
            role = a_text(members, "role", at)
            if role not in _SPEAKERS:
                known = ", ".join(_SPEAKERS)
                raise RuleBroken(f"The role {role!r} is unknown; known: {known}.", pointer=at)
            return _SPEAKERS[role], list(_content(members, "content", at))
        case "function_call" | "custom_tool_call":
            return "ai", [_call(members, at)]
        case "function_call_output" | "custom_tool_call_output":
            return "tool", [_result(members, at)]
        case "reasoning":
            return "ai", [_reasoning(members, at)]
        case str():
            # One that broke off before its end is nothing the provider takes back.
            whole = members.get("status") in _ENDED
            executed = "server_tool" if kind in _EXECUTED and whole else kind
            return "ai", [Opaque(executed, members, WIRE)]
        case _:
            raise RuleBroken("An item's type is a text.", pointer=f"{at}/type")


def _content(members: JsonObject, key: str, at: str) -> Iterator[Part]:
    content = members.get(key)
    match content:
        case None:
            return
        case str():
            if content:
                yield Text(content)
        case list():
            for place, part in enumerate(content):
                where = f"{at}/{key}/{place}"
                yield _part(an_object(part, where), where)
        case _:
            raise RuleBroken(f"{key} is a text or a list of parts.", pointer=f"{at}/{key}")


def _part(members: JsonObject, at: str) -> Part:
    match members.get("type"):
        case "input_text" | "output_text" | "text":
            return Text(a_text(members, "text", at))
        case "refusal":
            return Text(a_text(members, "refusal", at))
        case "input_image" if isinstance(url := members.get("image_url"), str):
            return Image(url, maybe_text(members, "detail", at))
        case "input_file" if isinstance(data := members.get("file_data"), str):
            return File(data, maybe_text(members, "filename", at))
        case "input_file" if isinstance(url := members.get("file_url"), str):
            return File(url, maybe_text(members, "filename", at))
        case str() as kind:
            return Opaque(kind, members, WIRE)
        case _:
            raise RuleBroken("A content part needs a type.", pointer=f"{at}/type")


def _call(members: JsonObject, at: str) -> ToolCall:
    name = maybe_text(members, "name", at) or ""
    raw_id = maybe_text(members, "call_id", at)
    if members["type"] == "custom_tool_call":
        return ToolCall(raw_id, name, arguments_text(members.get("input")))
    arguments = members.get("arguments")
    return ToolCall(raw_id, name, arguments if isinstance(arguments, str) else dumps(arguments))


def _result(members: JsonObject, at: str) -> ToolResult:
    raw_id = maybe_text(members, "call_id", at)
    output = members.get("output")
    if isinstance(output, list) and all(isinstance(part, dict) for part in output):
        return ToolResult(raw_id, parts=tuple(_content(members, "output", at)))
    return ToolResult(raw_id, result=output)


def _reasoning(members: JsonObject, at: str) -> Thinking:
    texts = [
        str(part["text"])
        for key in ("summary", "content")
        for part in a_list(members, key, at)
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    whole = isinstance(members.get("encrypted_content"), str)
    return Thinking("\n".join(texts), members if whole else None, WIRE)


def render(view: View) -> JsonObject:
    request: JsonObject = {}
    if view.system:
        request["instructions"] = "\n\n".join(text.text for text in view.system)
    request["input"] = [item for message in view.messages for item in _items(message)]
    return request


def _items(message: Message) -> Iterator[Json]:
    contents = message.contents()
    if message.role in ("user", "system"):
        yield {"role": message.role, "content": _written(contents)}
        return
    for content in contents:
        match content:
            case Text():
                yield {"role": "assistant", "content": content.text}
            case CallShown():
                yield {
                    "type": "function_call",
                    "call_id": content.id,
                    "name": content.name,
                    "arguments": content.arguments,
                }
            case AnswerShown():
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
    parts: list[Json] = []
    for content in contents:
        match content:
            case Text():
                parts.append({"type": "input_text", "text": content.text})
            case Image():
                parts.append(
                    {
                        "type": "input_image",
                        "image_url": content.url,
                        "detail": content.detail or "auto",
                    }
                )
            case File() if content.url.startswith("http"):
                parts.append({"type": "input_file", "file_url": content.url})
            case File():
                name = content.name or "file"
                parts.append({"type": "input_file", "filename": name, "file_data": content.url})
            case Opaque(kind="input_image", native=dict(native)):
                parts.append({"detail": "auto", **native})
            case Opaque():
                parts.append(content.native)
            case _:
                raise AssertionError("only text and media stand in these messages")
    return parts
