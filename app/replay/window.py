"""Windows: a part of a history that never parts a call from its results.

A window is counted in turns (or in estimated tokens) and cut between steps. A step that reaches
into the window is shown whole; leading system turns belong to every window.

Notes are turns that stand in the conversation for people and programs, and are never rendered. All
that is worked out for a provider (pairing, windows, estimates) works on what is left without them,
so a note changes no render, wherever it stands.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from ..formats.shared.placeholders import result_text
from ..ledger.pairing import Links, Step
from ..model.conversation import Block, File, Image, Opaque, Text, Thinking, ToolCall, Turn
from ..model.repairs import Repair
from .tokens import estimated_block_tokens

# Providers count pictures and files by their own measure; a page is a fair guess.
PAGE = "word " * 1_500


def group_end(turns: Sequence[Turn], links: Links, until: int) -> int:
    """Where a history that ends with turn `until` must end, so that it ends between tool groups.

    A group is a turn with calls and the turns right behind it that hold their results. A result
    that came later, behind other turns, is no part of it: at that time it was not there. Notes part
    nothing.
    """
    call_ids: set[str] = set()
    end = until
    for turn in spoken(turns):
        answers = {links[turn.seq, p].call_id for p, _ in turn.results() if (turn.seq, p) in links}
        if turn.seq > until and not answers & call_ids:
            break
        if turn.seq > until:
            end = turn.seq
        elif not answers & call_ids:
            call_ids = {call.id for call in turn.calls()}
    return end


def last_turns(steps: Sequence[Step], seqs: Sequence[int], count: int) -> list[Step]:
    """The steps that the last `count` turns touch."""
    first = seqs[-count] if 0 < count <= len(seqs) else seqs[0] if count and seqs else None
    if first is None:
        return list(leading(steps))
    kept = [step for step in steps if max(step.seqs) >= first]
    if kept and min(min(step.seqs) for step in kept) < first:
        why = f"the window reaches back to turn {min(kept[0].seqs)} to keep tool groups whole"
        kept[0].repairs.append(Repair("WINDOW_ALIGNED", why))
    return [*(step for step in leading(steps) if max(step.seqs) < first), *kept]


def within_tokens(steps: Sequence[Step], budget: int) -> list[Step]:
    """The newest steps whose estimate stays within the budget; the newest one always."""
    always = leading(steps)
    left = budget - sum(map(estimated_tokens, always))
    kept: list[Step] = []
    for step in reversed(steps[len(always) :]):
        left -= estimated_tokens(step)
        if left < 0 and kept:
            break
        kept.append(step)
    return [*always, *reversed(kept)]


def estimated_tokens(step: Step) -> int:
    """About how many tokens a step takes."""
    texts = [words_of(item.block) for item in step.items]
    texts += [result_text(answer.result) for answer in step.answers if answer.result]
    return estimated_block_tokens(texts)


def words_of(block: Block) -> str:
    """What of a block is counted; results are counted with their calls."""
    match block:
        case Text(text=text) | Thinking(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return name + arguments
        case Image() | File() | Opaque():
            return PAGE
        case _:
            return ""


def leading(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps of the system that every window begins with."""
    return list(takewhile(lambda step: step.role == "system", steps))


def spoken(turns: Iterable[Turn]) -> list[Turn]:
    """The turns that a model may see."""
    turns = list(turns)
    notes = {turn.seq for turn in turns if turn.speaker == "note"}
    return [_beside(turn, notes) for turn in turns if turn.seq not in notes] if notes else turns


def _beside(turn: Turn, notes: Collection[int]) -> Turn:
    """A turn that became whole when nothing but notes had come behind it is no later one."""
    version = turn.completed_at
    while version is not None and version in notes:
        version -= 1
    return turn if version == turn.completed_at else replace(turn, completed_at=version)


def with_notes(turns: Sequence[Turn], shown: Collection[int]) -> set[int]:
    """The places of a window and of the notes in it: each goes with the turn that it follows."""
    places = set(shown)
    # A note before all turns belongs to every window, as leading system turns do.
    inside = True
    for turn in turns:
        if turn.speaker != "note":
            inside = turn.seq in shown
        elif inside:
            places.add(turn.seq)
    return places
