"""Events in the binary frames of AWS, in which Bedrock streams (`vnd.amazon.eventstream`).

A frame: the lengths of all of it and of its headers, their checksum, the headers, the payload, the
checksum of everything before. Behind a wrong checksum nothing is read: nobody knows where the next
frame begins. Lengths and types of headers are those of botocore's `eventstream`.
"""

import struct
from base64 import b64decode
from collections.abc import Iterator
from zlib import crc32

from ....jsontext.reading import loads_watched
from ....model.errors import TurnkeepError
from ....model.limits import Limits
from .event import Event, decoded, event_of

_PRELUDE = struct.Struct("!III")
_CHECKSUM = struct.Struct("!I")
_LENGTH = struct.Struct("!H")
# A frame without headers and payload; the longest headers and payload.
_LEAST = _PRELUDE.size + _CHECKSUM.size
_HEADERS = 128 * 1024
_PAYLOAD = 24 * 1024 * 1024
# Types of headers: how long their values are; texts and bytes say it themselves.
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES, _TEXT = 6, 7


class FrameReader:
    """Takes the bytes of frames, gives their payloads under the names of the events."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._bytes = bytearray()
        self._lost = False
        self._first = True
        self.strays = 0

    @property
    def cut(self) -> bool:
        return bool(self._bytes) and not self._lost

    def feed(self, data: bytes) -> Iterator[Event]:
        if not self._lost:
            self._bytes += data
        while not self._lost and len(self._bytes) >= _PRELUDE.size:
            length, headers, checksum = _PRELUDE.unpack_from(self._bytes)
            may_be = headers <= _HEADERS and 0 <= length - headers - _LEAST <= _PAYLOAD
            if not may_be or checksum != crc32(self._bytes[:8]):
                yield from self._lose()
            elif len(self._bytes) < length:
                return
            else:
                yield from self._take(bytes(self._bytes[:length]), headers)
                del self._bytes[:length]

    def finish(self) -> Iterator[Event]:
        yield from ()

    def _lose(self) -> Iterator[Event]:
        """Something else than a frame; where the first one should stand, this is no stream."""
        self._lost = True
        self.strays += self._first
        if not self._first:
            yield Event(None, broken=True)

    def _take(self, frame: bytes, headers: int) -> Iterator[Event]:
        self._first = False
        end = len(frame) - _CHECKSUM.size
        if _CHECKSUM.unpack_from(frame, end)[0] != crc32(frame[:end]):
            yield from self._lose()
            return
        payload = _PRELUDE.size + headers
        named = _texts(frame[_PRELUDE.size : payload])
        if named is None:
            yield Event(None, broken=True)
        else:
            yield self._event(named, decoded(frame, payload, end))

    def _event(self, headers: dict[str, str], payload: str) -> Event:
        kind = headers.get(":message-type")
        if kind == "error":
            told = (headers.get(f":error-{what}") for what in ("code", "message"))
            return Event({"error": dict(zip(("type", "message"), told, strict=True))})
        name = headers.get(":exception-type" if kind == "exception" else ":event-type", "")
        try:
            value, twice = loads_watched(payload if payload.strip() else "{}", self._limits)
        except TurnkeepError:
            return Event(None, broken=True)
        match name, value:
            case "chunk", {"bytes": str(inner)}:
                return self._unwrapped(inner)
            case _:
                return Event({name: value}, twice=twice)

    def _unwrapped(self, inner: str) -> Event:
        """InvokeModelWithResponseStream: an event of the model's own wire, in base64."""
        try:
            text = decoded(b64decode(inner, validate=True))
        except ValueError:
            return Event(None, broken=True)
        return event_of(text, self._limits) or Event(None)


def _texts(data: bytes) -> dict[str, str] | None:
    """The headers that are texts; None where they cannot be read, or one stands there twice."""
    found: dict[str, str] = {}
    names: set[str] = set()
    at = 0
    try:
        while at < len(data):
            start = at + 1
            at = start + data[at]
            name, kind = decoded(data, start, at), data[at]
            at += 1
            if kind in (_BYTES, _TEXT):
                (size,) = _LENGTH.unpack_from(data, at)
                at += _LENGTH.size
            else:
                size = _SIZES[kind]
            if name in names or at + size > len(data):
                return None
            names.add(name)
            if kind == _TEXT:
                found[name] = decoded(data, at, at + size)
            at += size
    except (IndexError, KeyError, struct.error):
        return None
    return found
