"""JSON of others, read and printed: numbers as they were written, nothing that moves a cursor."""

from typing import Any

from ..jsontext.pretty import lines
from ..jsontext.reading import loads
from ..jsontext.writing import dumps_utf8
from ..model.errors import TurnkeepError
from ..model.limits import UNLIMITED


def read_json(text: str) -> dict[str, Any]:
    """An object; anything else is a `ValueError`."""
    try:
        value = loads(text, UNLIMITED)
    except TurnkeepError as error:
        raise ValueError(error.detail) from None
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def json_line(value: Any) -> str:
    """In one line."""
    return _harmless(dumps_utf8(value).decode())


def json_lines(value: Any) -> list[str]:
    """A line for each member and element."""
    return list(lines(json_line(value)))


def _harmless(text: str) -> str:
    """The same JSON, with escapes for all that is not printed as a sign of its own."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in text)


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
