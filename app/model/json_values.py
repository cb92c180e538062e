"""JSON values. What an agent sent must come back digit for digit: Python's `json` turns `1.10` into
1.1, `1e2` into 100.0 and `-0` into 0, so numbers whose text would change travel as `NumberText`.

Everything else is ordinary Python.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, "Json"]
# The very text of each member of an object: of each element, where it is a list.
Texts: TypeAlias = Mapping[str, Sequence[str]]


class NumberText(float):
    """A number that remembers how it was written."""

    __slots__ = ("text",)
    text: str

    @classmethod
    def of(cls, text: str) -> "NumberText":
        number = cls(text)
        number.text = text
        return number

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Callable[[str], "NumberText"], tuple[str]]:
        return NumberText.of, (self.text,)


class ReadText(str):
    """JSON text that remembers the value it was read as. A part of it is ordinary text again.

    `twice`: whether an object in it gives a member twice, of which the last one was read.
    """

    __slots__ = ("twice", "value")
    value: Json
    twice: bool

    @classmethod
    def of(cls, text: str, value: Json, *, twice: bool = False) -> "ReadText":
        read = cls(text)
        read.value = value
        read.twice = twice
        return read

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """In another process it is text: whoever wants the value there reads it again."""
        return str, (str(self),)


def identical(one: Json, other: Json) -> bool:
    """True if both are the same JSON value. To Python 1, 1.0 and true are equal; here they are not.

    The order of members does not count.
    """
    match one:
        case dict():
            return (
                isinstance(other, dict)
                and one.keys() == other.keys()
                and all(identical(value, other[name]) for name, value in one.items())
            )
        case list():
            return (
                isinstance(other, list)
                and len(one) == len(other)
                and all(map(identical, one, other))
            )
        case str() | None:
            return one == other
        case _:
            return repr(one) == repr(other)


@dataclass(frozen=True, slots=True)
class JsonText:
    """JSON text where its value would stand: it broke off, or is too long to be taken apart.

    Only between the one who puts a stream together and the one who reads the call.
    """

    text: str
