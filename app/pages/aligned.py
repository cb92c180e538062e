"""Two replays side by side: messages of the same turns stand in one row, differences are marked."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from ..jsontext.pretty import lines
from ..jsontext.writing import dumps_utf8
from ..model.json_values import JsonObject

# A line of JSON that holds a value: what stands behind the name and before the comma.
_TEXT = r'"(?:[^"\\]++|\\.)*+"'
_VALUE = re.compile(rf'\s*(?:{_TEXT}: )?(?P<value>{_TEXT}|[^\s"\[\]{{}}]+?),?')
# A line is cut behind so many characters, a message behind so many lines.
_WIDEST = 2_000
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    # The other side has nothing like it in this row.
    differs: bool

    @property
    def words(self) -> str:
        return self.text.lstrip()

    @property
    def indent(self) -> str:
        return self.text[: len(self.text) - len(self.words)]


@dataclass(frozen=True, slots=True)
class Message:
    lines: Sequence[Line]
    left_out: int
    tokens: int


@dataclass(slots=True)
class Side:
    """What one target is shown in a row, and what it took."""

    messages: list[Message] = field(default_factory=list)
    repairs: list[JsonObject] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)


@dataclass(frozen=True, slots=True)
class Row:
    """`turns`: the ids of the turns that both sides tell here."""

    turns: Sequence[str]
    left: Side
    right: Side

    @property
    def tokens(self) -> int:
        return max(self.left.tokens, self.right.tokens)


@dataclass(frozen=True, slots=True)
class Told:
    """One replay: its messages as JSON, the turns and the tokens of each, its repairs."""

    messages: Sequence[str]
    turns: Sequence[Sequence[str]]
    tokens: Sequence[int]
    repairs: Sequence[JsonObject]


# From which turn to which a message reaches, on which side it stands, and which one it is there.
_Span: TypeAlias = tuple[int, int, int, int]


def beside(request: JsonObject, name: str) -> str:
    """What stands in a request beside its messages, as JSON."""
    return dumps_utf8({key: value for key, value in request.items() if key != name}).decode()


@dataclass(frozen=True, slots=True)
class Group:
    """Turns, and which messages of the left and of the right tell them."""

    turns: Sequence[str]
    left: Sequence[int]
    right: Sequence[int]


def grouped(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> Iterator[Group]:
    """Two lists of messages, by the turns that each tells; what shares a turn stands together."""
    left, right = _placed(left), _placed(right)
    order = {turn: place for place, turn in enumerate(_merged(left, right))}
    names = list(order)
    spans = sorted((*_spans(left, order, 0), *_spans(right, order, 1)))
    together: list[_Span] = []
    end = -1
    for span in spans:
        if together and span[0] > end:
            yield _group(together, names)
            together, end = [], -1
        together.append(span)
        end = max(end, span[1])
    if together:
        yield _group(together, names)


def aligned(left: Told, right: Told) -> list[Row]:
    return [_row(group, left, right) for group in grouped(left.turns, right.turns)]


def unplaced(told: Told, rows: Iterable[Row]) -> list[JsonObject]:
    """The repairs of the request as a whole, or of turns that no row tells."""
    shown = set(chain.from_iterable(row.turns for row in rows))
    return [one for one in told.repairs if one["turn_id"] not in shown]


def _merged(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> Iterator[str]:
    """The turns of both sides in order: those of the right behind the ones they follow there."""
    own = list(dict.fromkeys(chain.from_iterable(left)))
    known = set(own)
    behind: dict[str | None, list[str]] = {}
    last: str | None = None
    for turn in dict.fromkeys(chain.from_iterable(right)):
        if turn in known:
            last = turn
        else:
            behind.setdefault(last, []).append(turn)
    yield from behind.get(None, ())
    for turn in own:
        yield turn
        yield from behind.get(turn, ())


def _placed(turns: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The turns of each message; one that tells none stands with the message before it."""
    found: list[Sequence[str]] = []
    for some in turns:
        found.append(some or (found[-1] if found else ()))
    return found


def _spans(turns: Sequence[Sequence[str]], order: dict[str, int], side: int) -> Iterator[_Span]:
    for place, some in enumerate(turns):
        places = [order[turn] for turn in some] or [-1]
        yield min(places), max(places), side, place


def _group(spans: Sequence[_Span], names: Sequence[str]) -> Group:
    first, last = min(one[0] for one in spans), max(one[1] for one in spans)
    left, right = ([place for *_, side, place in spans if side == number] for number in (0, 1))
    return Group(names[max(first, 0) : last + 1], left, right)


def _row(group: Group, left: Told, right: Told) -> Row:
    return Row(
        group.turns,
        _side(group.turns, left, group.left, right, group.right),
        _side(group.turns, right, group.right, left, group.left),
    )


def _side(
    turns: Sequence[str], told: Told, own: Sequence[int], other: Told, theirs: Sequence[int]
) -> Side:
    known = set().union(*(_values(other.messages[place]) for place in theirs))
    repairs = [one for one in told.repairs if one["turn_id"] in turns]
    return Side([_message(told, place, known) for place in own], repairs)


def _values(text: str) -> set[str]:
    return {found["value"] for line in lines(text) if (found := _VALUE.fullmatch(line))}


def _message(told: Told, place: int, known: set[str]) -> Message:
    shown = list(lines(told.messages[place]))
    marked = [_line(line, known) for line in shown[:_LONGEST]]
    return Message(marked, max(len(shown) - _LONGEST, 0), told.tokens[place])


def _line(line: str, known: set[str]) -> Line:
    found = _VALUE.fullmatch(line)
    differs = found is not None and found["value"] not in known
    return Line(line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…", differs)
