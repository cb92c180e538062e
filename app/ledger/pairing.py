"""Pairing: every call gets exactly one answer, right behind it, in call order.

Takes the turns as they were stored, in any order of arrival, and gives steps: what a human, the
system or the model said, and with a model's calls their answers. No wire is known here. What had to
be moved, doubled or filled in is said in the step's repairs.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from ..formats.neutral.blocks import block_json, result_json
from ..formats.shared.placeholders import orphan_text
from ..model import conversation
from ..model.conversation import Block, Text, ToolCall, ToolResult, Turn, last_real
from ..model.json_values import Json, JsonObject
from ..model.repairs import Repair
from ..model.value import dataclass
from .records import MatchedBy, ResultRecord


@dataclass(frozen=True, slots=True)
class Link:
    """The call (canonical id) that a result answers, and the rule that found it."""

    call_id: str
    matched_by: MatchedBy


# Renders have no notes; a list that is recognised may have some.
Role: TypeAlias = Literal["system", "human", "ai", "note"]
Links: TypeAlias = Mapping[tuple[int, int], Link]
"""Results by the seq of their turn and their place among its blocks."""


def links_of(results: Iterable[ResultRecord]) -> Links:
    """Those of the results that have a call."""
    return {
        (r.seq, r.place): Link(r.call_id, r.matched_by) for r in results if r.call_id is not None
    }


@dataclass(frozen=True, slots=True)
class Placed:
    """A block where it is shown, and where it came from. `place` is None for text of ours."""

    block: Block
    turn: Turn
    place: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The one result that is shown for a call; `result` is None when nothing was recorded."""

    call: ToolCall
    result: ToolResult | None
    turn: Turn
    place: int | None


@dataclass(slots=True)
class Step:
    """What one speaker said in the turn `seq`, with the answers to its calls.

    `seqs`: the turns it is made of.
    """

    role: Role
    seq: int
    items: list[Placed]
    answers: list[Answer] = field(default_factory=list)
    seqs: set[int] = field(default_factory=set)
    repairs: list[Repair] = field(default_factory=list)


def steps(turns: Sequence[Turn], links: Links, first: int = 0) -> list[Step]:
    """The conversation as steps, from turn `first` on; all laws about calls and results hold."""
    pairing = _Pairing(turns, links)
    paired: list[Step] = []
    for position, turn in enumerate(turns):
        if turn.seq >= first:
            paired += pairing.steps_of(turn, position)
    return paired


class _Pairing:
    """Turns, and by the id of each call the results that it got in them."""

    def __init__(self, turns: Sequence[Turn], links: Links) -> None:
        self.turns = turns
        self.links = links
        self.ai_seqs = [turn.seq for turn in turns if turn.speaker == "ai"]
        self.known: set[str] = set()
        # With those of calls that are not known, which nobody asks for.
        self.results: dict[str, list[Placed]] = defaultdict(list)
        for turn in turns:
            for place, block in enumerate(turn.blocks or ()):
                if isinstance(block, ToolCall):
                    self.known.add(block.id)
                elif isinstance(block, ToolResult):
                    self.results[self._call_of(turn, place)].append(Placed(block, turn, place))

    def steps_of(self, turn: Turn, position: int) -> list[Step]:
        """The steps of a turn that say something, with the answers to its calls."""
        found = [step for step in self._unanswered(turn) if step.items or step.repairs]
        for step in found:
            if calls := [item.block for item in step.items if isinstance(item.block, ToolCall)]:
                self._answer(step, turn, position, calls)
        return found

    def _call_of(self, turn: Turn, place: int) -> str:
        link = self.links.get((turn.seq, place))
        return link.call_id if link else ""

    def _unanswered(self, turn: Turn) -> Iterator[Step]:
        """A turn as one step; as several, where the model speaks on after results in its own
        turn."""
        # What a tool says beside its results is shown as the user's.
        role: Role = "human" if turn.speaker == "tool" else turn.speaker
        step = Step(role, turn.seq, [], seqs={turn.seq}, repairs=_of_stream(turn))
        if turn.blocks is None:
            why = "the stored turn cannot be read"
            step.repairs.append(Repair("TURN_QUARANTINED", why, turn.turn_id))
        elif not turn.blocks:
            step.repairs.append(Repair("CONTENT_NORMALISED", "the turn is empty", turn.turn_id))
        answered = False
        for place, block in enumerate(turn.blocks or ()):
            is_result = isinstance(block, ToolResult) and self._call_of(turn, place) in self.known
            if answered and not is_result and role == "ai":
                yield step
                step = Step(role, turn.seq, [], seqs={turn.seq})
            answered = is_result
            if isinstance(block, ToolResult) and not is_result:
                step.items.append(Placed(Text(orphan_text(block)), turn, place))
                why = "the call was never recorded"
                step.repairs.append(Repair("ORPHAN_RESULT", why, turn.turn_id, block=place))
            elif not is_result:
                step.items.append(Placed(block, turn, place))
        yield step

    def _answer(self, step: Step, turn: Turn, position: int, calls: Sequence[ToolCall]) -> None:
        call_ids = {call.id for call in calls}
        group = self._following(position, call_ids)
        in_place = {turn.seq} | {other.seq for other in group}
        step.seqs |= in_place
        for call in calls:
            # The last one that says something; a bare interruption only when there is nothing else.
            chosen = last_real(self.results.get(call.id, ()), lambda one: is_real(one.block))
            for other in self.results.get(call.id, ()):
                step.seqs.add(other.turn.seq)
                if other is not chosen:
                    why, at = "another result of this call is shown", other.turn.turn_id
                    repair = Repair("DUP_RESULT_SUPERSEDED", why, at, call.id, other.place)
                    step.repairs.append(repair)
            if chosen is None:
                step.answers.append(Answer(call, None, turn, None))
                continue
            assert isinstance(chosen.block, ToolResult)
            step.answers.append(Answer(call, chosen.block, chosen.turn, chosen.place))
            rule = self.links[chosen.turn.seq, chosen.place or 0].matched_by
            if rule in ("normalized", "name", "position"):
                why, at = f"the result was matched by {rule}", chosen.turn.turn_id
                step.repairs.append(Repair("MATCHED_BY_FALLBACK", why, at, call.id, chosen.place))
            if chosen.turn.seq not in in_place:
                step.repairs.extend(self._moved(call, turn, chosen))
        if self._is_out_of_order(step.answers, group, call_ids):
            why = "results are shown in call order"
            step.repairs.append(Repair("RESULTS_REORDERED", why, turn.turn_id))

    def _following(self, position: int, call_ids: set[str]) -> Sequence[Turn]:
        """The turns right behind that hold results of these calls."""
        seqs = {one.turn.seq for call_id in call_ids for one in self.results.get(call_id, ())}
        end = position + 1
        while end < len(self.turns) and self.turns[end].seq in seqs:
            end += 1
        return self.turns[position + 1 : end]

    def _moved(self, call: ToolCall, turn: Turn, chosen: Placed) -> Iterator[Repair]:
        where = chosen.turn.turn_id
        why = f"recorded in turn {where}, shown after the call in turn {turn.turn_id}"
        yield Repair("RESULTS_MOVED_TO_CALL", why, where, call.id)
        # Whether the model spoke between the two turns: then it was shown a placeholder.
        spoke = bisect_right(self.ai_seqs, turn.seq), bisect_left(self.ai_seqs, chosen.turn.seq)
        if spoke[0] < spoke[1]:
            why = "earlier replays showed a placeholder here; a cached prefix ends at this call"
            yield Repair("LATE_RESULT_APPLIED", why, where, call.id)

    def _is_out_of_order(
        self, answers: list[Answer], group: Sequence[Turn], call_ids: set[str]
    ) -> bool:
        seqs = {turn.seq for turn in group}
        shown = [(a.turn.seq, a.place or 0) for a in answers if a.result and a.turn.seq in seqs]
        if shown != sorted(shown):
            return True
        ours = [
            isinstance(block, ToolResult) and self._call_of(turn, place) in call_ids
            for turn in group
            for place, block in enumerate(turn.blocks or ())
        ]
        return ours != sorted(ours, reverse=True)


def _of_stream(turn: Turn) -> list[Repair]:
    if turn.status == "interrupted":
        why = "its stream broke; what had arrived is shown"
        return [Repair("TURN_INTERRUPTED", why, turn.turn_id)]
    if turn.completed_at is not None and turn.completed_at > turn.seq:
        why = "it was interrupted until later turns had come; a cached prefix ends before it"
        return [Repair("TURN_COMPLETED", why, turn.turn_id)]
    return []


def is_real(block: Block) -> bool:
    return isinstance(block, ToolResult) and conversation.is_real(block.status)


def turn_json(turn: Turn, links: Links) -> JsonObject:
    """A stored turn in the neutral form; results name the canonical id of their call."""
    shown: JsonObject = {"turn_id": turn.turn_id, "speaker": turn.speaker}
    shown["provider"] = turn.provider
    if turn.model is not None:
        shown["model"] = turn.model
    blocks: list[Json] = []
    for place, block in enumerate(turn.blocks or ()):
        if isinstance(block, ToolResult):
            link = links.get((turn.seq, place))
            call_id = link.call_id if link else block.call_id
            blocks.append(result_json(block, call_id, exported=True))
        else:
            blocks.append(block_json(block))
    shown["blocks"] = blocks
    if turn.status != "complete":
        shown["status"] = turn.status
    if turn.metadata:
        shown["metadata"] = turn.metadata
    return shown
