"""Long strings of JSON, slice by slice: the decoder would hold Python's lock for all of one."""

import re
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]

from ..model.large import Ascii

# Characters that are read in one go.
_SLICE = 64 * 1024
# What may stand before a cut: no escape is cut in two.
_RUN = re.compile(r'(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+', re.DOTALL)


def read_string(text: str | Ascii, begin: int) -> tuple[str, int]:
    """The string that begins with the quote at this place, and where it ends."""
    pieces: list[str] = []
    position = begin + 1
    while True:
        part = text[position : position + _SLICE]
        found = _RUN.match(part)
        end = position + (found.end() if found else 0)
        pieces.append(_read(text, position, end))
        if text[end : end + 1] == '"':
            return _joined(pieces), end + 1
        if end == len(text):
            raise JSONDecodeError("Unterminated string starting at", str(text), begin)
        if end == position:
            # It says what is wrong with the escape that stands here.
            scanstring(str(text), end, True)
        position = end


def _read(text: str | Ascii, start: int, end: int) -> str:
    try:
        found: str = scanstring(text[start:end] + '"', 0, True)[0]
    except JSONDecodeError as error:
        raise JSONDecodeError(error.msg, str(text), start + error.pos) from None
    return found


def _joined(pieces: list[str]) -> str:
    """Two escapes that stand for one sign may have come apart."""
    for place in range(1, len(pieces)):
        high, low = pieces[place - 1][-1:], pieces[place][:1]
        if "\ud800" <= high <= "\udbff" and "\udc00" <= low <= "\udfff":
            sign = (high + low).encode("utf-16", "surrogatepass").decode("utf-16")
            pieces[place - 1] = pieces[place - 1][:-1] + sign
            pieces[place] = pieces[place][1:]
    return "".join(pieces)
