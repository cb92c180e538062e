"""JSON text in and out without changing what was written.

Python's `json` turns `1.10` into 1.1, `1e2` into 100.0 and `-0` into 0. What an agent sent must
come back digit for digit, so numbers whose text would change travel as `NumberText`. Everything
else is ordinary Python. `dumps` writes ASCII only (NUL and lone surrogates survive any database and
any codec); `dumps_utf8` writes the readable form that goes to providers.

Most values are written by orjson. It refuses all that it would write in another way than `json`
(numbers with their text, very long integers, lone surrogates), and then `json` writes them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TypeAlias, cast

import orjson

from app.core.errors import LimitExceeded, NotJson, RuleBroken
from app.core.json.bounds import check_bounds
from app.core.json.faults import told
from app.core.json.strings import read_string
from app.core.limits import Limits
from app.core.telling import named

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, "Json"]

# What CPython converts by default; longer integers travel as their text.
_CONVERTED = 4_300
# Characters of a long text that are written at a time, and elements of a long list.
_SLICE = 64 * 1024
_ELEMENTS = 200
# Below this, numbers are written with an exponent by `json`.
_SMALL = 0.0001
# Characters that the decoder sees at once: it holds Python's lock until it is done.
_WINDOW = 1024 * 1024
# What is no plain JSON value is refused rather than written in some way.
_PLAIN = (
    orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)


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


@dataclass(frozen=True, slots=True)
class JsonText:
    """JSON text where its value would stand: it broke off, or is too long to be taken apart.

    Only between the one who puts a stream together and the one who reads the call.
    """

    text: str


def loads(text: str, limits: Limits | None = None) -> Json:
    """The value of a whole JSON text. Raises `NotJson`, `RuleBroken` or `TooLarge`."""
    limits = limits or Limits()
    check_bounds(text, limits)
    try:
        return _Walk(text, limits).whole()
    except json.JSONDecodeError as error:
        raise NotJson(told(error)) from None
    except RecursionError:
        raise LimitExceeded("depth", limits.depth, None) from None


def dumps(value: Json) -> str:
    """Compact JSON in ASCII; numbers exactly as they were written."""
    return _plain_ascii(value, _PLAIN) or _encode(value, ascii_only=True)


def dumps_sorted(value: Json) -> str:
    """The same with the members of every object in the order of their names."""
    plain = _plain_ascii(value, _PLAIN | orjson.OPT_SORT_KEYS)
    return plain or _encode(in_order(value), ascii_only=True)


def dumps_utf8(value: Json) -> bytes:
    """Compact JSON in UTF-8. Lone surrogates must be gone by now: they stay escaped."""
    if (plain := _plain(value, _PLAIN)) is not None:
        return plain
    text = _encode(value, ascii_only=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _encode(value, ascii_only=True).encode()


def _plain(value: Json, options: int) -> bytes | None:
    try:
        text = orjson.dumps(value, None, options)
    except TypeError:
        return None
    # Where orjson may have written something else than `json` does: 1e-7 for 1e-07, 0.00001 for
    # 1e-05, null for a number that is not finite.
    signs = (b"e-", b"0.0000", b"null")
    return None if any(_holds(text, sign) for sign in signs) and _holds_odd(value) else text


def _holds(text: bytes, sign: bytes) -> bool:
    """Whether the sign stands in a text; of a long one, slice by slice."""
    if len(text) <= _WINDOW:
        return sign in text
    starts = range(0, len(text), _WINDOW)
    return any(text.find(sign, start, start + _WINDOW + len(sign) - 1) >= 0 for start in starts)


def _holds_odd(value: Json) -> bool:
    """Whether there is a number that orjson writes in another way."""
    if isinstance(value, dict):
        return any(map(_holds_odd, value.values()))
    if isinstance(value, list):
        return any(map(_holds_odd, value))
    return isinstance(value, float) and (not isfinite(value) or 0 < abs(value) < _SMALL)


def _plain_ascii(value: Json, options: int) -> str | None:
    """The text where `json` would write the same in ASCII; it escapes DEL."""
    text = _plain(value, options)
    return text.decode() if text and text.isascii() and b"\x7f" not in text else None


def in_order(value: Json) -> Json:
    """The same with the members of every object in the order of their names."""
    match value:
        case dict():
            return {key: in_order(value[key]) for key in sorted(value)}
        case list():
            return list(map(in_order, value))
        case _:
            return value


def joined_object(members: Mapping[str, bytes]) -> bytes:
    """An object of members that are encoded already."""
    return b"{" + b",".join(dumps_utf8(key) + b":" + text for key, text in members.items()) + b"}"


def joined_array(elements: Sequence[bytes]) -> bytes:
    """An array of elements that are encoded already."""
    if not elements:
        return b"[]"
    # Brackets go to the ends first: together the elements may be long, and are copied once.
    ends = [b"[" + elements[0], *elements[1:]]
    ends[-1] += b"]"
    return b",".join(ends)


def dumps_in_parts(value: Json) -> bytes:
    """The bytes of `dumps_utf8`. Lists are written a few elements at a time: the encoder holds
    Python's lock until it is done."""
    return b"".join(_parts(value))


def _parts(value: Json) -> Iterator[bytes]:
    match value:
        case dict():
            for position, (key, member) in enumerate(value.items()):
                yield (b"," if position else b"{") + dumps_utf8(key) + b":"
                yield from _parts(member)
            yield b"}" if value else b"{}"
        case list() if len(value) > _ELEMENTS:
            for start in range(0, len(value), _ELEMENTS):
                yield b"," if start else b"["
                yield dumps_utf8(value[start : start + _ELEMENTS])[1:-1]
            yield b"]"
        case list():
            for position, element in enumerate(value):
                yield b"," if position else b"["
                yield from _parts(element)
            yield b"]" if value else b"[]"
        case _:
            yield dumps_utf8(value)


def dumps_pieces(value: Json) -> Iterator[bytes]:
    """The bytes of `dumps`, piece by piece: long texts are never written out at once."""
    match value:
        case dict():
            for position, (key, member) in enumerate(value.items()):
                yield f"{',' if position else '{'}{dumps(key)}:".encode()
                yield from dumps_pieces(member)
            yield b"}" if value else b"{}"
        case list():
            for position, element in enumerate(value):
                yield b"," if position else b"["
                yield from dumps_pieces(element)
            yield b"]" if value else b"[]"
        case str():
            yield b'"'
            for start in range(0, len(value), _SLICE):
                yield dumps(value[start : start + _SLICE])[1:-1].encode()
            yield b'"'
        case _:
            yield dumps(value).encode()


def loads_object(text: str, limits: Limits) -> tuple[JsonObject, dict[str, list[str]]]:
    """A JSON object, and the very text of each member: of each element, where it is an array."""
    check_bounds(text, limits)
    try:
        return _Walk(text, limits).object()
    except json.JSONDecodeError as error:
        raise NotJson(told(error)) from None
    except RecursionError:
        raise LimitExceeded("depth", limits.depth, None) from None


class _Walk:
    """Reads the outermost object by hand, so that each element's place in the text is known; and
    whatever is long, so that others have their turn in between."""

    def __init__(self, text: str, limits: Limits) -> None:
        self.text = text
        self.decode = _decoder(limits.integer_digits).raw_decode
        self.position = 0
        # The part of the text that the decoder sees, and where it begins.
        self.window = text[:_WINDOW]
        self.start = 0
        self.seen: Json = None

    def whole(self) -> Json:
        self.sign()
        value = self.value()
        if self.sign():
            self.fail("Extra data")
        return value

    def object(self) -> tuple[JsonObject, dict[str, list[str]]]:
        members: JsonObject = {}
        texts: dict[str, list[str]] = {}
        self.expect("{")
        while self.sign() != "}":
            key = self.key()
            if key in members:
                # Whichever one is kept, the other would be lost.
                raise RuleBroken(f"{named(key)} is given twice.", pointer=f"/{key[:64]}")
            self.expect(":")
            if self.sign() == "[":
                members[key], texts[key] = self.array()
            else:
                start = self.position
                members[key] = self.value()
                texts[key] = [self.text[start : self.position]]
            self.next_or("}")
        self.expect("}")
        if self.sign():
            self.fail("Extra data")
        return members, texts

    def array(self) -> tuple[list[Json], list[str]]:
        values: list[Json] = []
        texts: list[str] = []
        for start, value in self.elements():
            values.append(value)
            texts.append(self.text[start : self.position])
        return values, texts

    def elements(self) -> Iterator[tuple[int, Json]]:
        """Each with the place where it begins."""
        self.expect("[")
        while self.sign() != "]":
            yield self.position, self.value()
            self.next_or("]")
        self.expect("]")

    def members(self) -> JsonObject:
        """An object inside another value: of two members with one name the last one counts."""
        found: JsonObject = {}
        self.expect("{")
        while self.sign() != "}":
            key = self.key()
            self.expect(":")
            self.sign()
            found[key] = self.value()
            self.next_or("}")
        self.expect("}")
        return found

    def key(self) -> str:
        if self.sign() != '"':
            self.fail("Expecting property name enclosed in double quotes")
        return cast(str, self.value())

    def value(self) -> Json:
        if len(self.text) <= _WINDOW:
            value, self.position = self.decode(self.text, self.position)
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
        value, self.position = self.decode(self.text, self.position)
        return cast(Json, value)

    def sign(self) -> str:
        self.position = _skip_blanks(self.text, self.position)
        return self.text[self.position : self.position + 1]

    def expect(self, sign: str) -> None:
        if self.sign() != sign:
            self.fail(f"Expecting {sign!r}")
        self.position += 1

    def next_or(self, end: str) -> None:
        if self.sign() == ",":
            self.position += 1
            if self.sign() == end:
                self.fail("Illegal trailing comma")
        elif self.sign() != end:
            self.fail("Expecting ',' delimiter")

    def fail(self, message: str) -> None:
        raise json.JSONDecodeError(message, self.text, self.position)


@lru_cache
def _decoder(digits: int) -> json.JSONDecoder:
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
        parse_int=integer, parse_float=fraction, parse_constant=_refuse_constant
    )


def _refuse_constant(text: str) -> float:
    raise RuleBroken(f"{text} is not JSON: a number must be finite.")


def _skip_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\n\r":
        position += 1
    return position


def _encode(value: Json, *, ascii_only: bool) -> str:
    quote = json.encoder.encode_basestring_ascii if ascii_only else json.encoder.encode_basestring
    if not _holds_number_text(value):
        return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"), allow_nan=False)
    pieces: list[str] = []
    _write(value, pieces.append, quote)
    return "".join(pieces)


def _holds_number_text(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_number_text, value.values()))
    if isinstance(value, list):
        return any(map(_holds_number_text, value))
    return isinstance(value, NumberText)


def _write(value: Json, put: Callable[[str], None], quote: Callable[[str], str]) -> None:
    match value:
        case dict():
            for position, (key, member) in enumerate(value.items()):
                put(("," if position else "{") + quote(key) + ":")
                _write(member, put, quote)
            put("}" if value else "{}")
        case list():
            for position, element in enumerate(value):
                put("," if position else "[")
                _write(element, put, quote)
            put("]" if value else "[]")
        case str():
            put(quote(value))
        case NumberText():
            put(value.text)
        case _:
            put(json.dumps(value, allow_nan=False))
