"""The files of an import as histories: folders are walked, `.gz` is unpacked, `-` is the input.

Files whose lines hold whole histories are read line by line; session files, files with a message on
every line and JSON documents are read whole, one at a time. How much may be held at once is
limited: a small packed file may be a very large one.
"""

import gzip
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO, cast

from ..jsontext.reading import loads
from ..model.errors import TurnkeepError
from ..model.json_values import Json
from ..transfer.importers import IMPORTERS, kind_of, lists
from ..transfer.importers.detecting import Kind
from ..transfer.importers.histories import Found, Importer, Line, Problem, Reading

STDIN = "-"
_ENDINGS = (".jsonl", ".json", ".ndjson", ".jsonl.gz", ".json.gz", ".ndjson.gz")


@dataclass(frozen=True, slots=True)
class Source:
    """A file. `size` is what the bar counts in; 0 when it cannot be known."""

    label: str
    name: str
    size: int
    open: Callable[[], BinaryIO]
    # Found in a folder, where files of other kinds may lie about.
    walked: bool = False


def sources(arguments: Sequence[str]) -> Iterator[Source]:
    """A file that is not there is an error when it is opened, not before the others are read."""
    for argument in arguments:
        if argument == STDIN:
            yield Source("standard input", "stdin", 0, lambda: sys.stdin.buffer)
            continue
        path = Path(argument)
        inside = (one for one in path.rglob("*") if one.is_file() and one.name.endswith(_ENDINGS))
        for file in sorted(inside) if path.is_dir() else [path]:
            size = file.stat().st_size if file.exists() else 0
            yield Source(str(file), file.name, size, partial(_open, file), path.is_dir())


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def found_in(source: Source, how: Reading) -> Iterator[tuple[int, Found]]:
    """What the file holds, piece by piece, each with the number of bytes read so far."""
    with source.open() as file:
        yield from _Reader(source, replace(how, file_name=source.name), file).pieces()


class _TooMuch(Exception):
    """A line, or what has to be held of a file, is over the limit."""

    def __init__(self, line: int, most: int) -> None:
        super().__init__(line, most)
        self.problem = Problem(
            line,
            f"the limit import_bytes allows {most} bytes to be held at once"
            " (TURNKEEP_MAX_IMPORT_BYTES); nothing is read from here on",
        )


class _Reader:
    def __init__(self, source: Source, how: Reading, file: BinaryIO) -> None:
        self._source = source
        self._how = how
        self._file = file
        self._read = 0
        self._broken: list[Problem] = []

    def pieces(self) -> Iterator[tuple[int, Found]]:
        try:
            lines = self._lines()
            first = next(lines, None)
            if first is not None and (value := self._value(first.text)) is not None:
                yield from self._by_kind(value, chain([first], lines))
            elif first is not None:
                yield from self._whole([first, *self._held(lines)])
        except _TooMuch as error:
            self._broken.append(error.problem)
        if self._broken:
            yield self._read, Found(problems=self._broken)

    def _whole(self, lines: list[Line]) -> Iterator[tuple[int, Found]]:
        """A document over many lines, or lines of which the first is broken."""
        text = "\n".join(line.text for line in lines)
        if (value := self._value(text)) is not None:
            yield from self._by_kind(value, iter([Line(lines[0].number, text)]))
            return
        values = (self._value(line.text) for line in lines)
        value = next((value for value in values if value is not None), None)
        yield from self._by_kind(value, iter(lines))

    def _by_kind(self, first: Json, lines: Iterator[Line]) -> Iterator[tuple[int, Found]]:
        if self._source.walked and isinstance(first, dict) and kind_of(first) == "other":
            yield self._read, Found(skipped=Counter({"files without messages": 1}))
            return
        match self._kind(first):
            case Importer() if self._how.group_by is not None:
                why = "--group-by is not for sessions, which say themselves what belongs together"
                yield self._read, Found(problems=[Problem(1, why)])
            case Importer() as importer:
                found = importer.read(self._held(lines), self._how)
                yield self._read, found
            case "messages":
                found = lists.read_messages(self._held(lines), self._how)
                yield self._read, found
            case "lines" | "other":
                yield from self._line_by_line(lines)

    def _kind(self, first: Json) -> Kind | Importer:
        if self._how.format in IMPORTERS:
            return IMPORTERS[self._how.format]
        kind = kind_of(first)
        if self._how.format == "auto":
            return kind
        return "messages" if kind == "messages" else "lines"

    def _line_by_line(self, lines: Iterator[Line]) -> Iterator[tuple[int, Found]]:
        first, second = next(lines, None), next(lines, None)
        if first is not None:
            # A file of one JSON document needs no line number in its conversation's name.
            bare = self._source.name.lower().removesuffix(".gz")
            only = second is None and (bare.endswith(".json") or "\n" in first.text)
            yield self._read, lists.read_line(first, self._how, only=only)
        for line in chain([second] if second else [], lines):
            yield self._read, lists.read_line(line, self._how)

    def _lines(self) -> Iterator[Line]:
        """The lines that are not blank. A line that is no UTF-8 is a problem of its own."""
        most = self._how.limits.import_bytes
        for number in count(1):
            raw = self._file.readline(most + 1)
            self._read += len(raw)
            if not raw:
                return
            if len(raw) > most:
                raise _TooMuch(number, most)
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                self._broken.append(Problem(number, f"not UTF-8 at byte {error.start}"))
                continue
            if text.strip():
                yield Line(number, text)

    def _held(self, lines: Iterator[Line]) -> Iterator[Line]:
        """Lines that are all needed before the first one can be stored."""
        most = self._how.limits.import_bytes
        for line in lines:
            if self._read > most:
                raise _TooMuch(line.number, most)
            yield line

    def _value(self, text: str) -> Json:
        try:
            return loads(text, self._how.limits)
        except TurnkeepError:
            return None
