"""How things look that are printed for people: tables, colours on a terminal, long texts cut.

What comes from a conversation goes through `printable` before it is coloured.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any
from unicodedata import east_asian_width

from ..settings import client_from_environment
from .json_io import json_line
from .text import printable

_COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_STATES = {
    **dict.fromkeys(("answered", "ok"), "green"),
    **dict.fromkeys(("open", "superseded", "warning", "interrupted"), "yellow"),
    **dict.fromkeys(("denied", "unknown", "error", "bad"), "red"),
}
WIDTH = 96
# Longer texts are cut before anything is done with them.
_LONG = 4 * WIDTH


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="JSON, for programs")


def add_looks(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours: on a terminal unless NO_COLOR is set (auto, the default), always or never",
    )


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    colour: str = ""


class Look:
    """With colours or without."""

    def __init__(self, args: argparse.Namespace) -> None:
        wanted = sys.stdout.isatty() and client_from_environment().colour
        # A command may have no such flag.
        colour = getattr(args, "color", "never")
        self._on = colour == "always" or (colour == "auto" and wanted)

    def paint(self, text: object, colour: str) -> str:
        """The text, harmless, in a colour."""
        said = printable(str(text))
        return f"\x1b[{_COLOURS[colour]}m{said}\x1b[0m" if self._on and colour else said

    def state(self, state: str) -> str:
        return self.paint(state, _STATES.get(state, "red"))

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
        """Lines with columns below their headings; the last column has no end."""
        lines = [[Cell(one, "bold") for one in headings], *rows]
        widths = [max(_width(line[at].text) for line in lines) for at in range(len(headings))]
        for line in lines:
            cells = [
                self.paint(cell.text, cell.colour) + " " * (width - _width(cell.text))
                for cell, width in zip(line, widths, strict=True)
            ]
            cells[-1] = cells[-1].rstrip(" ")
            yield "  ".join(cells).rstrip(" ")


def state_cell(state: str) -> Cell:
    return Cell(state, _STATES.get(state, "red"))


def excerpt(text: str, width: int = WIDTH, lines: int = 1) -> list[str]:
    """The beginning of a text, in at most so many lines."""
    words = printable(" ".join(text[:_LONG].split()))
    cut = wrap(words, width, max_lines=lines, placeholder=" …")
    if cut and len(text) > _LONG and not cut[-1].endswith("…"):
        cut[-1] += " …"
    return cut


def moment(at: str | None) -> str:
    """A time to the second, in UTC, as it is stored."""
    return "" if at is None else at[:19].replace("T", " ")


def value_text(value: Any) -> str:
    """What a call was given, or gave, in words."""
    return value if isinstance(value, str) else json_line(value)


def _width(text: str) -> int:
    """Columns on a terminal: some signs take two."""
    said = printable(text)
    if said.isascii():
        return len(said)
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in said)
