"""Anthropic Messages: the SDK's own parameter types made strict, then rules A1 to A16.

The SDK's types let any block stand in any role and know nothing of pairing, ids or blank text;
all of that is said here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile

from anthropic.types.beta import message_create_params as beta
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

from tests.judges.pairing import Break, Call, Event, Result, Rules, pairing_faults
from tests.judges.schemas import schema_faults
from tests.judges.strict_types import misfits
from tests.judges.wellformed import base64_fault, is_blank, objects, url_fault

ENDS = "A10"

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_THINKING = ("thinking", "redacted_thinking")
_EXECUTED = ("server_tool_use", "mcp_tool_use")
_CONNECTED = ("mcp_tool_use", "mcp_tool_result")
_RULES = Rules(unanswered="A1", orphan="A2", twice="A16", reused="A3")


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    whole = {"model": model or "any", "max_tokens": 1, **request}
    messages = objects(request.get("messages"))
    held = [block for message in messages for block in blocks(message.get("content"))]
    # The MCP connector is a beta, and its blocks stand in the types of the beta alone.
    is_beta = any(block.get("type") in _CONNECTED for block in held)
    shape = beta.MessageCreateParamsNonStreaming if is_beta else MessageCreateParamsNonStreaming
    faults = misfits(shape, whole, "request")
    if not messages:
        faults.append("messages: must hold at least one message (A6)")
    elif messages[0].get("role") != "user":
        faults.append('messages[0]: first message must use the "user" role (A7)')
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        if message.get("role") == "system":
            faults.append(f"{where}: role system; use the top-level system parameter (A8)")
        faults += _message_faults(message, where)
    faults += pairing_faults(events(request), _RULES)
    faults += _final_faults(messages) + _system_faults(request) + _tool_faults(request)
    if _marks(request) > 4:
        faults.append(f"request: {_marks(request)} blocks with cache_control, at most 4 (Z47)")
    return faults


def blocks(content: object) -> list[dict[str, object]]:
    """Content as blocks: a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def events(request: dict[str, object]) -> Iterator[Event]:
    """Only the user message right after an assistant message may answer, with its first blocks."""
    before: object = None
    for at, message in enumerate(objects(request.get("messages"))):
        role = message.get("role")
        if (before, role) != ("assistant", "user"):
            yield Break(f"messages[{at}]")
        before = role
        for place, block in enumerate(blocks(message.get("content"))):
            where = f"messages[{at}].content[{place}]"
            match block.get("type"):
                case "tool_use":
                    yield Call(where, block.get("id"), block.get("name"), block.get("input"))
                case "tool_result":
                    yield Result(where, block.get("tool_use_id"), _result_value(block))
                case _:
                    # What the assistant says beside its calls parts nothing.
                    yield from () if role == "assistant" else (Break(where),)


def texts(request: dict[str, object]) -> list[str]:
    """System, texts, thinking and results in order."""
    shown = [str(block.get("text", "")) for block in blocks(request.get("system"))]
    for message in objects(request.get("messages")):
        for block in blocks(message.get("content")):
            shown += [v for key in ("text", "thinking") if isinstance(v := block.get(key), str)]
            if block.get("type") == "tool_result":
                shown += [str(b["text"]) for b in blocks(block.get("content")) if "text" in b]
    return shown


def _result_value(block: dict[str, object]) -> str:
    return "\n".join(str(b["text"]) for b in blocks(block.get("content", "")) if "text" in b)


def _message_faults(message: dict[str, object], where: str) -> list[str]:
    content, role = message.get("content"), message.get("role")
    if content in ("", []):
        return [f"{where}: content is empty (A6)"]
    faults: list[str] = []
    for place, block in enumerate(blocks(content)):
        faults += _block_faults(block, f"{where}.content[{place}]", role)
    if role == "assistant":
        faults += _assistant_order_faults(blocks(content), where)
    return faults


def _block_faults(block: dict[str, object], where: str, role: object) -> list[str]:
    kind, faults = block.get("type"), list[str]()
    home = {"tool_use": "assistant", "tool_result": "user", "thinking": "assistant",
            "redacted_thinking": "assistant", "server_tool_use": "assistant",
            "mcp_tool_use": "assistant", "mcp_tool_result": "assistant",
            "image": "user", "document": "user"}  # fmt: skip
    if home.get(str(kind), role) != role:
        faults.append(f"{where}: {kind} does not belong into a {role} message (A1, A2)")
    match kind:
        case "text" if is_blank(block.get("text")):
            faults.append(f"{where}: text content blocks must contain non-whitespace text (A5)")
        case "thinking" if not block.get("signature"):
            faults.append(f"{where}: thinking without its signature (A13)")
        case "image" | "document":
            fault = _source_fault(block.get("source"))
            faults += [f"{where}: {fault}"] if fault else []
        case "tool_use":
            faults += _tool_use_faults(block, where)
        case "tool_result":
            faults += _tool_result_faults(block, where)
        case _:
            pass
    return faults


def _tool_use_faults(block: dict[str, object], where: str) -> list[str]:
    faults = []
    if not _matches(_ID, block.get("id")):
        faults.append(f"{where}: id {block.get('id')!r} must match ^{_ID.pattern}$ (A4)")
    if not _matches(_NAME, block.get("name")):
        faults.append(f"{where}: name {block.get('name')!r} must match ^{_NAME.pattern}$ (A16)")
    if not isinstance(block.get("input"), dict):
        faults.append(f"{where}: input must be an object")
    return faults


def _tool_result_faults(block: dict[str, object], where: str) -> list[str]:
    content, faults = block.get("content"), list[str]()
    if not _matches(_ID, block.get("tool_use_id")):
        faults.append(f"{where}: tool_use_id must match ^{_ID.pattern}$ (A4)")
    for place, inner in enumerate(objects(content)):
        faults += _block_faults(inner, f"{where}.content[{place}]", "user")
    if block.get("is_error"):
        if all(is_blank(inner.get("text")) for inner in blocks(content)):
            faults.append(f"{where}: content cannot be empty if is_error is true (A11)")
        if any(inner.get("type") != "text" for inner in blocks(content)):
            faults.append(f"{where}: all content must be text if is_error is true (A11)")
    return faults


def _assistant_order_faults(content: list[dict[str, object]], where: str) -> list[str]:
    """Calls come last, unless signed thinking forbids to move anything (Z06, Z40)."""
    faults, kinds = [], [block.get("type") for block in content]
    if kinds and kinds[-1] in _THINKING:
        faults.append(f"{where}: final block must not be thinking (A16)")
    after = dropwhile(lambda kind: kind != "tool_use", kinds)
    if "text" in after and not any(kind in _THINKING for kind in kinds):
        faults.append(f"{where}: text after tool_use (A1, Z06)")
    answered = {block.get("tool_use_id") for block in content}
    # "Programmatic tool calling": code has its result after those of the calls that it made.
    answered |= {
        caller.get("tool_id") for caller in objects([one.get("caller") for one in content])
    }
    return faults + [
        f"{where}: {block['type']} {block.get('id')!r} has no result (Z56)"
        for block in content
        if block.get("type") in _EXECUTED and block.get("id") not in answered
    ]


def _final_faults(messages: list[dict[str, object]]) -> list[str]:
    if not messages or messages[-1].get("role") != "assistant":
        return []
    last = (blocks(messages[-1].get("content")) or [{}])[-1].get("text")
    if isinstance(last, str) and last != last.rstrip():
        return ["messages: final assistant content cannot end with trailing whitespace (A9)"]
    return []


def _system_faults(request: dict[str, object]) -> list[str]:
    if "system" not in request:
        return []
    system = blocks(request["system"])
    if not system or any(is_blank(block.get("text")) for block in system):
        return ["system: text content blocks must contain non-whitespace text (A5)"]
    return []


def _tool_faults(request: dict[str, object]) -> list[str]:
    faults: list[str] = []
    names: list[object] = []
    for at, tool in enumerate(objects(request.get("tools"))):
        where, name = f"tools[{at}]", tool.get("name")
        if not _matches(_NAME, name):
            faults.append(f"{where}: name {name!r} must match ^{_NAME.pattern}$ (A16)")
        if name in names:
            faults.append(f"{where}: Tool names must be unique (A15)")
        names.append(name)
        if "input_schema" in tool:
            faults += _schema_faults(tool["input_schema"], f"{where}.input_schema")
    return faults


def _schema_faults(schema: object, where: str) -> list[str]:
    if isinstance(schema, dict) and schema.keys() & {"oneOf", "anyOf", "allOf"}:
        return [f"{where}: no oneOf, allOf, or anyOf at the top level (A15)"]
    return schema_faults(schema, where, must_be_object=True)


def _source_fault(source: object) -> str | None:
    if isinstance(source, dict) and source.get("type") == "base64":
        return base64_fault(source.get("data"))
    if isinstance(source, dict) and source.get("type") == "url":
        url = source.get("url")
        web = isinstance(url, str) and url.startswith("http")
        return url_fault(url) if web else "url source must be a web address"
    return None


def _marks(value: object) -> int:
    if isinstance(value, dict):
        own = 1 if value.get("cache_control") else 0
        return own + sum(_marks(each) for each in value.values())
    return sum(_marks(each) for each in value) if isinstance(value, list) else 0


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None
