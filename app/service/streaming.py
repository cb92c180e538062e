"""One turn from the bytes of a provider's stream, read while they arrive."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO

from app.core.chunks import PIECE, Bytes, Chunks
from app.core.conversation import Remark
from app.core.errors import RuleBroken, TooLarge
from app.core.events import Event, EventReader
from app.core.jsontext import JsonObject
from app.core.limits import Limits
from app.core.replies import Reply
from app.service.posting import Post, read_stream, replies_of
from app.service.providers import wire_of

_log = logging.getLogger("turnkeep")


class Stream:
    """Takes the bytes as they come; `post` gives the turn, whole or as far as it came.

    `query` holds what stands beside the messages in other posts: provider, format, model, turn_id.
    """

    def __init__(self, query: JsonObject, limits: Limits) -> None:
        wire = _wire(query)
        replies = replies_of(wire, "?format" if query.get("format") else "?provider")
        self._query = query
        self._wire = wire
        self._limits = limits
        self._replies = replies
        self._gathering = replies.gathering()
        self._reader = EventReader(limits)
        # In memory while it is short, then in a file.
        self._spool: IO[bytes] = BytesIO()
        self.size = 0
        self._hash = sha256(repr(sorted(query.items())).encode("utf-8", "surrogatepass"))
        self._known = self._strange = self._unreadable = self._broken = 0

    @property
    def arrays(self) -> bool:
        """Whether the stream may be one JSON document."""
        return self._replies.arrays

    @property
    def digest(self) -> bytes:
        """What tells a repeated request from another one."""
        return self._hash.digest()

    def feed(self, data: bytes) -> None:
        if self.size + len(data) > self._limits.stream_bytes:
            raise TooLarge(
                f"The limit stream_bytes allows {self._limits.stream_bytes} bytes.",
                limit="stream_bytes",
                most=self._limits.stream_bytes,
            )
        if self.size <= PIECE < self.size + len(data):
            begun, self._spool = self._spool, TemporaryFile()  # noqa: SIM115
            begun.seek(0)
            self._spool.write(begun.read())
        self._spool.write(data)
        self.size += len(data)
        self._hash.update(data)
        for event in self._reader.feed(data):
            self._take(event)

    def post(self, *, hung_up: bool = False) -> Post:
        """The turn. `hung_up`: the connection broke, so nobody knows whether this was all."""
        for event in self._reader.finish():
            self._take(event)
        if not self._known and not hung_up:
            self._check_is_one()
        # What lost an event in the middle is not whole: it can be completed.
        whole = self._gathering.whole and not self._broken
        try:
            reply = self._replies.read(self._gathering.response(), "")
        except Exception as error:
            # Whoever sent this cannot send it again: the bytes are kept, the turn can be completed.
            whole = False
            reply = Reply((), notes=(Remark("STREAM_UNREADABLE", _reason(error)),))
        notes = (*reply.notes, *self._gathering.notes(), *self._notes(whole, hung_up, reply))
        return read_stream(
            self._query,
            replace(reply, notes=notes),
            self._payload(),
            whole=whole,
            limits=self._limits,
        )

    def close(self) -> None:
        """Forgets the bytes; what `post` gave cannot be stored any more."""
        self._spool.close()

    def _payload(self) -> Bytes:
        if self.size > PIECE:
            return Chunks(self._read)
        return b"".join(self._read())

    def _read(self) -> Iterator[bytes]:
        self._spool.seek(0)
        while piece := self._spool.read(PIECE):
            yield piece

    def _check_is_one(self) -> None:
        """Raises `RuleBroken` for a body in which nothing is an event of this format."""
        if self._strange or self._unreadable:
            raise RuleBroken(
                f"None of these events is one of {self._wire}; name the provider that sent them.",
                pointer="?format",
            )
        if self._reader.strays:
            raise RuleBroken("The body holds no events, but lines of something else.")

    def _take(self, event: Event) -> None:
        if event.done:
            self._gathering.done()
        elif event.value is None:
            self._unreadable += 1
            self._broken += event.broken
        elif self._taken(event.value):
            self._known += 1
        else:
            self._strange += 1

    def _taken(self, value: JsonObject) -> bool:
        try:
            return self._gathering.take(value)
        except Exception:
            # A defect of ours, or an event that nobody thought of: the rest of the turn is kept.
            _log.exception("an event of %s could not be taken", self._wire)
            self._broken += 1
            return True

    def _notes(self, whole: bool, hung_up: bool, reply: Reply) -> list[Remark]:
        notes = []
        if not whole:
            why = "the connection broke" if hung_up else "the stream ended without its last event"
            if "error" in reply.facts:
                why = "the provider sent an error, see metadata.response.error"
            elif self._broken:
                why = "an event of the stream could not be read"
            detail = f"{why}; what had arrived is stored, complete it under the same turn_id"
            notes.append(Remark("STREAM_INTERRUPTED", detail))
        odd = ((self._unreadable, "are no JSON objects"), (self._strange, "are of no known kind"))
        for count, what in odd:
            if count:
                detail = f"{count} events {what}; they stand in the payload only"
                notes.append(Remark("EVENTS_NOT_READ", detail))
        return notes


def _reason(error: Exception) -> str:
    if isinstance(error, RuleBroken):
        return f"{error.detail} ({error.pointer})"
    _log.error("a stream could not be put together", exc_info=error)
    return "it could not be put together"


def _wire(query: JsonObject) -> str:
    """The format; what is wrong stands in the query, not in the body."""
    try:
        return wire_of(query)[1]
    except RuleBroken as error:
        error.point_at((error.pointer or "").replace("/", "?", 1))
        raise
