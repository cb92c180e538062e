"""Bedrock Converse: the service model with all its limits, then rules B1 to B10.

Claude often stands behind it, so ids are held to Claude's narrower pattern (B10), and blank text
inside a result counts as blank. Media bytes are judged as base64 text, the form of the wire.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile

from tests.formats.bedrock.shapes import shape_faults
from tests.judges.pairing import Break, Call, Event, Result, Rules, pairing_faults
from tests.judges.schemas import schema_faults
from tests.judges.wellformed import base64_fault, is_blank, leaves, objects

ENDS = "B11"
NEXT = {"role": "user", "content": [{"text": "And what comes next?"}]}

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_RULES = Rules(unanswered="B1", orphan="B2", twice="B3", reused="B3")
_HOME = {"toolUse": "assistant", "toolResult": "user", "reasoningContent": "assistant",
         "image": "user", "document": "user", "video": "user"}  # fmt: skip


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    messages = objects(request.get("messages"))
    faults = shape_faults(request) + _order_faults(messages)
    for at, message in enumerate(messages):
        faults += _message_faults(message, f"messages[{at}]")
    faults += pairing_faults(events(request), _RULES)
    for at, block in enumerate(objects(request.get("system"))):
        if "text" in block and is_blank(block["text"]):
            faults.append(f"system[{at}]: text is blank (B6)")
    if request.get("system") == []:
        faults.append("system: empty list (B6)")
    return faults + _tool_faults(request)


def events(request: dict[str, object]) -> Iterator[Event]:
    """Only the user message right after an assistant message may answer, with its first blocks."""
    before: object = None
    for at, message in enumerate(objects(request.get("messages"))):
        role = message.get("role")
        if (before, role) != ("assistant", "user"):
            yield Break(f"messages[{at}]")
        before = role
        for place, block in enumerate(objects(message.get("content"))):
            where, inner = f"messages[{at}].content[{place}]", _inner(block)
            if _is_served(block, role):
                continue
            if "toolUse" in block:
                yield Call(where, inner.get("toolUseId"), inner.get("name"), inner.get("input"))
            elif "toolResult" in block:
                yield Result(where, inner.get("toolUseId"), _result_value(inner))
            elif role != "assistant":
                yield Break(where)


def _is_served(block: dict[str, object], role: object) -> bool:
    """True for calls and results of tools that the provider runs; only these have a type.

    botocore: ToolUseBlock.type, ToolResultBlock.type.
    """
    is_tool = "toolUse" in block or "toolResult" in block
    return role == "assistant" and is_tool and "type" in _inner(block)


def _served_faults(content: list[dict[str, object]], where: str) -> list[str]:
    """Both halves of what the provider ran are there, or neither."""
    served = [block for block in content if _is_served(block, "assistant")]
    calls = {str(_inner(block).get("toolUseId")) for block in served if "toolUse" in block}
    results = {str(_inner(block).get("toolUseId")) for block in served if "toolResult" in block}
    return [f"{where}: {half} is half a pair (B1, B2)" for half in sorted(calls ^ results)]


def texts(request: dict[str, object]) -> list[str]:
    """System, texts, reasoning and results in order."""
    shown = [str(block["text"]) for block in objects(request.get("system")) if "text" in block]
    for message in objects(request.get("messages")):
        for block in objects(message.get("content")):
            if "text" in block:
                shown.append(str(block["text"]))
            elif "reasoningContent" in block:
                inner = _inner(block).get("reasoningText")
                shown += [str(inner.get("text"))] if isinstance(inner, dict) else []
            elif "toolResult" in block:
                for part in objects(_inner(block).get("content")):
                    shown += leaves(part.get("text", part.get("json", "")))
    return shown


def _inner(block: dict[str, object]) -> dict[str, object]:
    inner = next(iter(block.values()), None)
    return inner if isinstance(inner, dict) else {}


def _result_value(result: dict[str, object]) -> object:
    """The text of a text result, the value of a single `json`, the parts of anything else."""
    parts = objects(result.get("content"))
    if all("text" in part for part in parts):
        return "\n".join(str(part["text"]) for part in parts)
    return parts[0]["json"] if len(parts) == 1 and "json" in parts[0] else parts


def _order_faults(messages: list[dict[str, object]]) -> list[str]:
    if not messages:
        return ["messages: must hold at least one message (B5)"]
    roles = [message.get("role") for message in messages]
    faults = [] if roles[0] == "user" else ["messages[0]: must start with a user message (B5)"]
    faults += [
        f"messages[{at}]: {role} after {role}; roles must alternate (B4)"
        for at, role in enumerate(roles)
        if at and role == roles[at - 1]
    ]
    if "system" in roles:
        faults.append("messages: role system; use the system parameter (B4)")
    return faults


def _message_faults(message: dict[str, object], where: str) -> list[str]:
    content, role = objects(message.get("content")), message.get("role")
    faults = [] if content else [f"{where}: content is empty (B7)"]
    for place, block in enumerate(content):
        faults += _block_faults(block, f"{where}.content[{place}]", role)
    if role == "assistant":
        faults += _served_faults(content, where)
    kinds = [next(iter(block), "") for block in content if not _is_served(block, role)]
    text_after_call = "text" in dropwhile(lambda kind: kind != "toolUse", kinds)
    if text_after_call and "reasoningContent" not in kinds:
        faults.append(f"{where}: text after toolUse (B1, Z06)")
    return faults


def _block_faults(block: dict[str, object], where: str, role: object) -> list[str]:
    kind, inner = next(iter(block), ""), _inner(block)
    faults: list[str] = []
    if _HOME.get(kind, role) != role and not _is_served(block, role):
        faults.append(f"{where}: {kind} does not belong into a {role} message (B1, B2)")
    if "toolUseId" in inner and not _ID.fullmatch(str(inner["toolUseId"])):
        faults.append(f"{where}: toolUseId must match {_ID.pattern} (B10)")
    match kind:
        case "text" if is_blank(block["text"]):
            faults.append(f"{where}: text is blank (B6)")
        case "json" if not isinstance(block["json"], dict):
            faults.append(f"{where}: json must be an object")
        case "toolUse" if not isinstance(inner.get("input"), dict):
            faults.append(f"{where}: input must be an object")
        case "toolResult":
            faults += _result_faults(inner, where)
        case "image" | "document" | "video":
            faults += _media_faults(inner.get("source"), where)
        case _:
            pass
    return faults


def _result_faults(result: dict[str, object], where: str) -> list[str]:
    faults: list[str] = []
    for place, part in enumerate(objects(result.get("content"))):
        faults += _block_faults(part, f"{where}.content[{place}]", "user")
    if result.get("status") == "error" and not result.get("content"):
        faults.append(f"{where}: content cannot be empty when status is error (B9)")
    return faults


def _media_faults(source: object, where: str) -> list[str]:
    fault = (
        base64_fault(source["bytes"]) if isinstance(source, dict) and "bytes" in source else None
    )
    return [f"{where}: {fault}"] if fault else []


def _tool_faults(request: dict[str, object]) -> list[str]:
    config = request.get("toolConfig")
    has_tool_blocks = any(not isinstance(event, Break) for event in events(request))
    if not isinstance(config, dict):
        return (
            ["request: toolConfig must be defined beside tool blocks (B8)"]
            if has_tool_blocks
            else []
        )
    faults: list[str] = []
    names: list[object] = []
    for at, tool in enumerate(objects(config.get("tools"))):
        spec = tool.get("toolSpec")
        if not isinstance(spec, dict):
            continue
        where, schema = f"toolConfig.tools[{at}]", spec.get("inputSchema")
        if spec.get("name") in names:
            faults.append(f"{where}: name {spec.get('name')!r} given twice (A15)")
        names.append(spec.get("name"))
        if isinstance(schema, dict) and "json" in schema:
            faults += schema_faults(schema["json"], f"{where}.inputSchema", must_be_object=True)
    return faults
