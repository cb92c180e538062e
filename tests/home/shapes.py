"""The input types of an SDK, in one form for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Shape:
    """The values that one place accepts: the alternatives of a union, each in its field."""

    any: bool = False
    null: bool = False
    literals: tuple[object, ...] = ()
    # Names of JSON's own types: string, integer, number, boolean.
    scalars: frozenset[str] = frozenset()
    items: Shape | None = None
    # A list must not be empty.
    filled: bool = False
    # What a string must match as a whole.
    pattern: str = ""
    values: Shape | None = None
    kinds: tuple[Kind, ...] = ()

    def __or__(self, other: Shape) -> Shape:
        return Shape(
            any=self.any or other.any,
            null=self.null or other.null,
            literals=tuple(dict.fromkeys([*self.literals, *other.literals])),
            scalars=self.scalars | other.scalars,
            items=_either(self.items, other.items),
            filled=self.filled or other.filled,
            pattern=self.pattern or other.pattern,
            values=_either(self.values, other.values),
            kinds=tuple(dict.fromkeys([*self.kinds, *other.kinds])),
        )

    def not_null(self) -> Shape:
        return replace(self, null=False)


ANY = Shape(any=True)
NULL = Shape(null=True)


@dataclass(eq=False)
class Kind:
    """An object type. Its members are filled in after it was made: a type may hold itself."""

    name: str
    # Tells it from another kind of the same name.
    module: str
    members: dict[str, Shape] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    # At least one of these must be there, where this is not empty.
    one_of: frozenset[str] = frozenset()

    def word(self, tag: str) -> object:
        """The literal that the kind has under a tag, if it has just one."""
        shape = self.members.get(tag)
        return shape.literals[0] if shape and len(shape.literals) == 1 else None


def reachable(roots: Iterable[Shape]) -> list[Kind]:
    """All kinds that these shapes refer to, nearest first."""
    found: dict[Kind, None] = {}
    waiting = list(roots)
    while waiting:
        for kind in _kinds(waiting.pop(0)):
            if kind not in found:
                found[kind] = None
                waiting.extend(kind.members.values())
    return list(found)


def _kinds(shape: Shape) -> Iterator[Kind]:
    if not shape.any:
        yield from shape.kinds
        for inner in (shape.items, shape.values):
            if inner:
                yield from _kinds(inner)


def _either(one: Shape | None, other: Shape | None) -> Shape | None:
    return one | other if one and other else one or other
