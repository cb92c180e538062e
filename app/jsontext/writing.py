"""Values into JSON text, with numbers as they were written.

`dumps` writes ASCII only (NUL and lone surrogates survive any database and any codec); `dumps_utf8`
writes the readable form that goes to providers.

Most values are written by orjson. It refuses all that it would write in another way than `json`
(numbers with their text, very long integers, lone surrogates), and then `json` writes them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite

import orjson

from ..model.json_values import Json, NumberText

# Characters of a long text that are written at a time, and elements of a long list.
_SLICE = 64 * 1024
_ELEMENTS = 200
# What any value counts for at least.
_LEAST = 8
# Below this, numbers are written with an exponent by `json`.
_SMALL = 0.0001
# What is no plain JSON value is refused rather than written in some way.
_PLAIN = (
    orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)
# What orjson would write, with all that is not ASCII escaped.
_ASCII = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":"))
_ASCII_SORTED = json.JSONEncoder(
    check_circular=False, allow_nan=False, separators=(",", ":"), sort_keys=True
)


def dumps(value: Json) -> str:
    """Compact JSON in ASCII; numbers exactly as they were written."""
    plain = _plain(value, _PLAIN)
    if plain is None:
        return _encode(value, ascii_only=True)
    return plain.decode() if _is_ascii(plain) else _ASCII.encode(value)


def dumps_sorted(value: Json) -> str:
    """The same with the members of every object in the order of their names."""
    plain = _plain(value, _PLAIN | orjson.OPT_SORT_KEYS)
    if plain is None:
        return _encode(in_order(value), ascii_only=True)
    return plain.decode() if _is_ascii(plain) else _ASCII_SORTED.encode(value)


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
    if _holds_odd(value):
        return None
    try:
        return orjson.dumps(value, None, options)
    except TypeError:
        return None


def _holds_odd(value: Json) -> bool:
    """Whether there is a number that orjson writes in another way than `json`: 1e-7 for 1e-07,
    0.00001 for 1e-05, null for one that is not finite."""
    every = [value]
    for one in every:
        if type(one) is str or type(one) is int:
            continue
        if isinstance(one, dict):
            every += one.values()
        elif isinstance(one, list):
            every += one
        elif isinstance(one, float) and (not isfinite(one) or 0 < abs(one) < _SMALL):
            return True
    return False


def _is_ascii(text: bytes) -> bool:
    """Whether `json` would write the same in ASCII; it escapes DEL."""
    return text.isascii() and b"\x7f" not in text


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
    named = ((dumps_utf8(key) + b":", text) for key, text in members.items())
    return b"".join(_listed(b"{", named, b"}"))


def joined_array(elements: Iterable[bytes]) -> bytes:
    """An array of elements that are encoded already."""
    return b"".join(array_pieces(elements))


def array_pieces(elements: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of `joined_array`, piece by piece."""
    return _listed(b"[", ((one,) for one in elements), b"]")


def _listed(begin: bytes, parts: Iterable[Iterable[bytes]], end: bytes) -> Iterator[bytes]:
    """Long parts stay as they are: `join` copies them once and lets others have Python's lock
    meanwhile, `+` does neither."""
    yield begin
    for place, part in enumerate(parts):
        if place:
            yield b","
        yield from part
    yield end


def dumps_in_parts(value: Json) -> bytes:
    """The value of `dumps_utf8`. Lists are written a few elements at a time: the encoder holds
    Python's lock until it is done. (A lone surrogate has only what is near it escaped.)"""
    return b"".join(_parts(value))


def dumps_message(message: Json) -> bytes:
    """`dumps_utf8`, or in parts where a message consists of many."""
    for one in message.values() if isinstance(message, dict) else ():
        if isinstance(one, list) and len(one) > _ELEMENTS:
            return dumps_in_parts(message)
    return dumps_utf8(message)


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
    """The bytes of `dumps`, piece by piece: what is long is never written out at once."""
    match value:
        case dict() | list() if _room_beside(value, _SLICE) >= 0:
            yield dumps(value).encode()
        case dict():
            for position, (key, member) in enumerate(value.items()):
                yield f"{',' if position else '{'}{dumps(key)}:".encode()
                yield from dumps_pieces(member)
            yield b"}"
        case list():
            for position, element in enumerate(value):
                yield b"," if position else b"["
                yield from dumps_pieces(element)
            yield b"]"
        case str():
            yield b'"'
            for start in range(0, len(value), _SLICE):
                yield dumps(value[start : start + _SLICE])[1:-1].encode()
            yield b'"'
        case _:
            yield dumps(value).encode()


def _room_beside(value: Json, room: int) -> int:
    """What is left of the room for so many characters; below zero, nobody looked at the rest."""
    if isinstance(value, str):
        return room - len(value)
    room -= _LEAST
    if isinstance(value, dict):
        for key, member in value.items():
            if room < 0:
                break
            room = _room_beside(member, room - len(key))
    elif isinstance(value, list):
        for element in value:
            if room < 0:
                break
            room = _room_beside(element, room)
    return room


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
