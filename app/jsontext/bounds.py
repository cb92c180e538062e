"""How much a JSON text holds, looked at before any of it is read.

The decoder holds Python's lock until a whole text is read, and a value takes many times the memory
of its few bytes: nobody else would be served meanwhile, and nothing would be left for them.
"""

import re
from collections.abc import Iterator

from ..model.errors import LimitExceeded, TooLarge
from ..model.large import Ascii
from ..model.limits import Limits

# Characters that are looked at in one go.
_SLICE = 64 * 1024
_BRACKET = re.compile(r"[\[\]{}]")


def check_bounds(text: str | Ascii, limits: Limits) -> None:
    """Raises `TooLarge` for too many values, `LimitExceeded` for too many inside one another."""
    opened = _count(text, "{") + _count(text, "[")
    # With those inside of strings, so there are never more; and never more than characters.
    if opened <= limits.depth and (
        len(text) <= limits.json_values or opened + _count(text, ",") <= limits.json_values
    ):
        return
    values = depth = 0
    for signs in _outside_strings(text):
        values += signs.count(",") + signs.count("[") + signs.count("{")
        if values > limits.json_values:
            raise TooLarge("json_values", limits.json_values)
        for sign in _BRACKET.findall(signs):
            depth += 1 if sign in "[{" else -1
            if depth > limits.depth:
                raise LimitExceeded("depth", limits.depth, None)


def _count(text: str | Ascii, sign: str) -> int:
    if len(text) <= _SLICE:
        return text.count(sign, 0, _SLICE)
    return sum(text.count(sign, at, at + _SLICE) for at in range(0, len(text), _SLICE))


def _outside_strings(text: str | Ascii) -> Iterator[str]:
    """What stands outside of strings, slice by slice."""
    inside, escape = 0, ""
    for start in range(0, len(text), _SLICE):
        part = (escape + text[start : start + _SLICE]).replace("\\\\", "")
        # The sign that is escaped by the last one stands in the next slice.
        whole = part.removesuffix("\\")
        escape = part[len(whole) :]
        pieces = whole.replace('\\"', "").split('"')
        yield "".join(pieces[inside::2])
        inside = (inside + len(pieces) - 1) % 2
