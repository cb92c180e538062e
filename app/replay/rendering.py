"""Turns for a target, without any store: the request, its messages, and what it took."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from ..formats.registry import CODECS, provider_id
from ..jsontext.writing import dumps_utf8, joined_array
from ..ledger.pairing import Links
from ..model.conversation import Turn
from ..model.errors import RuleBroken
from ..model.json_values import JsonObject
from ..model.repairs import Repair
from ..tools.commands import NO_OFFER, Offer
from .builder import Wire
from .cache_marks import count_marks
from .options import ReplayOptions
from .pipeline import extend
from .segments import Render, Segment, joined_lines, joined_told


def demand_request(options: ReplayOptions, pointer: str) -> None:
    """Only what goes to a provider can be made ready to be sent."""
    if options.ready and CODECS[options.provider].profile.verbatim:
        raise RuleBroken(
            f"`ready` must be false for {options.provider}, which shows turns as they are stored.",
            pointer=pointer,
        )


def needs_model(options: ReplayOptions) -> bool:
    """True if the target's reasoning is bound to a model and the caller names none: then the model
    of the newest turn by the target's own provider is assumed."""
    return CODECS[options.provider].profile.model_bound and not options.model


def with_model(options: ReplayOptions, turns: Sequence[Turn]) -> ReplayOptions:
    """The options for a whole history; where they need a model, with that of its newest turn."""
    if not needs_model(options):
        return options
    issuers = CODECS[options.provider].profile.issuers
    own = (one for one in reversed(turns) if one.speaker == "ai" and one.provider in issuers)
    return replace(options, model=next((one.model for one in own if one.model), None))


@dataclass(frozen=True, slots=True)
class Loaded:
    """Turns in order, what their results answer, and the ids that the target gave to calls.

    `hashes`: the links of the chain that were read, by the seq of their turns.
    """

    turns: Sequence[Turn]
    links: Links
    assigned: Mapping[str, str]
    hashes: Mapping[int, bytes] = field(default_factory=dict)

    def provider_ids(self, target: str) -> dict[str, str]:
        """What the calls are named on the target."""
        return {
            call.id: provider_id(target, call.id, {target: self.assigned.get(call.id, "")})
            for turn in self.turns
            for call in turn.calls()
        }


@dataclass(frozen=True, slots=True)
class Hashes:
    """The hash of all that a provider reads up to the end of each segment.

    `states`: first that of what stands beside the messages, then one for each segment.
    """

    beside: bytes
    segments: tuple[Segment, ...] = ()
    states: tuple["hashlib._Hash", ...] = ()

    def of(self, beside: bytes, segments: tuple[Segment, ...]) -> "Hashes":
        """The hashes of another render; what begins like this one is not hashed again."""
        states: list[hashlib._Hash] = []
        if beside == self.beside:
            states += self.states[: shared(self.segments, segments) + 1]
        if not states:
            states.append(hashlib.sha256(beside + b"\n"))
        for segment in segments[len(states) - 1 :]:
            running = states[-1].copy()
            for line in segment.lines():
                running.update(line)
                running.update(b"\n")
            states.append(running)
        return Hashes(beside, segments, tuple(states))


@dataclass(frozen=True, slots=True)
class Rendered:
    """A request for a provider, with what it took to make it.

    `model`: the model that it is for, if that is known.
    `beside`: all that stands beside the messages; in the place of those, an empty list.
    `last_repairs`: those that belong to no message.
    """

    model: str | None
    list_name: str
    beside: JsonObject
    last_repairs: tuple[Repair, ...]
    render: Render
    hashes: Hashes

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return (*self.render.repairs(), *self.last_repairs)

    def told(self) -> dict[str, bytes]:
        """What stands in a replay behind its request, as JSON."""
        repairs, pending = joined_told(self.render.segments)
        last = [dumps_utf8(repair.json()) for repair in self.last_repairs]
        return {
            "repairs": joined_array([repairs, *last] if repairs else last),
            "pending": joined_array([pending]),
            "prefix": dumps_utf8(self.prefix()),
        }

    def prefix(self) -> JsonObject:
        """How many messages there are, and a hash of all that a provider reads."""
        return {"messages": self.render.count, "sha256": self.hashes.states[-1].hexdigest()}

    def request(self) -> Iterator[bytes]:
        """The request, piece by piece."""
        for place, (name, member) in enumerate(self.beside.items()):
            yield (b"," if place else b"{") + dumps_utf8(name) + b":"
            if name != self.list_name:
                yield dumps_utf8(member)
                continue
            sign = b"["
            for segment in self.render.segments:
                if segment.sizes:
                    yield sign
                    yield segment.text
                    sign = b","
            yield b"]" if sign == b"," else b"[]"
        yield b"}"

    def behind(self, other: "Rendered") -> bytes | None:
        """The messages behind those of the other one, with commas between them.

        None: a provider that read the other one reads something else here, and not just more.
        """
        if self.beside != other.beside:
            return None
        same = shared(self.render.segments, other.render.segments)
        mine, theirs = (joined_lines(one.render.segments[same:]) for one in (self, other))
        if not mine.startswith(theirs):
            return None
        if not theirs or len(mine) == len(theirs):
            return mine[len(theirs) :]
        # JSON values that begin alike and end at a comma are the same values.
        return mine[len(theirs) + 1 :] if mine[len(theirs) :].startswith(b",") else None


def shared(some: Sequence[Segment], others: Sequence[Segment]) -> int:
    """How many segments two renders have in common, from the beginning."""
    pairs = zip(some, others, strict=False)
    return sum(1 for _ in takewhile(lambda two: two[0] is two[1], pairs))


def render(
    loaded: Loaded,
    options: ReplayOptions,
    offered: Offer = NO_OFFER,
    kept: Render | None = None,
    hashes: Hashes | None = None,
) -> Rendered:
    """`offered`: the tools of the request. `kept`: what of an earlier render is still true, and
    `hashes`: those of the earlier render."""
    target = options.provider
    provider_ids = loaded.provider_ids(target)
    marks = tool_marks(offered, target)
    wire = Wire(CODECS[target], options, provider_ids, offered.has_tools, marks)
    done = extend(kept or Render(), loaded.turns, loaded.links, wire)
    return rendered(done, wire, offered, hashes)


def rendered(done: Render, wire: Wire, offered: Offer, hashes: Hashes | None) -> Rendered:
    """A render as a request."""
    messages = wire.codec.messages
    beside = wire.beside(done) | offered.request
    read_first = {name: one for name, one in beside.items() if name != messages}
    return Rendered(
        wire.options.model,
        messages,
        beside,
        tuple(_tool_repairs(offered)),
        done,
        (hashes or Hashes(b"")).of(dumps_utf8(read_first), done.segments),
    )


def tool_marks(offered: Offer, target: str) -> int:
    """How many marks for a prompt cache the tools of a request have."""
    limit = CODECS[target].profile.cache_marks
    if limit is None:
        return 0
    members = offered.request.values()
    tools = (one.get("tools") if isinstance(one, dict) else one for one in members)
    return sum(count_marks(one, limit.name) for one in tools)


def _tool_repairs(offered: Offer) -> Iterator[Repair]:
    for note in offered.prepared.notes:
        yield Repair(note.code, f"{note.tool}: {note.detail}" if note.tool else note.detail)
    for said in offered.dropped_words():
        yield Repair("TOOL_DROPPED", said)
