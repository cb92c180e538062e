"""Turns for a target, without any store: the request, its messages, and what it took."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.codecs import CODECS, shown_id
from app.core.conversation import Turn
from app.core.errors import RuleBroken
from app.core.json.text import Json, JsonObject, dumps_utf8
from app.core.render.options import ReplayOptions
from app.core.render.pairing import Links
from app.core.render.pipeline import view_of
from app.core.render.repairs import Repair
from app.core.render.view import Pending
from app.service.tooldefs import Offer, offer
from app.service.toolreading import ToolSet


def demand_request(options: ReplayOptions, pointer: str) -> None:
    """Only what goes to a provider can be made ready to be sent."""
    if options.ready and CODECS[options.provider].PROFILE.verbatim:
        raise RuleBroken(
            f"`ready` must be false for {options.provider}, which shows turns as they are stored.",
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
    options: ReplayOptions,
    tools: ToolSet | None = None,
) -> Rendered:
    """`assigned`: what the mapping table holds for the target; `tools`: its definitions."""
    codec = CODECS[options.provider]
    provider_ids = {
        call.id: shown_id(options.provider, call.id, {options.provider: assigned.get(call.id, "")})
        for turn in turns
        for call in turn.calls()
    }
    offered = offer(tools, options.provider) if tools and options.tools == "include" else None
    has_tools = offered is not None and bool(offered.prepared.tools)
    view = view_of(
        turns,
        links,
        codec.PROFILE,
        options,
        provider_ids,
        has_tools=has_tools,
    )
    request = codec.render(view)
    messages = request[codec.LIST]
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
    beside = {key: member for key, member in request.items() if key != CODECS[target].LIST}
    lines = [beside, *messages]
    text = b"".join(dumps_utf8(line) + b"\n" for line in lines)
    return {"messages": len(messages), "sha256": hashlib.sha256(text).hexdigest()}
