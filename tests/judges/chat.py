"""The chat shape that OpenAI, Kimi, DeepSeek, Qwen and Mistral share, and its rules.

A `Dialect` says what one of them demands beyond the common ground: ids, names, roles, content.
Rule numbers in the complaints are those of docs/providers (C = OpenAI Chat, K = Kimi,
D = DeepSeek, Q = Qwen, M = Mistral).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.judges.pairing import Break, Call, Event, Result, Rules, pairing_faults
from tests.judges.schemas import schema_faults, strict_faults
from tests.judges.wellformed import (
    base64_fault,
    file_fault,
    is_blank,
    leaves,
    object_text,
    objects,
    url_fault,
)

# OpenAI Chat, C5: the pattern from the error text, the length from the FunctionObject schema.
OPENAI_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


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
        if message.get("role") == "tool":
            content = message.get("content")
            value = content if isinstance(content, str) else "\n".join(_part_texts(content))
            yield Result(where, message.get("tool_call_id"), value, message.get("name"))
            continue
        yield Break(where)
        for place, call in enumerate(objects(message.get("tool_calls"))):
            arguments, _ = object_text(_function(call).get("arguments"))
            spot = f"{where}.tool_calls[{place}]"
            yield Call(spot, call.get("id"), _function(call).get("name"), arguments)


def chat_texts(request: dict[str, object]) -> list[str]:
    """All texts of all messages in order, reasoning and refusals included."""
    shown: list[str] = []
    for message in objects(request.get("messages")):
        for key in ("reasoning_content", "content", "refusal"):
            value = message.get(key)
            shown += [value] if isinstance(value, str) else _part_texts(value)
    return shown


def _part_texts(content: object) -> list[str]:
    keys = ("text", "refusal", "thinking")
    return [
        leaf
        for part in objects(content)
        for key in keys
        if key in part
        for leaf in _texts_under(part[key])
    ]


def _texts_under(value: object) -> list[str]:
    # Mistral's thinking chunk holds text chunks; the `type` beside the text is no text.
    return leaves(value) if isinstance(value, str) else _part_texts(value)


def _function(call: dict[str, object]) -> dict[str, object]:
    function = call.get("function")
    return function if isinstance(function, dict) else {}


def _content_faults(message: dict[str, object], where: str, dialect: Dialect) -> list[str]:
    content, role, faults = message.get("content"), message.get("role"), list[str]()
    has_calls = "tool_calls" in message
    if dialect.text_content and content is not None and not isinstance(content, str):
        faults.append(f"{where}: content must be text ({dialect.text_content})")
    if has_calls and dialect.content_beside_calls and not isinstance(content, str | list):
        faults.append(f'{where}: content "" missing beside calls ({dialect.content_beside_calls})')
    if role == "assistant" and not has_calls:
        refused = dialect.refusal_is_content and not is_blank(message.get("refusal"))
        if content is None or (isinstance(content, str) and is_blank(content)):
            faults += (
                []
                if refused
                else [f"{where}: assistant says and calls nothing ({dialect.nothing_rule})"]
            )
    elif content == "" and not has_calls and role != "tool":
        faults.append(f"{where}: content is empty (C9)")
    if content == []:
        faults.append(f"{where}: content is an empty list (C8)")
    for place, part in enumerate(objects(content)):
        faults += _part_faults(part, f"{where}.content[{place}]", role)
    return faults


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
    if "function_call" in message:
        faults.append(f"{where}: function_call is of an older API; use tool_calls (D6)")
    for place, call in enumerate(objects(message.get("tool_calls"))):
        spot, function = f"{where}.tool_calls[{place}]", _function(call)
        if call.get("type", "function") != "function":
            faults.append(f"{spot}: type {call.get('type')!r} is not function (C6)")
        faults += _named(function.get("name"), spot, dialect)
        if fault := dialect.id_fault(call.get("id"), function.get("name")):
            faults.append(f"{spot}: {fault}")
        if fault := object_text(function.get("arguments"))[1]:
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
