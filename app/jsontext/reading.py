"""JSON text into values. Nothing that was written changes, and long texts are read in parts: the
decoder holds Python's lock until it is done."""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeVar, cast

from ..model.errors import LimitExceeded, NotJson, RuleBroken
from ..model.json_values import Json, JsonObject, NumberText, ReadText
from ..model.large import Ascii
from ..model.limits import UNLIMITED, Limits
from ..model.telling import named
from .bounds import check_bounds
from .faults import told
from .strings import read_string
from .twice import GivenTwice, Made, Members, given_twice, marked, once

Result = TypeVar("Result")
# What CPython converts by default; longer integers travel as their text.
_CONVERTED = 4_300
# Characters that the decoder sees at once.
_WINDOW = 1024 * 1024
_BLANKS = frozenset(" \t\n\r")
_LIMITS = Limits()


def loads(text: str | Ascii, limits: Limits = _LIMITS) -> Json:
    """The value of a whole JSON text. Raises `NotJson`, `RuleBroken` or `TooLarge`."""
    return _read(text, limits, _Walk.whole)


def loads_watched(text: str, limits: Limits) -> tuple[Json, bool]:
    """The same, and whether some member is given twice; then it is `marked`."""
    return _watched(text, limits, _Walk.whole)


def loads_object(text: str, limits: Limits) -> tuple[JsonObject, dict[str, list[str]]]:
    """A JSON object, and the very text of each member: of each element, where it is an array. Each
    text is a `ReadText`."""
    return _watched(text, limits, _Walk.object)[0]


def value_of(text: str) -> Json:
    """The value of JSON text that has been read within its limits before."""
    return text.value if isinstance(text, ReadText) else loads(text, UNLIMITED)


def _watched(text: str, limits: Limits, read: "Callable[[_Walk], Result]") -> tuple[Result, bool]:
    try:
        return _read(text, limits, read, once), False
    except GivenTwice:
        # Hardly anybody writes so, and only they pay for the places.
        return _read(text, limits, read, marked), True


def _read(
    text: str | Ascii,
    limits: Limits,
    read: "Callable[[_Walk], Result]",
    made: "Made | None" = None,
) -> Result:
    check_bounds(text, limits)
    try:
        return read(_Walk(text, limits, made))
    except json.JSONDecodeError as error:
        raise NotJson(told(error)) from None
    except RecursionError:
        raise LimitExceeded("depth", limits.depth, None) from None


class _Walk:
    """Reads the outermost object by hand, so that each element's place in the text is known; and
    whatever is long, so that others have their turn in between."""

    def __init__(self, text: str | Ascii, limits: Limits, made: Made | None) -> None:
        """`made`: how an object is made of its members; by default the last of each name counts."""
        self.text = text
        self.made: Made = made or dict
        self.decoder = _decoder(limits.integer_digits, made)
        self.decode = self.decoder.raw_decode
        self.position = 0
        # The part of the text that the decoder sees, and where it begins.
        self.window = text[:_WINDOW]
        self.start = 0
        self.is_whole = len(text) <= _WINDOW
        self.seen: Json = None

    def whole(self) -> Json:
        if self.is_whole:
            return cast(Json, self.decoder.decode(self.window))
        self.sign()
        value = self.value()
        if self.sign():
            self.fail("Extra data")
        return value

    def object(self) -> tuple[JsonObject, dict[str, list[str]]]:
        members: JsonObject = {}
        texts: dict[str, list[str]] = {}
        sign = self.first("{")
        while sign != "}":
            key = self.key(sign)
            if key in members:
                # Whichever one is kept, the other would be lost.
                raise RuleBroken(f"{named(key)} is given twice.", pointer=f"/{key[:64]}")
            if self.first(":") == "[":
                read = [self.read_text(start, value) for start, value in self.elements()]
                members[key], texts[key] = [one.value for one in read], [*read]
            else:
                one = self.read_text(self.position, self.value())
                members[key], texts[key] = one.value, [one]
            sign = self.next_or("}")
        self.position += 1
        if self.sign():
            self.fail("Extra data")
        return members, texts

    def read_text(self, start: int, value: Json) -> ReadText:
        twice = self.made is marked and any(given_twice(value))
        return ReadText.of(self.text[start : self.position], value, twice=twice)

    def elements(self) -> Iterator[tuple[int, Json]]:
        """Each with the place where it begins."""
        sign = self.first("[")
        while sign != "]":
            yield self.position, self.value()
            sign = self.next_or("]")
        self.position += 1

    def members(self) -> JsonObject:
        """An object inside another value."""
        found: Members = []
        sign = self.first("{")
        while sign != "}":
            key = self.key(sign)
            self.first(":")
            found.append((key, self.value()))
            sign = self.next_or("}")
        self.position += 1
        return self.made(found)

    def key(self, sign: str) -> str:
        if sign != '"':
            self.fail("Expecting property name enclosed in double quotes")
        return cast(str, self.value())

    def value(self) -> Json:
        if self.is_whole:
            value, self.position = self.decode(self.window, self.position)
            return cast(Json, value)
        if self.position - self.start < _WINDOW and self.in_window():
            return self.seen
        self.start = self.position
        self.window = self.text[self.start : self.start + _WINDOW]
        return self.seen if self.in_window() else self.in_parts()

    def in_window(self) -> bool:
        """Whether the value was `seen` as a whole."""
        try:
            value, end = self.decode(self.window, self.position - self.start)
        except json.JSONDecodeError:
            return False
        # A number may go on behind the edge: `1`, `1.`, `1e+`.
        if end + 2 >= len(self.window) and self.start + len(self.window) < len(self.text):
            return False
        self.seen, self.position = cast(Json, value), self.start + end
        return True

    def in_parts(self) -> Json:
        """A value that is longer than the window, or broken."""
        match self.sign():
            case "{":
                return self.members()
            case "[":
                return [value for _, value in self.elements()]
            case '"':
                value, self.position = read_string(self.text, self.position)
                return value
        value, self.position = self.decode(str(self.text), self.position)
        return cast(Json, value)

    def sign(self) -> str:
        """What stands here, behind blanks; nothing at the end."""
        sign = self.text[self.position : self.position + 1]
        while sign in _BLANKS:
            self.position += 1
            sign = self.text[self.position : self.position + 1]
        return sign

    def first(self, sign: str) -> str:
        """What stands behind this sign, which must be here."""
        if self.sign() != sign:
            self.fail(f"Expecting {sign!r}")
        self.position += 1
        return self.sign()

    def next_or(self, end: str) -> str:
        """What stands behind the comma, or the end."""
        sign = self.sign()
        if sign == ",":
            self.position += 1
            sign = self.sign()
            if sign == end:
                self.fail("Illegal trailing comma")
        elif sign != end:
            self.fail("Expecting ',' delimiter")
        return sign

    def fail(self, message: str) -> None:
        raise json.JSONDecodeError(message, str(self.text), self.position)


@lru_cache
def _decoder(digits: int, made: Made | None = None) -> json.JSONDecoder:
    """A decoder that takes numbers of so many digits."""

    def integer(text: str) -> int | float:
        length = len(text.lstrip("-"))
        if length > digits:
            raise LimitExceeded("integer_digits", digits, length)
        return NumberText.of(text) if text == "-0" or length > _CONVERTED else int(text)

    def fraction(text: str) -> float:
        if len(text) > digits:
            raise LimitExceeded("integer_digits", digits, len(text))
        number = float(text)
        return number if repr(number) == text else NumberText.of(text)

    return json.JSONDecoder(
        parse_int=integer,
        parse_float=fraction,
        parse_constant=_refuse_constant,
        object_pairs_hook=made,
    )


def _refuse_constant(text: str) -> float:
    raise RuleBroken(f"{text} is not JSON: a number must be finite.")
