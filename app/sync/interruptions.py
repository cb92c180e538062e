"""An interrupted turn in a history that is told again: as it broke off, not at all, or whole.

The walk tries these in order and comes back to the turn when it goes wrong; each turn once, so that
a list is walked along in linear time.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..model.conversation import Turn
from .retelling import Difference, Place, Walk

Way: TypeAlias = Literal["leave out", "complete"]


@dataclass(slots=True)
class Interruption:
    """The interrupted turn that the walk stands at, and what is left to be tried with it.

    `completes`: whether a turn of the list, by its seq there, may take its place.
    """

    completes: Callable[[int, Turn], bool]
    turn: Turn | None = None
    at: int = 0
    seq: int = 0
    place: Place = field(default_factory=Place)
    owed: Counter[object] = field(default_factory=Counter)
    owing: int = 0
    left: list[Way] = field(default_factory=list)
    first: Difference | None = None
    _seen: set[int] = field(default_factory=set)

    def consider(self, walk: Walk, at: int, seq: int) -> None:
        """Before item `at` of the list is taken, which stands in its turn `seq`."""
        part = walk.next_part()
        if self.turn and seq != self.seq and not (part and part.turn == self.turn):
            self.turn, self.left, self.first = None, [], None
        if part and part.turn.status == "interrupted" and part.turn.seq not in self._seen:
            self._seen.add(part.turn.seq)
            self.turn, self.at, self.seq, self.place = part.turn, at, seq, walk.place
            self.owed, self.owing = walk.owed.copy(), walk.owing
            last = walk.parts[-1].turn == part.turn
            self.left = ["complete", "leave out"] if last else ["leave out", "complete"]

    def another(self, walk: Walk, differs: Difference) -> Way | None:
        """What to try now, with the walk back behind the turn; None when nothing is left."""
        self.first = self.first or differs
        while self.turn and self.left:
            way = self.left.pop(0)
            if way == "leave out" or self.completes(self.seq, self.turn):
                walk.place, walk.owed, walk.owing = self.place, self.owed.copy(), self.owing
                while (part := walk.next_part()) and part.turn == self.turn:
                    walk.skip()
                return way
        return None
