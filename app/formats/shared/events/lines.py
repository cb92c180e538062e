"""Events in lines: server-sent events, or one JSON object a line.

Bytes may be cut anywhere, inside a line end or a character too; the events are the same. Streams
are taken as they really are: comments, CRLF, no blank line between two events or behind the last.
"""

import re
from collections import deque
from collections.abc import Iterator

from ....model.limits import Limits
from .event import DONE, Event, decoded, event_of

_LINE_END = re.compile(rb"\r\n?|\n")
_FIELDS = (b"data", b"event", b"id", b"retry")
# An event has its data in one line, seldom in several; only so many are looked at as a whole.
_LINES = 16


class LineReader:
    """Takes the bytes of lines, gives events."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._line = bytearray()
        self._searched = 0
        self._after_return = False
        self._is_line = False
        self._data: list[str] = []
        # Lines that are part of no event.
        self.strays = 0
        # Whether an event has begun and not ended.
        self.cut = False

    def feed(self, data: bytes) -> Iterator[Event]:
        lines = self._lines(data)
        while lines:
            # Long lines are let go as soon as they are taken.
            yield from self._take(lines.popleft())

    def finish(self) -> Iterator[Event]:
        """What the last bytes give. An event that broke off gives nothing."""
        line, self._line = bytes(self._line), bytearray()
        if line:
            yield from self._take(line, cut=True)
        # A line of JSON that has its end will not go on; anything else might have.
        if event := self._pending(whole=bool(line) or not self._is_line):
            yield event
        elif self._data:
            begun = "\n".join(self._data[:_LINES]).lstrip()
            # What can be the beginning of an object, or of the last word, has only broken off.
            if not begun.startswith("{") and not DONE.startswith(begun):
                self.cut = False
                yield Event(None)

    def _lines(self, data: bytes) -> deque[bytes]:
        """The lines that end in these bytes, without their ends."""
        lines: deque[bytes] = deque()
        if not data:
            return lines
        # The second half of a line end that was cut in two.
        skipped = self._after_return and data[:1] == b"\n"
        self._after_return = data[-1:] == b"\r"
        self._line += data[1:] if skipped else data
        ends = [found.span() for found in _LINE_END.finditer(self._line, self._searched)]
        start = 0
        with memoryview(self._line) as whole:
            for end, after in ends:
                lines.append(bytes(whole[start:end]))
                start = after
        del self._line[:start]
        self._searched = len(self._line)
        return lines

    def _take(self, line: bytes, *, cut: bool = False) -> Iterator[Event]:
        """The event that ends with this line; `cut`: the line itself may lack its end."""
        name = line[:16].partition(b":")[0]
        # No field of an event begins with a bracket: that is a line of JSON, an event of its own.
        is_json = line[:1] in (b"{", b"[")
        is_field = name in _FIELDS or (cut and any(field.startswith(line) for field in _FIELDS))
        self.strays += bool(line) and not (is_json or is_field or line[:1] == b":")
        if not line or is_json or name in (b"event", b"data"):
            # Two events may follow each other without a blank line between them.
            may_go_on = bool(line) and not is_json and not self._is_line
            if event := self._pending(whole=may_go_on):
                yield event
        if is_json:
            self._data = [decoded(line)]
        elif name == b"data":
            self._data.append(decoded(line, 6 if line[5:6] == b" " else 5))
        self._is_line = is_json
        self.cut = bool(line) and (self.cut or is_json or is_field)

    def _pending(self, *, whole: bool = False) -> Event | None:
        """The event of the data lines so far; `whole`: only if they are one, or else they stay."""
        if not self._data:
            return None
        last = self._data[-1].rstrip()
        if whole and (len(self._data) > _LINES or not last.endswith(("}", "]"))):
            return None
        event = event_of("\n".join(self._data), self._limits)
        if whole and event and event.value is None and not event.done:
            return None
        self._data = []
        self.cut = False
        return event
