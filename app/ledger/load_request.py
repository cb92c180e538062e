"""Keys: what a command must know of its conversation before it can decide."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, fields, replace
from operator import attrgetter, or_
from typing import TypeVar

from ..model.value import dataclass

T = TypeVar("T", bool, frozenset[object])


@dataclass(frozen=True, slots=True)
class Keys:
    """What is to be loaded.

    | field | what it asks for |
    | --- | --- |
    | `idempotency` | the receipts of idempotency keys |
    | `turn_ids` | where the turns with these ids stand |
    | `seqs` | these turns, whole |
    | `call_ids` | calls by canonical id |
    | `provider_ids` | calls by an id that a replay showed |
    | `named` | calls by state, kind of name and name, and how many of each: `("open", "raw", id)` |
    | `waiting` | results that wait for a call, by kind of name and name |
    | `ordinals` | the highest number given out, for these targets |
    | `ledgers_of` | all calls of these turns with their results, and the results that they hold |
    | `tools` | the newest tool set; `all_tools`: all of them |
    | `revisions` | how many revisions there are |
    | `history` | the whole conversation |
    | `parts` | how many parts of each kind there are |
    """

    idempotency: frozenset[str] = frozenset()
    turn_ids: frozenset[str] = frozenset()
    seqs: frozenset[int] = frozenset()
    call_ids: frozenset[str] = frozenset()
    provider_ids: frozenset[str] = frozenset()
    waiting: frozenset[tuple[str, str]] = frozenset()
    ordinals: frozenset[str] = frozenset()
    ledgers_of: frozenset[int] = frozenset()
    tools: bool = False
    all_tools: bool = False
    revisions: bool = False
    history: bool = False
    parts: bool = False
    named: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def __or__(self, other: "Keys") -> "Keys":
        if not other:
            return self
        if not self:
            return other
        merged = Keys(*map(or_, _ALONE(self), _ALONE(other)))
        named = Counter(self.named) + Counter(other.named)
        return replace(merged, named=named) if named else merged

    def __sub__(self, known: "Keys") -> "Keys":
        """What is asked for beyond what is known."""
        if not known:
            return self
        more = Keys(*map(_beyond, _ALONE(self), _ALONE(known)))
        named = {name: n for name, n in self.named.items() if n > known.named.get(name, 0)}
        return replace(more, named=named) if named else more

    def __bool__(self) -> bool:
        return bool(self.named) or any(_ALONE(self))


def _beyond(asked: T, known: T) -> T:
    if isinstance(asked, bool):
        return asked and not known
    return asked - known


NO_KEYS = Keys()
# The values of all fields but `named`, which is counted; the fields come in this order.
_ALONE = attrgetter(*(one.name for one in fields(Keys) if one.name != "named"))


class Unasked(Exception):
    """A question that what was loaded does not answer; `keys` must be loaded for it.

    It reaches no caller: the writer loads more, and the command decides again.
    """

    def __init__(self, keys: Keys) -> None:
        super().__init__(keys)
        self.keys = keys
