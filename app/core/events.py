"""Events of a stream, read while it arrives: server-sent events, or one JSON object a line.

Bytes may be cut anywhere, inside a line end or a character too; the events are the same. Streams
are taken as they really are: comments, CRLF, no blank line between two events or behind the last.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.core.errors import TurnkeepError
from app.core.jsontext import JsonObject, loads
from app.core.limits import Limits

_LINE_END = re.compile(rb"\r\n?|\n")
_MARK = b"\xef\xbb\xbf"
_USUAL = (b":", b"{", b"[", b"data", b"event", b"id", b"retry")
_DONE: Final = "[DONE]"
# An event has its data in one line, seldom in several; only so many are looked at as a whole.
_LINES = 16


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its object; None where it is no object. `done` is the chat wires' last word.

    `broken`: it began like an object and cannot be read.
    """

    value: JsonObject | None
    done: bool = False
    broken: bool = False


class EventReader:
    """Takes bytes, gives events."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._line = bytearray()
        self._searched = 0
        self._after_return = False
        self._first = True
        self._is_line = False
        # Lines that are part of no event.
        self.strays = 0
        self._data: list[str] = []

    def feed(self, data: bytes) -> Iterator[Event]:
        lines = self._lines(data)
        while lines:
            # Long lines are let go as soon as they are taken.
            yield from self._take(lines.popleft())

    def finish(self) -> Iterator[Event]:
        """What the last bytes give. An event that broke off gives nothing."""
        line, self._line = bytes(self._line), bytearray()
        before = self.strays
        if line:
            yield from self._take(line)
        # The last line may have been cut off.
        self.strays = before
        if event := self._pending(whole=True):
            yield event

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

    def _take(self, line: bytes) -> Iterator[Event]:
        if self._first:
            line = line.removeprefix(_MARK)
            self._first = False
        name = line[:16].partition(b":")[0]
        self.strays += bool(line) and not line.startswith(_USUAL)
        # No field of an event begins with a bracket: that is a line of JSON, an event of its own.
        is_json = line[:1] in (b"{", b"[")
        if not line or is_json or name in (b"event", b"data"):
            # Two events may follow each other without a blank line between them.
            may_go_on = bool(line) and not is_json and not self._is_line
            if event := self._pending(whole=may_go_on):
                yield event
        if is_json:
            self._data = [_decoded(line)]
        elif name == b"data":
            self._data.append(_decoded(line, 6 if line[5:6] == b" " else 5))
        self._is_line = is_json

    def _pending(self, *, whole: bool = False) -> Event | None:
        """The event of the data lines so far; `whole`: only if they are one, or else they stay."""
        if not self._data:
            return None
        last = self._data[-1].rstrip()
        if whole and (len(self._data) > _LINES or not last.endswith(("}", "]"))):
            return None
        text = "\n".join(self._data)
        event = self._event(text)
        if whole and event and event.value is None and not event.done:
            return None
        self._data = []
        return event

    def _event(self, text: str) -> Event | None:
        if not text.strip():
            return None
        if text.strip() == _DONE:
            return Event(None, done=True)
        try:
            value = loads(text, self._limits)
        except TurnkeepError:
            return Event(None, broken=text.lstrip().startswith("{"))
        return Event(value if isinstance(value, dict) else None)


def _decoded(line: bytes, start: int = 0) -> str:
    """Bytes that are no UTF-8 become lone surrogates: nothing is lost, and replays mend them."""
    with memoryview(line) as whole:
        return str(whole[start:], "utf-8", "surrogateescape")
