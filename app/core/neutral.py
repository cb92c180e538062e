"""Blocks as JSON: the neutral form, in which turns are stored, shown and exported.

`block_json` and `block` are each other's inverse. Reading is strict about types and says with a
pointer what is wrong; it also takes the camelCase names of older histories (`callId`, `isError`,
`tool_response`). Arguments travel as a value (`parameters`); their text (`arguments`) is added only
where the value would not give it back, and stands alone where it is very long.
"""

from typing import assert_never, cast

from app.core.arguments import parsed
from app.core.chunks import PIECE
from app.core.conversation import (
    STATUSES,
    Block,
    File,
    Image,
    Opaque,
    Part,
    Status,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.errors import NotJson, RuleBroken
from app.core.ids import is_canonical
from app.core.jsontext import Json, JsonObject, dumps

_PARTS = (Text, Image, File, Opaque)


def block_json(block: Block) -> JsonObject:
    """The neutral form; members that say nothing are left out."""
    match block:
        case Text():
            return _said(type="text", text=block.text, signature=block.signature)
        case Image():
            return _said(type="image", data=block.url, detail=block.detail)
        case File():
            return _said(type="file", data=block.url, name=block.name, media_type=block.media_type)
        case Thinking():
            return _said(
                type="thinking",
                text=block.text,
                native=block.native,
                wire=block.wire,
                provider=block.provider,
                model=block.model,
            )
        case ToolCall():
            return _call_json(block)
        case ToolResult():
            return result_json(block, block.call_id)
        case Opaque():
            return {"type": "opaque", "kind": block.kind, "native": block.native} | _said(
                wire=block.wire, provider=block.provider, model=block.model
            )
        case _:
            assert_never(block)


def block(value: Json, pointer: str) -> Block:
    """A block from its neutral form. Raises `RuleBroken`."""
    members = _object(value, pointer)
    match members.get("type"):
        case "text":
            return Text(_text(members, "text", pointer), _optional(members, "signature", pointer))
        case "image":
            return Image(_text(members, "data", pointer), _optional(members, "detail", pointer))
        case "file":
            return File(
                _text(members, "data", pointer),
                _optional(members, "name", pointer),
                _optional(members, "media_type", pointer),
            )
        case "thinking":
            return _thinking(members, pointer)
        case "tool_call":
            return _call(members, pointer)
        case "tool_result" | "tool_response":
            return _result(members, pointer)
        case "opaque":
            return Opaque(
                _text(members, "kind", pointer),
                members.get("native"),
                _optional(members, "wire", pointer),
                _optional(members, "provider", pointer),
                _optional(members, "model", pointer),
            )
        case str() as kind:
            return Opaque(kind, value)
        case _:
            raise RuleBroken("A block needs a type.", pointer=f"{pointer}/type")


def _call_json(call: ToolCall) -> JsonObject:
    shown = _said(type="tool_call", id=call.id or call.raw_id)
    if call.id:
        shown["raw_id"] = call.raw_id
    shown["name"] = call.name
    if len(call.arguments) > PIECE:
        return shown | _said(arguments=call.arguments, signature=call.signature)
    try:
        shown["parameters"] = parsed(call.arguments)
    except (NotJson, RuleBroken):
        return shown | _said(arguments=call.arguments, signature=call.signature)
    if dumps(shown["parameters"]) != call.arguments:
        shown["arguments"] = call.arguments
    return shown | _said(signature=call.signature)


def result_json(result: ToolResult, call_id: str | None, *, exported: bool = False) -> JsonObject:
    """A result under the canonical id of its call, if it has one. Exports always say the raw id."""
    shown: JsonObject = {"type": "tool_result", "call_id": call_id or result.raw_id}
    if call_id or exported:
        shown["raw_id"] = result.raw_id
    shown |= _said(name=result.name)
    if result.parts is None:
        shown["result"] = result.result
    else:
        shown["content"] = [block_json(part) for part in result.parts]
    if result.status != "ok" or result.error is not None:
        shown["status"] = result.status
    return shown | _said(error=result.error)


def _thinking(members: JsonObject, pointer: str) -> Thinking:
    native = members.get("native")
    wire = _optional(members, "wire", pointer)
    signature = _optional(members, "signature", pointer)
    text = _text(members, "text", pointer)
    if native is None and signature:
        # A bare signature is Anthropic's: it is the one wire whose thinking is text and signature.
        native = {"type": "thinking", "thinking": text, "signature": signature}
        wire = "anthropic"
    return Thinking(
        text,
        native,
        wire,
        _optional(members, "provider", pointer),
        _optional(members, "model", pointer),
    )


def _call(members: JsonObject, pointer: str) -> ToolCall:
    given = _optional(members, "id", pointer)
    raw_id = _optional(members, "raw_id", pointer)
    keeps = given is not None and is_canonical(given)
    if "arguments" in members:
        arguments = _text(members, "arguments", pointer)
    else:
        arguments = dumps(members.get("parameters"))
    return ToolCall(
        raw_id=raw_id if keeps and "raw_id" in members else given,
        name=_optional(members, "name", pointer) or "",
        arguments=arguments,
        id=cast(str, given) if keeps else "",
        signature=_optional(members, "signature", pointer),
    )


def _result(members: JsonObject, pointer: str) -> ToolResult:
    status = _optional(members, "status", pointer)
    error = _optional(members, "error", pointer)
    flagged = members.get("isError") is True or members.get("is_error") is True
    if status is None:
        status = "error" if flagged or error is not None else "ok"
    if status not in STATUSES:
        raise RuleBroken(
            f"A result's status is one of {', '.join(STATUSES)}.", pointer=f"{pointer}/status"
        )
    given = _optional(members, "call_id" if "call_id" in members else "callId", pointer)
    raw_id = _optional(members, "raw_id", pointer)
    keeps = given is not None and is_canonical(given) and "raw_id" in members
    return ToolResult(
        raw_id=raw_id if keeps else given,
        result=members.get("result"),
        parts=_parts(members, pointer),
        status=cast(Status, status),
        error=error,
        name=_optional(members, "name", pointer),
        call_id=given if keeps else None,
    )


def _parts(members: JsonObject, pointer: str) -> tuple[Part, ...] | None:
    if "content" not in members:
        return None
    content = members["content"]
    if not isinstance(content, list):
        raise RuleBroken("A result's content is a list of blocks.", pointer=f"{pointer}/content")
    if members.get("result") is not None:
        raise RuleBroken("A result is a value or content, not both.", pointer=f"{pointer}/content")
    parts: list[Part] = []
    for place, value in enumerate(content):
        part = block(value, f"{pointer}/content/{place}")
        if not isinstance(part, _PARTS):
            raise RuleBroken(
                "A result holds text, images, files and opaque blocks.",
                pointer=f"{pointer}/content/{place}",
            )
        parts.append(part)
    return tuple(parts)


def _object(value: Json, pointer: str) -> JsonObject:
    if not isinstance(value, dict):
        raise RuleBroken("A block is a JSON object.", pointer=pointer)
    return value


def _text(members: JsonObject, key: str, pointer: str) -> str:
    value = members.get(key)
    if not isinstance(value, str):
        raise RuleBroken(f"{key} is a text and has to be given.", pointer=f"{pointer}/{key}")
    return value


def _optional(members: JsonObject, key: str, pointer: str) -> str | None:
    value = members.get(key)
    if value is not None and not isinstance(value, str):
        raise RuleBroken(f"{key} is a text.", pointer=f"{pointer}/{key}")
    return value


def _said(**members: Json) -> JsonObject:
    return {name: value for name, value in members.items() if value is not None}
