"""The neutral form: turns as they are stored, for export, import and everything without a provider.

Nothing is repaired here: what was recorded is shown, with canonical ids, so that an export that is
posted again gives the same history.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.codecs._reading import bad_choice, check_named, definitions, draft, elements
from app.core.conversation import (
    SPEAKERS,
    TURN_STATUSES,
    Block,
    Draft,
    File,
    Image,
    Text,
    ToolCall,
    ToolResult,
)
from app.core.errors import RuleBroken
from app.core.identity.ids import signature_in
from app.core.json.fields import Fields, escaped
from app.core.json.text import Json, JsonObject
from app.core.neutral import blocks as neutral
from app.core.render.placeholders import value_text
from app.core.render.profile import Profile
from app.core.render.view import View
from app.core.telling import missing, named, one_of
from app.core.tools.definitions import Choice, Definition, HostedTool, Refused, Tool, tool, with_own
from app.core.tools.rules import ToolRules
from app.core.wire.codec import Posted, Prefixed

IDS = Prefixed("hist_tool_")
KEYS = ("messages", "turns")
LIST = "turns"
SETTINGS: frozenset[str] = frozenset()
REPLIES = None
# What we say of a stored turn beside what was said in it; such a turn may be posted again.
_ABOUT = ("seq", "format", "created_at", "hash", "payload", "payload_text", "earlier", "usage")
PROFILE = Profile(verbatim=True, names=re.compile(r".*", re.DOTALL))
TOOLS = ToolRules(allowed=True, strict=True, hosted=True)


def parse(posted: Posted) -> list[Draft]:
    key = "turns" if "turns" in posted.members else "messages"
    return [_draft(fields, text) for fields, text in elements(posted, key)]


def render(view: View) -> JsonObject:
    return {"turns": list(view.turns)}


def _draft(fields: Fields, text: str) -> Draft:
    speaker = fields.text("speaker")
    if speaker not in SPEAKERS:
        raise RuleBroken(one_of("speaker", speaker, SPEAKERS), pointer=f"{fields.at}/speaker")
    fields.passed_over(*_ABOUT)
    turn_id, provider = fields.maybe_text("turn_id"), fields.maybe_text("provider")
    model, metadata = fields.maybe_text("model"), fields.get("metadata")
    status = fields.maybe_text("status") or "complete"
    if status not in TURN_STATUSES:
        raise RuleBroken(one_of("status", status, TURN_STATUSES), pointer=f"{fields.at}/status")
    blocks = _blocks(fields)
    return replace(
        draft(fields, speaker, blocks, text, "blocks"),  # type: ignore[arg-type]
        turn_id=turn_id,
        provider=provider,
        model=model,
        metadata={} if metadata is None else Fields(metadata, f"{fields.at}/metadata").members,
        status=status,  # type: ignore[arg-type]
    )


def _blocks(fields: Fields) -> list[Block]:
    """The blocks of a turn; `text` is short for a single block of text."""
    short = fields.maybe_text("text")
    if short is not None and fields.get("blocks") is not None:
        raise RuleBroken(
            "`text` and `blocks` are two ways to say it; give one.", pointer=f"{fields.at}/text"
        )
    if short is not None:
        return [Text(short)]
    if "blocks" not in fields:
        raise _without_blocks(fields)
    blocks = [_block(inner) for inner in fields.each("blocks")]
    return _with_media(blocks) if _is_handmade(fields.members) else blocks


def _without_blocks(fields: Fields) -> RuleBroken:
    """Names what stands there instead, if something does."""
    strange = fields.own_unread()
    if not strange:
        return RuleBroken(missing("blocks", "a list"), pointer=f"{fields.at}/blocks")
    return RuleBroken(
        f"Content must stand in `blocks`; {named(strange[0])} is not read here.",
        pointer=f"{fields.at}/{escaped(strange[0])}",
    )


def _block(fields: Fields) -> Block:
    block = neutral.read_block(fields)
    if isinstance(block, ToolResult):
        fields.passed_over("matched_by")
        check_named(fields, block.call_id or block.raw_id, "call_id")
    if not isinstance(block, ToolCall) or block.signature is not None:
        return block
    return replace(block, signature=signature_in(block.raw_id))


def _is_handmade(members: JsonObject) -> bool:
    """A tool's turn that no export of ours wrote: those say of every result how it was called."""
    blocks = members.get("blocks")
    exported = isinstance(blocks, list) and any(
        isinstance(block, dict) and "raw_id" in block for block in blocks
    )
    return members.get("speaker") == "tool" and not exported


def _with_media(blocks: list[Block]) -> list[Block]:
    """In a tool's turn an image or file right behind a result belongs to that result."""
    joined: list[Block] = []
    for block in blocks:
        if isinstance(block, Image | File) and joined and isinstance(joined[-1], ToolResult):
            before = joined[-1]
            parts = before.parts
            if parts is None:
                parts = (Text(value_text(before.result)),)
            joined[-1] = replace(before, result=None, parts=(*parts, block))
        else:
            joined.append(block)
    return joined


def read_tools(value: Json) -> list[Definition]:
    return [_definition(one) for one in definitions(value)]


def _definition(value: Json) -> Definition:
    if not isinstance(value, dict):
        return Refused(None, "the definition is not a JSON object")
    name = value.get("name")
    native, wire = value.get("native"), value.get("wire")
    if isinstance(native, dict) and isinstance(wire, str):
        return HostedTool(name if isinstance(name, str) else wire, native, wire)
    read = tool(name, value.get("description"), value.get("parameters"), strict=value.get("strict"))
    own = value.get("own")
    known = wire if isinstance(wire, str) else None
    return with_own(read, own if isinstance(own, dict) else {}, (), known)


def read_choice(choice: Json, parallel: bool | None) -> Choice | None:
    if choice is None:
        return None if parallel is None else Choice(parallel=parallel)
    if not isinstance(choice, dict):
        raise bad_choice()
    said = choice.get("parallel")
    parallel = said if isinstance(said, bool) else parallel
    allowed = choice.get("allowed")
    names = tuple(str(one) for one in allowed) if isinstance(allowed, list) else ()
    native, wire = choice.get("native"), choice.get("wire")
    own = native if isinstance(native, dict) and isinstance(wire, str) else None
    known = wire if own is not None and isinstance(wire, str) else None
    match choice:
        case {"mode": "auto"}:
            return Choice("auto", None, names, parallel, own, known)
        case {"mode": "any"}:
            return Choice("any", None, names, parallel, own, known)
        case {"mode": "none"}:
            return Choice("none", None, names, parallel, own, known)
        case {"mode": "tool", "name": str(name)}:
            return Choice("tool", name, (), parallel, own, known)
        case _:
            raise bad_choice()


def write_tools(tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
    request: JsonObject = {}
    if tools:
        request["tools"] = [_written_tool(one) for one in tools]
    if choice is not None:
        shown: JsonObject = {"mode": choice.mode}
        if choice.name is not None:
            shown["name"] = choice.name
        if choice.allowed:
            shown["allowed"] = list(choice.allowed)
        if choice.parallel is not None:
            shown["parallel"] = choice.parallel
        if choice.native is not None:
            shown |= {"wire": choice.wire, "native": choice.native}
        request["tool_choice"] = shown
    return request


def _written_tool(one: Tool | HostedTool) -> JsonObject:
    if isinstance(one, HostedTool):
        return {"name": one.name, "wire": one.wire, "native": one.native}
    shown: JsonObject = {"name": one.name}
    if one.description is not None:
        shown["description"] = one.description
    shown["parameters"] = one.schema
    if one.strict:
        shown["strict"] = True
    if one.own:
        shown |= {"wire": one.wire, "own": one.own}
    return shown
