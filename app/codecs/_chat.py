"""The chat shape that many providers share: roles, `tool_calls`, messages with the role `tool`.

A dialect says in what its wire differs. Reading is the same for all of them and takes what gateways
really send: arguments as objects, content as null, results as values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.codecs._chat_stream import ChatGathering
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
    Part,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.errors import RuleBroken
from app.core.ids import signature_in
from app.core.jsontext import Json, JsonObject, dumps
from app.core.media import is_base64
from app.core.replies import Replies, Reply
from app.core.usage import Usage, tokens
from app.core.view import AnswerShown, CallShown, Content, Message, View
from app.core.wire import Posted

WIRE = "chat"
KEYS = ("messages",)
LIST = "messages"
# The openai SDK's CompletionCreateParams and the mistralai SDK's ChatCompletionRequest, without
# what is content (`functions`); then what hosts of this shape add: `thinking` of DeepSeek and
# Moonshot, Alibaba's for Qwen.
SETTINGS = names(
    "audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens modalities"
    " moderation n prediction presence_penalty prompt_cache_key prompt_cache_options"
    " prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier"
    " stop store stream stream_options temperature top_logprobs top_p user verbosity"
    " web_search_options"
    " guardrails min_tokens prompt_logprobs prompt_mode random_seed repetition_penalty safe_prompt"
    " top_k top_prompt_logprobs"
    " thinking enable_thinking thinking_budget enable_search search_options"
)

_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "human",
    "assistant": "ai",
    "tool": "tool",
    "function": "tool",
}
_REASONING = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True)
class Dialect:
    """In what a chat wire differs from OpenAI's.

    string_content   content is one text, never a list of parts (images apart)
    names_results    a tool message carries the tool's name
    """

    string_content: bool = False
    names_results: bool = False


def parse(posted: Posted) -> list[Draft]:
    return [_draft(members, text, at) for at, members, text in elements(posted, "messages")]


def _read_reply(response: JsonObject, at: str) -> Reply:
    """A `ChatCompletion`: its first choice."""
    choice, notes = first_of(response, "choices", at)
    where = f"{at}/choices/0/message"
    message = an_object(choice.get("message"), where)
    return reply(
        _said(message, where),
        notes,
        id=response.get("id"),
        model=response.get("model"),
        stop_reason=choice.get("finish_reason"),
        usage=response.get("usage"),
        error=response.get("error"),
    )


def _used(usage: JsonObject) -> Usage:
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


REPLIES = Replies(_read_reply, ChatGathering, _used)


def render(view: View, dialect: Dialect) -> JsonObject:
    return {"messages": [_message(message, dialect) for message in view.messages]}


def _draft(members: JsonObject, text: str, at: str) -> Draft:
    role = a_text(members, "role", at)
    if role not in _SPEAKERS:
        raise RuleBroken(
            f"The role {role!r} is unknown; known: {', '.join(_SPEAKERS)}.", pointer=f"{at}/role"
        )
    speaker = _SPEAKERS[role]
    blocks = [_result(members, at)] if speaker == "tool" else _said(members, at)
    return Draft(speaker, tuple(blocks), payload=text, pointer=at)


def _said(members: JsonObject, at: str) -> list[Block]:
    return [*_reasoning(members, at), *_content(members, at), *_calls(members, at)]


def _reasoning(members: JsonObject, at: str) -> Iterator[Thinking]:
    for key in _REASONING:
        if isinstance(text := members.get(key), str):
            yield Thinking(text, {key: text}, WIRE)
            return


def _content(members: JsonObject, at: str) -> Iterator[Part | Thinking]:
    content = members.get("content")
    match content:
        case None:
            pass
        case str():
            if content:
                yield Text(content)
        case list():
            for place, value in enumerate(content):
                part = an_object(value, f"{at}/content/{place}")
                is_thought = part.get("type") == "thinking"
                yield _thought(part) if is_thought else _part(part, f"{at}/content/{place}")
        case _:
            raise RuleBroken("content is a text or a list of parts.", pointer=f"{at}/content")
    if refusal := maybe_text(members, "refusal", at):
        yield Text(refusal)


def _thought(members: JsonObject) -> Thinking:
    """Mistral's thinking chunk: a list of texts inside the content."""
    said = members.get("thinking")
    texts = (
        [one.get("text") for one in said if isinstance(one, dict)]
        if isinstance(said, list)
        else [said]
    )
    return Thinking("".join(text for text in texts if isinstance(text, str)))


def _part(members: JsonObject, at: str) -> Part:
    match members.get("type"):
        case "text" | "input_text" | "output_text":
            return Text(a_text(members, "text", at))
        case "refusal":
            return Text(a_text(members, "refusal", at))
        case "image_url":
            image = members.get("image_url")
            if isinstance(image, str):
                return Image(image)
            inner = an_object(image, f"{at}/image_url")
            return Image(
                a_text(inner, "url", f"{at}/image_url"),
                maybe_text(inner, "detail", f"{at}/image_url"),
            )
        case "file":
            inner = an_object(members.get("file"), f"{at}/file")
            if isinstance(data := inner.get("file_data"), str):
                return File(data, maybe_text(inner, "filename", f"{at}/file"))
            return Opaque("file", members, WIRE)
        case str() as kind:
            return Opaque(kind, members, WIRE)
        case _:
            raise RuleBroken("A content part needs a type.", pointer=f"{at}/type")


def _calls(members: JsonObject, at: str) -> Iterator[ToolCall]:
    for place, value in enumerate(a_list(members, "tool_calls", at)):
        where = f"{at}/tool_calls/{place}"
        call = an_object(value, where)
        raw_id = maybe_text(call, "id", where)
        if call.get("type") == "custom":
            custom = an_object(call.get("custom"), f"{where}/custom")
            name = maybe_text(custom, "name", f"{where}/custom") or ""
            yield ToolCall(raw_id, name, arguments_text(custom.get("input")))
        else:
            inner = f"{where}/function"
            function = _function(an_object(call.get("function"), inner), raw_id, inner)
            yield replace(function, signature=_signature(call, raw_id))
    if isinstance(legacy := members.get("function_call"), dict):
        yield _function(legacy, None, f"{at}/function_call")


def _signature(call: JsonObject, raw_id: str | None) -> str | None:
    """Gemini's thought signature, where gateways put it: beside the call, or into its id."""
    extra = call.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    signature = google.get("thought_signature") if isinstance(google, dict) else None
    if isinstance(signature, str) and is_base64(signature):
        return signature
    return signature_in(raw_id)


def _function(members: JsonObject, raw_id: str | None, at: str) -> ToolCall:
    arguments = members.get("arguments")
    text = (
        arguments if isinstance(arguments, str) else "" if arguments is None else dumps(arguments)
    )
    return ToolCall(raw_id, maybe_text(members, "name", at) or "", text)


def _result(members: JsonObject, at: str) -> ToolResult:
    content = members.get("content")
    raw_id = maybe_text(members, "tool_call_id", at)
    name = maybe_text(members, "name", at)
    if isinstance(content, list) and all(_is_part(value) for value in content):
        parts = tuple(part for part in _content(members, at) if not isinstance(part, Thinking))
        return ToolResult(raw_id, parts=parts, name=name)
    return ToolResult(raw_id, result=content, name=name)


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _message(message: Message, dialect: Dialect) -> JsonObject:
    contents = message.contents()
    if message.role == "tool":
        (answer,) = contents
        assert isinstance(answer, AnswerShown)
        name: JsonObject = {"name": answer.name} if dialect.names_results else {}
        return {"role": "tool", "tool_call_id": answer.id, **name, "content": answer.text}
    shown: JsonObject = {"role": message.role, "content": _written(contents, dialect)}
    calls: list[Json] = [_call(part) for part in contents if isinstance(part, CallShown)]
    thoughts = [part.text for part in contents if isinstance(part, Thinking)]
    if thoughts:
        shown["reasoning_content"] = "\n".join(thoughts)
    if calls:
        shown["tool_calls"] = calls
    return shown


def _written(contents: Sequence[Content], dialect: Dialect) -> Json:
    parts: list[Json] = []
    texts: list[str] = []
    for content in contents:
        match content:
            case Text():
                texts.append(content.text)
                parts.append({"type": "text", "text": content.text})
            case Image():
                image: JsonObject = {"url": content.url}
                if content.detail:
                    image["detail"] = content.detail
                parts.append({"type": "image_url", "image_url": image})
            case Opaque():
                parts.append(content.native)
            case File():
                file: JsonObject = {"filename": content.name or "file", "file_data": content.url}
                parts.append({"type": "file", "file": file})
            case _:
                pass
    only_text = len(texts) == len(parts)
    if only_text and (dialect.string_content or len(texts) < 2):
        return "\n".join(texts)
    return parts


def _call(call: CallShown) -> JsonObject:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
