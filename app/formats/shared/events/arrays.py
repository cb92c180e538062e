"""Events as the elements of one JSON array, which is what Gemini sends without `alt=sse`.

An element is read when its last bracket has come. Arrays, and objects, may also follow each other.
"""

import re
from collections.abc import Iterator

from ....model.limits import Limits
from .event import Event, decoded, event_of

_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
# Inside of an element all but its brackets; whole texts in one go.
_WITHIN = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_BETWEEN = re.compile(rb'[^"\[\]{},]*+')


class ArrayReader:
    """Takes the bytes of an array, gives its objects."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._bytes = bytearray()
        # How far they have been looked through: no byte is looked at more than twice.
        self._at = 0
        self._in_string = False
        self._in_array = False
        # Of the element: where it begins, and how many of its brackets are open.
        self._start = 0
        self._depth = 0
        self._scalar = False
        self.strays = 0

    @property
    def cut(self) -> bool:
        return self._in_array or self._depth > 0

    def feed(self, data: bytes) -> Iterator[Event]:
        self._bytes += data
        while sign := self._next_sign():
            if event := self._within(sign) if self._depth else self._between(sign):
                yield event
        if not self._depth:
            self._let_go()

    def finish(self) -> Iterator[Event]:
        if event := self._end_of_scalar():
            yield event

    def _next_sign(self) -> bytes:
        """The next comma or bracket outside of texts; nothing where the bytes end."""
        while True:
            if self._in_string:
                self._skip(_IN_STRING)
                if self._bytes[self._at : self._at + 1] != b'"':
                    # The rest of the text is yet to come, or of an escape.
                    return b""
                self._at += 1
                self._in_string = False
            skipped = self._skip(_WITHIN if self._depth else _BETWEEN)
            sign = bytes(self._bytes[self._at : self._at + 1])
            self._at += len(sign)
            self._in_string = sign == b'"'
            if not self._depth and (skipped or self._in_string):
                self._scalar = True
            if not self._in_string:
                return sign

    def _skip(self, pattern: re.Pattern[bytes]) -> bool:
        """Goes on behind what the pattern finds; whether that was more than blanks."""
        found = pattern.match(self._bytes, self._at)
        assert found
        before, self._at = self._at, found.end()
        return not self._depth and bool(self._bytes[before : self._at].strip())

    def _within(self, sign: bytes) -> Event | None:
        if sign in b"[{":
            self._depth += 1
        elif sign in b"]}":
            self._depth -= 1
            if not self._depth:
                text = decoded(self._bytes, self._start, self._at)
                self._let_go()
                return event_of(text, self._limits)
        return None

    def _between(self, sign: bytes) -> Event | None:
        if sign == b"{" or (sign == b"[" and self._in_array):
            self._start, self._depth = self._at - 1, 1
        elif sign == b"[":
            self._in_array = True
        elif sign == b"]" and self._in_array:
            self._in_array = False
        elif sign != b",":
            # A bracket that closes nothing.
            self._scalar = True
        return self._end_of_scalar()

    def _end_of_scalar(self) -> Event | None:
        """A number, a text or nothing of JSON, where an object is expected."""
        was_one, self._scalar = self._scalar, False
        return Event(None) if was_one else None

    def _let_go(self) -> None:
        del self._bytes[: self._at]
        self._at = 0
