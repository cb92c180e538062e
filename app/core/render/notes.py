"""Notes: turns that stand in the conversation for people and programs, and are never rendered.

Everything that is worked out for a provider (pairing, windows, estimates) works on what is left
without them, so a note changes no render, wherever it stands.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from app.core.conversation import Turn


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
