"""The chat shape that OpenAI, Kimi, DeepSeek, Qwen and Mistral share, and its rules.

A `Dialect` says what one of them demands beyond the common ground: ids, names, roles, content.
Rule numbers in the complaints are those of docs/providers (C = OpenAI Chat, K = Kimi,
D = DeepSeek, Q = Qwen, M = Mistral). Whoever has no judge of its own is judged by the common
ground: OpenAI's types, and what all of them demand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from tests.judges.pairing import Break, Call, Event, Result, Rules, pairing_faults
from tests.judges.schemas import schema_faults, strict_faults
from tests.judges.strict_types import misfits
from tests.judges.wellformed import (
    base64_fault,
    file_fault,
    is_blank,
    object_text,
    objects,
    url_fault,
)

# OpenAI Chat, C5: the pattern from the error text, the length from the FunctionObject schema.
OPENAI_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


RULES = Rules(unanswered="C2", orphan="C3, C4")


def short_id(call_id: object, name: object) -> str | None:
    """C1: one to forty characters."""
    if isinstance(call_id, str) and 1 <= len(call_id) <= 40:
        return None
    return f"id {call_id!r} must have 1 to 40 characters (C1)"


@dataclass(frozen=True)
class Dialect:
    """What one chat provider demands of ids, names, roles and content."""

    rules: Rules
    id_fault: Callable[[object, object], str | None]
    name: re.Pattern[str] = OPENAI_NAME
    name_rule: str = "C5"
    arguments_rule: str = "C7"
    roles: frozenset[str] = frozenset({"system", "user", "assistant", "tool"})
    roles_rule: str = "D6"
    text_content: str | None = None
    content_beside_calls: str | None = None
    nothing_rule: str = "C9"
    refusal_is_content: bool = False
    # OpenAI's own: tools that take a text, and the older form of calls.
    custom_tools: bool = False
    media_anywhere: bool = False
    # mistralai: FunctionCall.arguments is a text or an object.
    object_arguments: bool = False
    longest_text: int | None = None


def shape_faults(request: dict[str, object], model: str | None) -> list[str]:
    """What `client.chat.completions.create(model=…, **request)` does not allow."""
    whole = {"model": model or "any", **request}
    return misfits(CompletionCreateParamsNonStreaming, whole, "request")


def chat_faults(request: dict[str, object], dialect: Dialect) -> list[str]:
    """Everything the rule sheet holds against the messages and tool names."""
    messages = objects(request.get("messages"))
    faults = [] if messages else ["messages: must hold at least one message (C8)"]
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        if str(message.get("role")) not in dialect.roles:
            faults.append(f"{where}: role {message.get('role')!r} refused ({dialect.roles_rule})")
        faults += _content_faults(message, where, dialect)
        faults += _call_faults(message, where, dialect)
    faults += pairing_faults(chat_events(request), dialect.rules)
    return faults + _tool_faults(request, dialect)


def without(own_keys: dict[str, set[str]], request: dict[str, object]) -> dict[str, object]:
    """The request less the keys, by role, that a dialect adds to OpenAI's types."""
    messages = request.get("messages")
    if not isinstance(messages, list):
        return request
    return request | {"messages": [_less(own_keys, message) for message in messages]}


def _less(own_keys: dict[str, set[str]], message: object) -> object:
    if not isinstance(message, dict):
        return message
    mine = own_keys.get(str(message.get("role")), set())
    return {key: each for key, each in message.items() if key not in mine or not _is_text(each)}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def chat_events(request: dict[str, object]) -> Iterator[Event]:
    """A tool message is a result; every other message parts what came before from the rest."""
    for at, message in enumerate(objects(request.get("messages"))):
        where = f"messages[{at}]"
        if message.get("role") in ("tool", "function"):
            content = message.get("content")
            value = "\n".join(_said(content))
            call_id = message.get("tool_call_id", message.get("name"))
            yield Result(where, call_id, value, message.get("name"))
            continue
        yield Break(where)
        if isinstance(oldest := message.get("function_call"), dict):
            arguments, _ = object_text(oldest.get("arguments"))
            yield Call(where, oldest.get("name"), oldest.get("name"), arguments)
        for place, call in enumerate(objects(message.get("tool_calls"))):
            spot = f"{where}.tool_calls[{place}]"
            if isinstance(custom := call.get("custom"), dict):
                yield Call(spot, call.get("id"), custom.get("name"), {"input": custom.get("input")})
                continue
            given = _function(call).get("arguments")
            arguments = given if isinstance(given, dict) else object_text(given)[0]
            yield Call(spot, call.get("id"), _function(call).get("name"), arguments)


def chat_texts(request: dict[str, object]) -> list[str]:
    """All texts of all messages in order, reasoning and refusals included."""
    shown: list[str] = []
    for message in objects(request.get("messages")):
        for key in ("reasoning_content", "content", "refusal"):
            shown += _said(message.get(key))
    return shown


def _part_texts(content: object) -> list[str]:
    # Mistral's thinking may itself be a list of text parts.
    keys = ("text", "refusal", "thinking")
    return [text for part in objects(content) for key in keys for text in _said(part.get(key))]


def _function(call: dict[str, object]) -> dict[str, object]:
    function = call.get("function")
    return function if isinstance(function, dict) else {}


def _content_faults(message: dict[str, object], where: str, dialect: Dialect) -> list[str]:
    content, faults = message.get("content"), _silence_faults(message, where, dialect)
    if dialect.text_content and content is not None and not isinstance(content, str):
        faults.append(f"{where}: content must be text ({dialect.text_content})")
    if content == []:
        faults.append(f"{where}: content is an empty list (C8)")
    longest = max(map(len, _said(content)), default=0)
    if dialect.longest_text and longest > dialect.longest_text:
        faults.append(f"{where}: content is over {dialect.longest_text} characters (Z41)")
    for place, part in enumerate(objects(content)):
        role = message.get("role")
        asked = "user" if dialect.media_anywhere else role
        faults += _part_faults(part, f"{where}.content[{place}]", asked)
    return faults


def _silence_faults(message: dict[str, object], where: str, dialect: Dialect) -> list[str]:
    """Who may say nothing: a result, and beside its calls the assistant, in the dialect's way."""
    content, role = message.get("content"), message.get("role")
    if "tool_calls" in message or (dialect.custom_tools and "function_call" in message):
        missing = dialect.content_beside_calls and not isinstance(content, str | list)
        rule = dialect.content_beside_calls
        return [f'{where}: content "" missing beside calls ({rule})'] if missing else []
    if role == "assistant":
        refused = dialect.refusal_is_content and not is_blank(message.get("refusal"))
        silent = is_blank("".join(_said(content))) and not refused
        rule = dialect.nothing_rule
        return [f"{where}: assistant says and calls nothing ({rule})"] if silent else []
    return [f"{where}: content is empty (C9)"] if content == "" and role != "tool" else []


def _said(content: object) -> list[str]:
    return [content] if isinstance(content, str) else _part_texts(content)


def _part_faults(part: dict[str, object], where: str, role: object) -> list[str]:
    faults, media = list[str](), part.get("type") not in ("text", "refusal", "thinking")
    if media and role != "user":
        faults.append(f"{where}: {part.get('type')} outside a user message (Z38)")
    if part.get("type") == "text" and not part.get("text") and role != "tool":
        faults.append(f"{where}: text is empty (C9)")
    fault = _media_fault(part)
    return faults + ([f"{where}: {fault}"] if fault else [])


def _media_fault(part: dict[str, object]) -> str | None:
    inner = part.get(str(part.get("type")))
    match part.get("type"):
        case "image_url":
            return url_fault(inner.get("url") if isinstance(inner, dict) else inner)
        case "input_audio":
            return base64_fault(inner.get("data") if isinstance(inner, dict) else inner)
        case "file" if isinstance(inner, dict) and "file_data" in inner:
            return file_fault(inner["file_data"])
        case _:
            return None


def _call_faults(message: dict[str, object], where: str, dialect: Dialect) -> list[str]:
    faults: list[str] = []
    if message.get("tool_calls") == []:
        faults.append(f"{where}.tool_calls: empty list (C8)")
    if "function_call" in message and not dialect.custom_tools:
        faults.append(f"{where}: function_call is of an older API; use tool_calls (D6)")
    for place, call in enumerate(objects(message.get("tool_calls"))):
        spot, function = f"{where}.tool_calls[{place}]", _function(call)
        if dialect.custom_tools and isinstance(custom := call.get("custom"), dict):
            faults += _named(custom.get("name"), spot, dialect)
            fault = dialect.id_fault(call.get("id"), custom.get("name"))
            faults += [f"{spot}: {fault}"] if fault else []
            continue
        if call.get("type", "function") != "function":
            faults.append(f"{spot}: type {call.get('type')!r} is not function (C6)")
        faults += _named(function.get("name"), spot, dialect)
        if fault := dialect.id_fault(call.get("id"), function.get("name")):
            faults.append(f"{spot}: {fault}")
        arguments = function.get("arguments")
        if dialect.object_arguments and isinstance(arguments, dict):
            continue
        if fault := object_text(arguments)[1]:
            faults.append(f"{spot}: arguments {fault} ({dialect.arguments_rule})")
    return faults


def _named(name: object, where: str, dialect: Dialect) -> list[str]:
    if isinstance(name, str) and dialect.name.fullmatch(name):
        return []
    return [f"{where}: name {name!r} does not match {dialect.name.pattern} ({dialect.name_rule})"]


def _tool_faults(request: dict[str, object], dialect: Dialect) -> list[str]:
    faults = ["tools: empty list (C8)"] if request.get("tools") == [] else []
    names: list[object] = []
    for at, tool in enumerate(objects(request.get("tools"))):
        where, function = f"tools[{at}]", _function(tool)
        if tool.get("type") != "function":
            continue
        faults += _named(function.get("name"), where, dialect)
        if function.get("name") in names:
            faults.append(f"{where}: name {function.get('name')!r} given twice (A15)")
        names.append(function.get("name"))
        faults += parameter_faults(function, where)
    return faults


def parameter_faults(function: dict[str, object], where: str) -> list[str]:
    """What is wrong with the schema of a function tool, chat or Responses."""
    if "parameters" not in function:
        return []
    schema, where = function["parameters"], f"{where}.parameters"
    strict = strict_faults(schema, where) if function.get("strict") is True else []
    return schema_faults(schema, where) + strict


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the common ground."""
    return shape_faults(request, model) + chat_faults(request, Dialect(RULES, short_id))


events = chat_events
texts = chat_texts
