"""JSON for people to read: one member on a line. Numbers and escapes stay as they were written."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')
_STEP = "  "
_CLOSING = {"[": "]", "{": "}"}


def indented(text: str) -> str:
    """A JSON text over many lines. What is no JSON comes out as some text, too."""
    return "\n".join(lines(text))


def lines(text: str) -> Iterator[str]:
    tokens = _TOKEN.findall(text)
    depth, line, skip = 0, "", False
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        if skip:
            skip = False
        elif token in _CLOSING and following == _CLOSING[token]:
            line, skip = f"{line}{token}{following}", True
        elif token in _CLOSING:
            yield f"{line}{token}"
            depth += 1
            line = _STEP * depth
        elif token in ("]", "}"):
            if line.strip():
                yield line
            depth = max(depth - 1, 0)
            line = _STEP * depth + token
        elif token == ",":
            yield f"{line},"
            line = _STEP * depth
        else:
            line += f"{token} " if token == ":" else token
    if line.strip():
        yield line
