"""A history for one wire: turns are paired, cut to the window, and written behind what is kept."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from ..formats.shared.view import Pending
from ..jsontext.writing import dumps_message
from ..ledger.pairing import Links, Step, steps, turn_json
from ..model.conversation import Turn
from ..model.repairs import Repair
from . import window as windows
from .builder import Wire, Writing
from .cache_marks import with_newest_marks
from .origins import of_turn
from .segments import Carry, Render, Segment
from .window import spoken, with_notes


def extend(kept: Render, turns: Sequence[Turn], links: Links, wire: Wire) -> Render:
    """The render of these turns. What is kept of an earlier one is not looked at again.

    `turns` are those from `kept.next` on, and earlier ones with calls or results of theirs. A
    window is a render of its own: its beginning moves.
    """
    said = spoken(turns)
    found = steps(said, links, kept.next)
    if wire.options.last is not None:
        found = windows.last_turns(found, [turn.seq for turn in said], wire.options.last)
    if wire.options.max_tokens is not None:
        found = windows.within_tokens(found, wire.options.max_tokens)
    if wire.codec.profile.verbatim:
        segments = (*kept.segments, *_verbatim(kept, turns, found, links, wire))
        done = Render(segments, kept.uses).compacted()
    else:
        done = Writing(kept, wire).write(found).compacted()
    dated = tuple(_dated(done.segments, turns, links, kept))
    limit = wire.codec.profile.cache_marks
    return replace(done, segments=tuple(with_newest_marks(dated, limit, wire.marks_before(done))))


def _verbatim(
    kept: Render, turns: Sequence[Turn], found: Sequence[Step], links: Links, wire: Wire
) -> Iterator[Segment]:
    """The stored turns as they are: a segment for each."""
    shown = {turn.seq for turn in turns if turn.seq >= kept.next}
    if wire.options.is_window:
        shown = with_notes(turns, set().union(*(step.seqs for step in found)))
    waiting: dict[int, list[Pending]] = {}
    for step in found:
        waiting.setdefault(step.seq, []).extend(wire.pending(step))
    for turn in turns:
        pending = tuple(waiting.get(turn.seq, ()))
        if turn.seq in shown and turn.blocks is None:
            why = "the stored turn cannot be read"
            repair = Repair("TURN_QUARANTINED", why, turn.turn_id)
            yield Segment.of(turn.seq, Carry(), (), (repair,), pending)
        elif turn.seq in shown:
            lines = [dumps_message(turn_json(turn, links))]
            segment = Segment.of(turn.seq, Carry(), lines, (), pending)
            yield replace(segment, origins=(of_turn(turn),)) if wire.options.tokens else segment


def _dated(
    segments: Sequence[Segment], turns: Iterable[Turn], links: Links, kept: Render
) -> Iterator[Segment]:
    """The segments with the version at which the last turn came that they depend on. Older ones
    have it, and keep it.

    The turn that closes a segment is the first of the next one. A turn depends on those that answer
    its calls, or made the calls of its results.
    """
    own: dict[int, int] = {}
    at: dict[str, int] = {}
    for turn in turns:
        # Who was at the version of a completion has perhaps not seen it.
        whole_at = turn.completed_at
        own[turn.seq] = turn.seq if whole_at is None else max(turn.seq, whole_at + 1)
        for call in turn.calls():
            at[call.id] = turn.seq
    versions = dict(own)
    for (seq, _), link in links.items():
        if seq in own and (call_seq := at.get(link.call_id)):
            versions[seq] = max(versions[seq], own[call_seq])
            versions[call_seq] = max(versions[call_seq], own[seq])
    left = sorted(seq for seq in versions if seq >= kept.next)
    place = 0
    for segment, following in zip_longest(segments, segments[1:]):
        end = bisect_left(left, following.first, lo=place) if following else len(left)
        closed_at = versions.get(following.first, 0) if following else 0
        version = max(segment.version, closed_at, *(versions[seq] for seq in left[place:end]))
        place = end
        yield segment if version == segment.version else replace(segment, version=version)
