"""Blocks as JSON: the neutral form, in which turns are stored, shown and exported.

`block_json` and `block` are each other's inverse. Reading is strict about types and says with a
pointer what is wrong; it also takes the camelCase names of older histories (`callId`, `isError`,
`tool_response`). Arguments travel as a value (`parameters`); their text (`arguments`) is added only
where the value would not give it back, and stands alone where it is very long. `custom` marks a
call of a tool that takes a text and no JSON.
"""

import re
from typing import assert_never, cast

from ...jsontext.arguments import as_given
from ...jsontext.fields import Fields, filled
from ...jsontext.writing import dumps
from ...model.conversation import (
    PHASES,
    STATUSES,
    Block,
    File,
    Image,
    Opaque,
    Part,
    Phase,
    Status,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from ...model.errors import RuleBroken
from ...model.ids import is_canonical
from ...model.json_values import Json, JsonObject

# How an object begins that was written with blanks; `dumps` writes none.
_SPACED = re.compile(r'\{(?:"[^"\\]*":)?\s')


def block_json(block: Block) -> JsonObject:
    """The neutral form; members that say nothing are left out."""
    match block:
        case Text():
            return filled(
                type="text", text=block.text, signature=block.signature, phase=block.phase
            )
        case Image():
            return filled(type="image", data=block.url, detail=block.detail)
        case File():
            return filled(type="file", data=block.url, name=block.name, media_type=block.media_type)
        case Thinking():
            return filled(
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
            return {"type": "opaque", "kind": block.kind, "native": block.native} | filled(
                wire=block.wire, provider=block.provider, model=block.model
            )
        case _:
            assert_never(block)


def block(value: Json, pointer: str) -> Block:
    """A block from its neutral form. Raises `RuleBroken`."""
    return read_block(Fields(value, pointer))


def read_block(fields: Fields) -> Block:
    """The same, for callers who want to know what was not read."""
    kind = fields.text("type")
    match kind:
        case "text":
            return Text(fields.text("text"), fields.maybe_text("signature"), _phase(fields))
        case "image":
            return Image(fields.text("data"), fields.maybe_text("detail"))
        case "file":
            return File(
                fields.text("data"), fields.maybe_text("name"), fields.maybe_text("media_type")
            )
        case "thinking":
            return _thinking(fields)
        case "tool_call":
            return _call(fields)
        case "tool_result" | "tool_response":
            return _result(fields)
        case "opaque":
            return Opaque(
                fields.text("kind"),
                fields.get("native"),
                fields.maybe_text("wire"),
                fields.maybe_text("provider"),
                fields.maybe_text("model"),
            )
        case _:
            return Opaque(kind, fields.whole())


def _call_json(call: ToolCall) -> JsonObject:
    shown = filled(type="tool_call", id=call.id or call.raw_id)
    if call.id:
        shown["raw_id"] = call.raw_id
    shown |= {"name": call.name, **as_given(call.arguments)}
    if "parameters" in shown and not _is_written(shown["parameters"], call.arguments):
        shown["arguments"] = call.arguments
    return shown | filled(signature=call.signature, custom=call.custom or None)


def _is_written(value: Json, text: str) -> bool:
    """Whether the text is what `dumps` writes for its value."""
    return text.isascii() and not _SPACED.match(text) and dumps(value) == text


def result_json(result: ToolResult, call_id: str | None, *, exported: bool = False) -> JsonObject:
    """A result under the canonical id of its call, if it has one. Exports always say the raw id."""
    shown: JsonObject = {"type": "tool_result", "call_id": call_id or result.raw_id}
    if call_id or exported:
        shown["raw_id"] = result.raw_id
    shown |= filled(name=result.name)
    if result.parts is None:
        shown["result"] = result.result
    else:
        shown["content"] = [block_json(part) for part in result.parts]
    if result.status != "ok" or result.error is not None:
        shown["status"] = result.status
    return shown | filled(error=result.error)


def _phase(fields: Fields) -> Phase | None:
    if fields.members.get("phase") in PHASES:
        return cast(Phase, fields.text("phase"))
    # Another one is not read, and that is told.
    return None


def _thinking(fields: Fields) -> Thinking:
    native = fields.get("native")
    wire = fields.maybe_text("wire")
    signature = fields.maybe_text("signature")
    text = fields.text("text")
    if native is None and signature:
        # A bare signature is Anthropic's: it is the one wire whose thinking is text and signature.
        native = {"type": "thinking", "thinking": text, "signature": signature}
        wire = "anthropic"
    return Thinking(text, native, wire, fields.maybe_text("provider"), fields.maybe_text("model"))


def _call(fields: Fields) -> ToolCall:
    given = fields.maybe_text("id")
    raw_id = fields.maybe_text("raw_id")
    keeps = given is not None and is_canonical(given)
    if "arguments" in fields:
        arguments = fields.text("arguments")
        # The same thing as a value; exports give both where the value loses the text.
        fields.passed_over("parameters")
    else:
        arguments = dumps(fields.get("parameters"))
    return ToolCall(
        raw_id=raw_id if given is None or (keeps and "raw_id" in fields) else given,
        name=fields.maybe_text("name") or "",
        arguments=arguments,
        id=cast(str, given) if keeps else "",
        signature=fields.maybe_text("signature"),
        custom=fields.get("custom") is True,
    )


def _result(fields: Fields) -> ToolResult:
    error = fields.maybe_text("error")
    flagged = fields.get("isError") is True or fields.get("is_error") is True
    status = "error" if flagged or error is not None else "ok"
    if fields.get("status") is not None:
        status = fields.word("status", STATUSES)
    given = fields.maybe_text("call_id", "callId")
    raw_id = fields.maybe_text("raw_id")
    keeps = given is not None and is_canonical(given) and "raw_id" in fields
    return ToolResult(
        raw_id=raw_id if given is None or keeps else given,
        result=fields.get("result"),
        parts=_parts(fields),
        status=cast(Status, status),
        error=error,
        name=fields.maybe_text("name"),
        call_id=given if keeps else None,
    )


def _parts(fields: Fields) -> tuple[Part, ...] | None:
    if "content" not in fields:
        return None
    if not isinstance(fields.members["content"], list):
        raise fields.broken("content", "`content` must be a list of blocks.")
    if fields.members.get("result") is not None:
        raise fields.broken("content", "A result must have `result` or `content`, not both.")
    parts: list[Part] = []
    for inner in fields.each("content"):
        part = read_block(inner)
        if not isinstance(part, Part):
            raise RuleBroken(
                "A result must hold text, images, files and opaque blocks only.", pointer=inner.at
            )
        parts.append(part)
    return tuple(parts)
