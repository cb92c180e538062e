"""Members that one object gives twice. Most readers take the last one and say nothing: what the
others said would be lost without a word."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from ..model.errors import RuleBroken
from ..model.json_values import Json, JsonObject, ReadText, Texts
from ..model.telling import named, pointer

Members: TypeAlias = list[tuple[str, Json]]
Made: TypeAlias = Callable[[Members], JsonObject]


class GivenTwice(Exception):
    """A member is."""


class _Marked(dict[str, Json]):
    """An object that knows which of its members were given twice."""

    __slots__ = ("twice",)
    twice: list[str]


def once(members: Members) -> JsonObject:
    """The object of these members. Raises `GivenTwice` where two have one name."""
    made = dict(members)
    if len(made) < len(members):
        raise GivenTwice
    return made


def marked(members: Members) -> JsonObject:
    """The object of these members; where two have one name, the last one counts and it is known."""
    times = Counter(name for name, _ in members)
    if len(times) == len(members):
        return dict(members)
    made = _Marked(members)
    made.twice = [name for name in times if times[name] > 1]
    return made


def given_twice(value: Json, at: str = "") -> Iterator[tuple[str, str]]:
    """The names that `marked` objects give twice, at any depth, and pointers to them."""
    if isinstance(value, _Marked):
        yield from ((name, at + pointer(name)) for name in value.twice)
    if isinstance(value, dict):
        for name, one in value.items():
            yield from given_twice(one, at + pointer(name))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from given_twice(one, at + pointer(place))


def repeats(text: str, at: str) -> Iterator[tuple[str, str]]:
    """The same for a text that was read as a member of a body, and stands there at a pointer."""
    if isinstance(text, ReadText) and text.twice:
        yield from given_twice(text.value, at)


def check_once(members: JsonObject, texts: Texts, names: Iterable[str]) -> None:
    """Raises `RuleBroken` where a member with one of these names holds one that is given twice."""
    for name in names:
        for place, text in enumerate(texts.get(name, ())):
            steps = (name, place) if isinstance(members.get(name), list) else (name,)
            for twice, where in repeats(text, pointer(*steps)):
                raise RuleBroken(f"{named(twice)} is given twice.", pointer=where)
