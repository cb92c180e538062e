"""Writing a render: steps go in one by one, and leave as segments of encoded messages.

A segment is closed by the first message that can be joined with none before it, and that is there
to stay. What is behind the last such message is open, and ends as the wire demands of an end.

Whoever speaks last in the history, the user's next message may follow it. A request that is sent
without one must end as the wire demands: some want the user or a tool to speak last, one takes the
assistant where its message is marked as a prefix to go on with.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import repeat

from ..formats.shared import placeholders as wording
from ..formats.shared.codec import Codec
from ..formats.shared.profile import Profile
from ..formats.shared.view import Message, Pending, Role, Shown, bridge
from ..jsontext.writing import dumps_message
from ..ledger.pairing import Step
from ..model.conversation import Opaque, Text, Turn
from ..model.definitions import EMPTY_SCHEMA, Tool
from ..model.json_values import Json, JsonObject
from ..model.repairs import Repair
from ..model.telling import cut
from ..model.value import dataclass
from .blocks import Showing
from .cache_marks import count_marks
from .flatten import flattened, result_line
from .messages import arranged, foreign_loop, is_solid, messages_of, stays_in_line, were_one
from .options import ReplayOptions
from .origins import origins
from .pairs import OpenCalls, whole_pairs
from .results import unrecorded
from .segments import Render, Segment, Uses


@dataclass(frozen=True, slots=True)
class Wire:
    """Where a history goes, and how.

    `provider_ids`: what calls are named there, by canonical id. `has_tools`: the request has
    definitions from elsewhere, with `tool_marks` marks for a prompt cache.
    """

    codec: Codec
    options: ReplayOptions
    provider_ids: Mapping[str, str]
    has_tools: bool = False
    tool_marks: int = 0

    def marks_before(self, render: Render) -> int:
        """How many marks for a prompt cache there are before the messages."""
        limit, parts = self.codec.profile.cache_marks, render.system()
        if limit is None:
            return 0
        system = self.codec.write_system(parts) if parts else {}
        return self.tool_marks + sum(count_marks(one, limit.name) for one in system.values())

    def pending(self, step: Step) -> Iterator[Pending]:
        """The calls that a step shows without a result, and what it shows instead: a runtime that
        comes back can run these tools, or say what became of them."""
        for answer in step.answers:
            if answer.result is None:
                profile, flat, placeholder = self.codec.profile, self.options.is_flat, None
                if not profile.verbatim:
                    placeholder = result_line(answer) if flat else unrecorded(answer, profile)
                call = answer.call
                yield Pending(call, self.provider_ids[call.id], answer.turn.turn_id, placeholder)

    def beside(self, render: Render) -> JsonObject:
        """The request without its messages: where they stand is an empty list."""
        stubs = [Tool(name, None, EMPTY_SCHEMA) for name in self.declared(render.uses)]
        system = self.codec.write_system(render.system())
        return system | {self.codec.messages: []} | self.codec.write_tools(stubs, None)

    def declared(self, uses: Uses) -> tuple[str, ...]:
        """The names of the tools that the history calls, where the wire wants them declared."""
        wanted = self.codec.profile.tools_declared and not self.has_tools
        return tuple(uses.tools) if wanted else ()

    def count(self, messages: Sequence[Message]) -> int:
        """How many messages of the wire these become."""
        return len(self.codec.write(messages))


@dataclass(slots=True)
class _Open:
    """The segment that is being written. `solid`: whose message was the last that stays."""

    first: int
    steps: list[Step] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    pending: list[Pending] = field(default_factory=list)
    system: list[Shown] = field(default_factory=list)
    solid: Role | None = None


class Writing:
    """Goes on behind a render."""

    def __init__(self, kept: Render, wire: Wire) -> None:
        self.wire = wire
        self.profile = wire.codec.profile
        self.segments = list(kept.segments)
        self.carry = kept.carry
        self.open = _Open(kept.next)
        self.uses = kept.uses.before(kept.next)
        self.whole: set[int] = set()
        self.open_calls = OpenCalls(self._showing(kept.next))

    def write(self, steps: Sequence[Step]) -> Render:
        """The render with these steps, and the end that the wire demands."""
        self.whole = whole_pairs(steps, self._showing(self.open.first))
        for step in steps:
            self._add(step)
        return self._end()

    def _add(self, step: Step) -> None:
        wire = self.wire
        showing = self._showing(step.seq)
        messages = [
            message
            for plain in (flattened(step) if wire.options.is_flat else [step])
            for message in messages_of(plain, showing, leads=self.carry.leads)
        ]
        if self._closes(step, messages):
            self._keep(self._arranged())
            self.open = _Open(step.seq)
        self.open.steps.append(step)
        deque(self.open_calls.take(step), maxlen=0)
        self.open.repairs += showing.repairs
        if self.profile.model_bound and step.items:
            self._follow_model(step.items[0].turn, showing.bound_to(step))
        self.open.pending += wire.pending(step)
        if self.carry.leads and messages and step.role != "system":
            self.carry = replace(self.carry, leads=False)
        if self.carry.leads and self.profile.system == "beside":
            beside = [one for one in messages if not stays_in_line(one.parts, self.profile)]
            parts = (part for message in beside for part in message.parts)
            taken = (Text, Opaque)
            self.open.system += (part for part in parts if isinstance(part.content, taken))
            messages = [one for one in messages if one not in beside]
        self.open.messages += messages
        for message in messages:
            if is_solid(message):
                self.open.solid = message.role

    def _follow_model(self, turn: Turn, bound_to: Iterator[str]) -> None:
        """Reports the turn at which another model of the provider gives way to the replay's.

        A replay as of the turn before is for the other model, so it shows other reasoning, or
        other signatures of calls. `bound_to`: the models of the reasoning in this turn.
        """
        carry, signed = self.carry, self.profile.signed_models
        model = carry.model
        if turn.speaker == "ai" and turn.provider in self.profile.issuers and turn.model:
            model = turn.model
        found = carry.bound_to.union(bound_to)
        if model == carry.model and found == carry.bound_to:
            return
        if model and model != carry.model and model == self.wire.options.model:
            is_other = carry.shown_for(model) != carry.shown_for(carry.model)
            if any(seq < turn.seq for seq in self.uses.tools.values()):
                was_signed = signed.fullmatch(carry.model or "")
                is_other = is_other or bool(signed.fullmatch(model)) != bool(was_signed)
            if is_other:
                before = cut(carry.model) if carry.model else "no known model"
                why = f"{cut(model)} comes after {before}; only its own reasoning is shown"
                self.open.repairs.append(Repair("MODEL_CHANGED", why, turn.turn_id))
        self.carry = replace(carry, model=model, bound_to=found)

    def _showing(self, seq: int) -> Showing:
        wire = self.wire
        return Showing(self.profile, wire.options, wire.provider_ids, self.uses, seq, self.whole)

    def _closes(self, step: Step, messages: Sequence[Message]) -> bool:
        """Whether nothing that comes from here on is joined with what is open."""
        before = self.open
        # A turn stands in one segment, however many steps it is told in.
        if not before.steps or before.steps[-1].seq == step.seq or not messages:
            return False
        # A call that waits for its output is shown only with it, so both are in one segment.
        if self.open_calls:
            return False
        # Parts of one posted message stay together.
        if before.messages and were_one(before.messages[-1], messages[0]):
            return False
        role = messages[0].role
        if role not in self.profile.alternate:
            return is_solid(messages[0])
        last = before.messages[-1].role if before.messages else None
        return is_solid(messages[0]) and role not in (last, before.solid)

    def _end(self) -> Render:
        options, repairs = self.wire.options, self.open.repairs
        messages = self._arranged()
        has_steps = bool(self.open.steps or self.segments)
        if not has_steps:
            repairs.append(Repair("EMPTY_HISTORY", "there is nothing to show yet"))
        silent = not self.carry.spoke and all(message.role == "system" for message in messages)
        if silent and (has_steps or options.ready):
            repairs.append(Repair("BRIDGE_USER", "the wire wants the user to speak first"))
            messages.append(bridge("user", wording.EMPTY))
        messages = ended(messages, self.profile, options, repairs)
        repairs.extend(foreign_loop(self.open.steps, messages, self.profile))
        if self.wire.declared(self.uses):
            repairs.append(Repair("TOOLS_STUBBED", "tools are declared by name only"))
        if is_prefix(messages, self.profile, options):
            messages[-1] = replace(messages[-1], is_prefix=True)
        self._keep(messages)
        return Render(tuple(self.segments), self.uses)

    def _arranged(self) -> list[Message]:
        return arranged(
            self.open.messages, self.profile, self.wire.options, self.carry, self.open.repairs
        )

    def _keep(self, messages: Sequence[Message]) -> None:
        if messages:
            spoke = self.carry.spoke or any(one.role != "system" for one in messages)
            self.carry = replace(self.carry, spoke=spoke, last=messages[-1].role)
        written = self.wire.codec.write(messages)
        lines = list(map(dumps_message, written))
        told = self.open
        segment = Segment.of(told.first, self.carry, lines, told.repairs, told.pending, told.system)
        limit = self.profile.cache_marks
        if limit and (marks := tuple(_marks(messages, written, lines, limit.name))):
            segment = replace(segment, marks=marks)
        if self.wire.options.tokens:
            segment = replace(segment, origins=origins(messages, len(lines), self.wire.count))
        self.segments.append(segment)


def _marks(
    messages: Sequence[Message], written: Sequence[Json], lines: Sequence[bytes], name: str
) -> Iterator[str | None]:
    """The turn of each mark for a prompt cache, on wires that write each message as one."""
    if any(name.encode() in line for line in lines):
        for message, one in zip(messages, written, strict=True):
            yield from repeat(next(iter(message.turn_ids()), None), count_marks(one, name))


def ended(
    messages: list[Message], profile: Profile, options: ReplayOptions, repairs: list[Repair]
) -> list[Message]:
    """The messages with the end that the wire demands of what is sent, or of what is history."""
    if not messages or messages[-1].role in ("user", "tool"):
        return messages
    if options.ready and profile.last == "user":
        repairs.append(Repair("BRIDGE_USER", "the wire wants the user to speak last"))
        return [*messages, bridge("user", wording.BRIDGE_USER)]
    if messages[-1].role != "assistant" or not profile.trims_end:
        return messages
    repairs.append(_reported(messages, profile, options))
    return [*messages[:-1], _trimmed(messages[-1], repairs)]


def is_prefix(messages: Sequence[Message], profile: Profile, options: ReplayOptions) -> bool:
    """Whether the last message is sent for the model to go on with."""
    if not options.ready or profile.last != "prefix" or not messages:
        return False
    return messages[-1].role == "assistant"


def _reported(messages: Sequence[Message], profile: Profile, options: ReplayOptions) -> Repair:
    turn_id = messages[-1].parts[-1].turn_id
    if is_prefix(messages, profile, options):
        why = "the wire takes the assistant last only where it is to go on"
        return Repair("MARKED_AS_PREFIX", why, turn_id)
    why = "some models take no history that ends with the assistant"
    return Repair("ENDS_WITH_ASSISTANT", why, turn_id)


def _trimmed(message: Message, repairs: list[Repair]) -> Message:
    """The message without the blanks at its end, which Anthropic refuses in the last one."""
    last = message.parts[-1]
    if not isinstance(last.content, Text) or last.content.text == last.content.text.rstrip():
        return message
    repairs.append(Repair("TRAILING_TRIMMED", "blanks at its end are left out", last.turn_id))
    trimmed = replace(last, content=replace(last.content, text=last.content.text.rstrip()))
    return replace(message, parts=(*message.parts[:-1], trimmed))
