"""What must hold, worked out a second time and in the plainest way, from docs/concepts.md alone.

Nothing here is imported from the ledger, the pairing or the showing: stored turns go in, and out
comes which call each result answers, which result is shown, and what the arguments are.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from app.model.conversation import ToolCall, ToolResult, Turn

Place: TypeAlias = tuple[int, int]
# Deeper than the published limit counts as unreadable.
_DEEPEST = 64
_CANONICAL = re.compile(r"hist_tool_[A-Za-z0-9_-]{24}")


@dataclass
class Made:
    """A call and every id under which some replay shows it."""

    call: ToolCall
    turn: Turn
    shown: frozenset[str]
    answers: list[Place] = field(default_factory=list)


def matched(turns: Sequence[Turn], shown: Mapping[str, frozenset[str]]) -> list[Made]:
    """All calls with the places of their results. `shown`: provider ids by canonical id."""
    made: list[Made] = []
    waiting: list[tuple[Place, ToolResult]] = []
    for turn in turns:
        new = [Made(call, turn, shown[call.id]) for call in turn.calls()]
        made += new
        for place, result in list(waiting):
            if found := _found(result, new):
                found.answers.append(place)
                waiting.remove((place, result))
        left = list(turn.results())
        for rules in (("id",), ("id", "likeness", "name")):
            weaker = []
            for at, result in left:
                if (found := _found(result, made, rules)) and not found.answers:
                    found.answers.append((turn.seq, at))
                else:
                    weaker.append((at, result))
            left = weaker
        for at, result in left:
            if found := _found(result, made):
                found.answers.append((turn.seq, at))
            elif result.raw_id:
                waiting.append(((turn.seq, at), result))
    return made


def _found(
    result: ToolResult, made: Sequence[Made], only: Sequence[str] | None = None
) -> Made | None:
    """docs/concepts.md, "How a result finds its call", rules 1 to 6.

    Of the results of one turn, those that name an open call by an id go first, then those that
    name it by a similar id or by its tool; `only` leaves out all weaker rules.
    """
    raw_id = result.raw_id
    if not raw_id:
        return _by_name_or_position(result, made, only)
    if _CANONICAL.fullmatch(raw_id):
        for one in made:
            if one.call.id == raw_id:
                return one
    rules: tuple[Callable[[Made], bool], ...] = (
        lambda one: one.call.raw_id == raw_id,
        lambda one: raw_id in one.shown,
        lambda one: bool(core(raw_id)) and core(one.call.raw_id or "") == core(raw_id),
    )
    for rule in rules[:2] if only == ("id",) else rules:
        if still_open := [one for one in made if not one.answers and rule(one)]:
            return next(one for one in still_open if one.turn is still_open[-1].turn)
    for rule in () if only else rules:
        if answered := [one for one in made if one.answers and rule(one)]:
            return answered[-1]
    return None


def _by_name_or_position(
    result: ToolResult, made: Sequence[Made], only: Sequence[str] | None
) -> Made | None:
    still_open = [one for one in made if not one.answers]
    named = [one for one in still_open if result.name and one.call.name == result.name]
    if only is not None and not (named and "name" in only):
        return None
    among = named or still_open
    return next((one for one in among if one.turn is among[-1].turn), None)


def core(raw_id: str) -> str:
    """What is left of an id without the ornaments of providers."""
    bare = re.split(r"\||__thought__", raw_id)[0]
    return re.sub(r"\A(hist_tool_|toolu_|call_|fc_|call)", "", bare)


def canonical_ids(turn: Turn) -> Iterator[tuple[str, str]]:
    """The id of each call of a turn as it is, and as the formula gives it."""
    for index, call in enumerate(turn.calls()):
        fields = (turn.provider, call.raw_id or "", call.name, turn.turn_id, str(index))
        escaped = (one.replace("\\", "\\\\").replace("|", "\\|") for one in fields)
        digest = hashlib.sha256("|".join(escaped).encode("utf-8", "surrogatepass")).digest()
        yield call.id, "hist_tool_" + base64.urlsafe_b64encode(digest).decode()[:24]


def chosen(one: Made, turns: Sequence[Turn]) -> tuple[Place, ToolResult] | None:
    """The last real result; an interruption only where there is nothing else."""
    results = dict(all_results(turns))
    given = [(place, results[place]) for place in sorted(one.answers) if place in results]
    real = [(place, r) for place, r in given if r.status not in ("interrupted", "unknown")]
    found = real or given
    return found[-1] if found else None


def all_results(turns: Sequence[Turn]) -> Iterator[tuple[Place, ToolResult]]:
    for turn in turns:
        for at, result in turn.results():
            yield (turn.seq, at), result


class NumberWord(str):
    """A number as it is written, so that 1.0 and 1 differ."""

    __slots__ = ()


def exactly(text: str | bytes) -> Any:
    """A JSON value in which numbers keep their spelling."""
    return json.loads(text, parse_int=NumberWord, parse_float=NumberWord, parse_constant=_refused)


def _refused(text: str) -> Any:
    raise ValueError(text)


def shown_arguments(arguments: str) -> Any:
    """The object that every wire shows for the arguments of a call; nothing is guessed."""
    value = _value(arguments)
    if isinstance(value, str) and not isinstance(value, NumberWord):
        inner = _value(value)
        if isinstance(inner, dict):
            return {} if _depth(inner) > _DEEPEST else mended(inner)
    if _depth(value) > _DEEPEST:
        return {}
    if isinstance(value, dict):
        return mended(value)
    blank = value is None or value == [] or (isinstance(value, str) and not value.strip())
    return {} if blank else mended({"value": value})


def _value(text: str) -> Any:
    try:
        value = exactly(text)
    except ValueError:
        return None
    # What no double holds is infinity for most who read it, and no JSON any more.
    return None if any(math.isinf(float(one)) for one in _numbers(value)) else value


def _numbers(value: Any) -> Iterator[NumberWord]:
    if isinstance(value, NumberWord):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from _numbers(one)


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (isinstance(value, dict | list)) + max(map(_depth, inner), default=0)


def mended(value: Any) -> Any:
    """The same value with U+FFFD for each lone surrogate."""
    match value:
        case NumberWord():
            return value
        case str():
            return re.sub(r"[\ud800-\udfff]", "\ufffd", value)
        case list():
            return [mended(one) for one in value]
        case dict():
            return {mended(key): mended(one) for key, one in value.items()}
        case _:
            return value
