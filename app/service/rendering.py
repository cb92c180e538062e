"""Turns for a target, without any store: the request, its messages, and what it took."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.codecs import CODECS, shown_id
from app.core.conversation import Turn
from app.core.errors import RuleBroken
from app.core.json.text import Json, JsonObject, dumps_utf8
from app.core.render.pairing import Links
from app.core.render.pipeline import Window, view_of
from app.core.render.repairs import Repair
from app.core.render.view import Options, Pending, Reasoning
from app.service.tooldefs import Offer, offer
from app.service.toolreading import ToolSet

ToolsWanted: TypeAlias = Literal["include", "omit", "flatten"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which history, for whom, and how much of it."""

    conversation_id: str
    target: str
    model: str | None = None
    until: str | None = None
    last: int | None = None
    max_tokens: int | None = None
    reasoning: Reasoning = "auto"
    tools: ToolsWanted = "include"
    since: int | None = None
    ready: bool = False


def demand_request(wanted: Wanted, pointer: str) -> None:
    """Only what goes to a provider can be made ready to be sent."""
    if wanted.ready and CODECS[wanted.target].profile.verbatim:
        raise RuleBroken(
            f"`ready` must be false for {wanted.target}, which shows turns as they are stored.",
            pointer=pointer,
        )


@dataclass(frozen=True, slots=True)
class Rendered:
    """A request for a provider, its messages one by one, what it took, what it waits for."""

    request: JsonObject
    messages: list[Json]
    repairs: tuple[Repair, ...]
    pending: tuple[Pending, ...] = ()


def render(
    turns: Sequence[Turn],
    links: Links,
    assigned: Mapping[str, str],
    wanted: Wanted,
    tools: ToolSet | None = None,
) -> Rendered:
    """`assigned`: what the mapping table holds for the target; `tools`: its definitions."""
    codec = CODECS[wanted.target]
    shown = {
        call.id: shown_id(wanted.target, call.id, {wanted.target: assigned.get(call.id, "")})
        for turn in turns
        for call in turn.calls()
    }
    offered = offer(tools, wanted.target) if tools and wanted.tools == "include" else None
    has_tools = offered is not None and bool(offered.prepared.tools)
    view = view_of(
        turns,
        links,
        codec.profile,
        Options(shown, wanted.model, wanted.reasoning, has_tools, wanted.ready),
        Window(wanted.last, wanted.max_tokens, flat=wanted.tools == "flatten"),
    )
    request = codec.render(view)
    messages = request[codec.messages]
    assert isinstance(messages, list)
    if offered is None:
        return Rendered(request, messages, view.repairs, view.pending)
    repairs = (*view.repairs, *_tool_repairs(offered))
    return Rendered(request | offered.request, messages, repairs, view.pending)


def _tool_repairs(offered: Offer) -> Iterator[Repair]:
    for note in offered.prepared.notes:
        yield Repair(note.code, f"{note.tool}: {note.detail}" if note.tool else note.detail)
    for index, refused in offered.prepared.dropped:
        yield Repair("TOOL_DROPPED", f"{refused.name or f'tool {index}'}: {refused.reason}")


def prefix(request: JsonObject, messages: Sequence[Json], target: str) -> JsonObject:
    """How many messages there are, and a hash of all a provider reads before the next one."""
    beside = {key: member for key, member in request.items() if key != CODECS[target].messages}
    lines = [beside, *messages]
    text = b"".join(dumps_utf8(line) + b"\n" for line in lines)
    return {"messages": len(messages), "sha256": hashlib.sha256(text).hexdigest()}
