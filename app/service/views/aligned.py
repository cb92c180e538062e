"""Two replays side by side: messages of the same turns stand in one row, differences are marked."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from app.core.json.pretty import lines
from app.core.json.text import JsonObject, dumps

# A line of JSON that holds a value: what stands behind the name and before the comma.
_VALUE = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*": )?(?P<value>"(?:[^"\\]|\\.)*"|[^\s"\[\]{}]+?),?')
# A line is cut behind so many characters, a message behind so many lines.
_WIDEST = 2_000
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    # The other side has nothing like it in this row.
    differs: bool


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

    def at(self) -> list[Sequence[str]]:
        """The turns of each message; one that tells none stands with the message before it."""
        found: list[Sequence[str]] = []
        for turns in self.turns:
            found.append(turns or (found[-1] if found else ()))
        return found


def beside(request: JsonObject, name: str) -> str:
    """What stands in a request beside its messages, as JSON."""
    return dumps({key: value for key, value in request.items() if key != name})


def aligned(left: Told, right: Told) -> list[Row]:
    order = {turn: place for place, turn in enumerate(_merged(left.at(), right.at()))}
    spans = sorted(
        (*_spans(left, order, 0), *_spans(right, order, 1)), key=lambda span: (span[0], span[2])
    )
    names = list(order)
    rows: list[Row] = []
    group: list[tuple[int, int, int, int]] = []
    end = -1
    for span in spans:
        if group and span[0] > end:
            rows.append(_row(group, names, left, right))
            group, end = [], -1
        group.append(span)
        end = max(end, span[1])
    if group:
        rows.append(_row(group, names, left, right))
    return rows


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


def _spans(told: Told, order: dict[str, int], side: int) -> Iterator[tuple[int, int, int, int]]:
    """From which turn to which each message reaches, on which side, and which message it is."""
    for place, turns in enumerate(told.at()):
        places = [order[turn] for turn in turns] or [-1]
        yield min(places), max(places), side, place


def _row(
    group: Sequence[tuple[int, int, int, int]], names: Sequence[str], left: Told, right: Told
) -> Row:
    first, last = min(one[0] for one in group), max(one[1] for one in group)
    turns = names[max(first, 0) : last + 1]
    sides = []
    for number, (told, other) in enumerate(((left, right), (right, left))):
        own = [place for _, _, side, place in group if side == number]
        theirs = [place for _, _, side, place in group if side != number]
        known = set().union(*(_values(other.messages[place]) for place in theirs))
        repairs = [one for one in told.repairs if one["turn_id"] in turns]
        sides.append(Side([_message(told, place, known) for place in own], repairs))
    return Row(turns, *sides)


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


def quoted(text: str) -> str:
    """A text as Python and JavaScript both write it."""
    return json.dumps(text)
