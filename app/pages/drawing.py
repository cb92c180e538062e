"""Where the marks of a picture stand: turns from left to right, row by row; calls upwards."""

from collections.abc import Sequence
from dataclasses import dataclass

from .picture import Mark

COLUMNS = 100
_CELL = 10
_HIGHEST = 12
_MARGIN = 46
_GAP = 14


@dataclass(frozen=True, slots=True)
class Placed:
    mark: Mark
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Band:
    """A row of turns: `first` is the seq of the leftmost, `base` the line they stand on."""

    first: int
    base: int
    # Calls that found no room above their turn.
    hidden: int


@dataclass(frozen=True, slots=True)
class Drawing:
    width: int
    height: int
    cell: int
    margin: int
    bands: Sequence[Band]
    placed: Sequence[Placed]


def drawn(marks: Sequence[Mark], after: int, until: int) -> Drawing:
    bands: list[Band] = []
    placed: list[Placed] = []
    top = 0
    rest = list(marks)
    for first in range(after + 1, until + 1, COLUMNS):
        row = [mark for mark in rest if first <= mark.call.seq < first + COLUMNS]
        above: dict[int, int] = {}
        spots: list[tuple[Mark, int, int]] = []
        hidden = 0
        # The odd ones first: they are what is looked for.
        for mark in sorted(row, key=lambda one: (one.call.seq, not one.is_odd)):
            level = above.get(mark.call.seq, 0)
            if level >= _HIGHEST:
                hidden += 1
                continue
            above[mark.call.seq] = level + 1
            spots.append((mark, mark.call.seq - first, level))
        height = max(above.values(), default=1) * _CELL
        base = top + _GAP + height
        placed += [
            Placed(mark, _MARGIN + column * _CELL, base - (level + 1) * _CELL)
            for mark, column, level in spots
        ]
        bands.append(Band(first, base, hidden))
        top = base
    return Drawing(_MARGIN + COLUMNS * _CELL + 4, top + _GAP, _CELL, _MARGIN, bands, placed)
