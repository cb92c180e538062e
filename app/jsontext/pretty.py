"""JSON for people to read: one member on a line. Numbers and escapes stay as they were written."""

import re
from collections.abc import Iterator
from itertools import chain

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++')
_STEP = "  "
# Deeper than so, nothing is moved to the right any more: a page would be mostly blanks.
_DEEPEST = 16
_CLOSING = {"[": "]", "{": "}"}


def indented(text: str) -> str:
    """A JSON text over many lines. What is no JSON comes out as some text, too."""
    return "\n".join(lines(text))


def lines(text: str) -> Iterator[str]:
    """Line by line: whoever needs only some need not wait for all."""
    depth, line, token = 0, "", ""
    for following in chain(_tokens(text), [""]):
        if token in _CLOSING and following == _CLOSING[token]:
            # Nothing inside: the bracket that closes it is on the same line.
            line += token
            depth += 1
        elif token in _CLOSING:
            yield f"{line}{token}"
            depth += 1
            line = _margin(depth)
        elif token in ("]", "}") and line.endswith(tuple(_CLOSING)):
            depth -= 1
            line += token
        elif token in ("]", "}"):
            if line.strip():
                yield line
            depth = max(depth - 1, 0)
            line = _margin(depth) + token
        elif token == ",":
            yield f"{line},"
            line = _margin(depth)
        else:
            line += f"{token} " if token == ":" else token
        token = following
    if line.strip():
        yield line


def _tokens(text: str) -> Iterator[str]:
    return (found[0] for found in _TOKEN.finditer(text))


def _margin(depth: int) -> str:
    return _STEP * min(depth, _DEEPEST)
