"""Turns for a target, without any store: the request, its messages, and what it took."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.codecs import CODECS, provider_id
from app.core.conversation import Turn
from app.core.errors import RuleBroken
from app.core.json.text import JsonObject, dumps_utf8, joined_array, joined_object
from app.core.render.options import ReplayOptions
from app.core.render.pairing import Links
from app.core.render.pipeline import extend
from app.core.render.repairs import Repair
from app.core.render.segments import Render
from app.core.render.view import Pending
from app.core.render.writing import Wire
from app.service.tooldefs import Offer, offer
from app.service.toolreading import ToolSet


def demand_request(options: ReplayOptions, pointer: str) -> None:
    """Only what goes to a provider can be made ready to be sent."""
    if options.ready and CODECS[options.provider].profile.verbatim:
        raise RuleBroken(
            f"`ready` must be false for {options.provider}, which shows turns as they are stored.",
            pointer=pointer,
        )


@dataclass(frozen=True, slots=True)
class Rendered:
    """A request for a provider, with what it took to make it.

    `beside`: all that stands beside the messages; in the place of those, an empty list.
    """

    list_name: str
    beside: JsonObject
    lines: tuple[bytes, ...]
    repairs: tuple[Repair, ...]
    pending: tuple[Pending, ...]
    render: Render

    def begins_with(self, other: "Rendered") -> bool:
        """Whether a provider that read the other one reads the same, and then more."""
        return self.beside == other.beside and self.lines[: len(other.lines)] == other.lines

    def request(self, first: int | None = None) -> bytes:
        """The request; nothing but the messages from a place on, where one is given."""
        if first is not None:
            return joined_object({self.list_name: joined_array(self.lines[first:])})
        members = {name: dumps_utf8(member) for name, member in self.beside.items()}
        return joined_object(members | {self.list_name: joined_array(self.lines)})

    def prefixes(self, *counts: int) -> list[JsonObject]:
        """For each number of messages a hash of all that a provider reads before the next one."""
        beside = {name: one for name, one in self.beside.items() if name != self.list_name}
        running = hashlib.sha256(dumps_utf8(beside) + b"\n")
        found: list[JsonObject] = []
        done = 0
        for count in counts:
            for line in self.lines[done:count]:
                running.update(line)
                running.update(b"\n")
            done = count
            found.append({"messages": count, "sha256": running.copy().hexdigest()})
        return found


def render(
    turns: Sequence[Turn],
    links: Links,
    assigned: Mapping[str, str],
    options: ReplayOptions,
    tools: ToolSet | None = None,
    kept: Render | None = None,
) -> Rendered:
    """`assigned`: what the mapping table holds for the target; `tools`: its definitions.

    `kept`: what of an earlier render is still true.
    """
    codec = CODECS[options.provider]
    provider_ids = {
        call.id: provider_id(
            options.provider, call.id, {options.provider: assigned.get(call.id, "")}
        )
        for turn in turns
        for call in turn.calls()
    }
    offered = offer(tools, options.provider) if tools and options.tools == "include" else None
    has_tools = offered is not None and bool(offered.prepared.tools)
    wire = Wire(codec, options, provider_ids, has_tools)
    done = extend(kept or Render(), turns, links, wire)
    return Rendered(
        codec.messages,
        wire.beside(done) | (offered.request if offered else {}),
        tuple(done.lines()),
        (*done.repairs(), *(_tool_repairs(offered) if offered else ())),
        tuple(done.pending()),
        done,
    )


def _tool_repairs(offered: Offer) -> Iterator[Repair]:
    for note in offered.prepared.notes:
        yield Repair(note.code, f"{note.tool}: {note.detail}" if note.tool else note.detail)
    for index, refused in offered.prepared.dropped:
        yield Repair("TOOL_DROPPED", f"{refused.name or f'tool {index}'}: {refused.reason}")
