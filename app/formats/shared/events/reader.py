"""Which form a stream has, by its first sign: a bracket, a zero, or the beginning of a line.

What a body is declared as says little: proxies keep the name and change the form.
"""

from collections.abc import Iterator

from ....model.limits import Limits
from .arrays import ArrayReader
from .event import Event, Reader
from .frames import FrameReader
from .lines import LineReader

_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Takes bytes of any form, gives events."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        # The bytes so far, while they may be the mark of UTF-8.
        self._head: bytes | None = b""
        self._reader: Reader | None = None

    @property
    def strays(self) -> int:
        """How much is part of no event."""
        return self._reader.strays if self._reader else 0

    @property
    def cut(self) -> bool:
        """Whether the stream ends inside an event."""
        return self._reader.cut if self._reader else bool(self._head)

    def feed(self, data: bytes) -> Iterator[Event]:
        if self._reader is None:
            data = self._begin(data)
        if self._reader is not None:
            yield from self._reader.feed(data)

    def finish(self) -> Iterator[Event]:
        if self._reader is not None:
            yield from self._reader.finish()

    def _begin(self, data: bytes) -> bytes:
        """What is to be read, once the first sign is there."""
        if self._head is not None:
            head = self._head + data
            if len(head) < len(_MARK) and _MARK.startswith(head):
                self._head = head
                return b""
            self._head = None
            data = head.removeprefix(_MARK)
        match data.lstrip()[:1]:
            case b"":
                return b""
            case b"[":
                self._reader = ArrayReader(self._limits)
            case b"\x00" | b"\x01":
                # The length of a frame, which has 25 bits at most.
                self._reader = FrameReader(self._limits)
            case _:
                self._reader = LineReader(self._limits)
        return data
