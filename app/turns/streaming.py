"""One turn from the bytes of a provider's stream, read while they arrive.

A stream cannot be had again, so one part that breaks a rule must not take the others with it: it is
left out, named in a note, and stands in the payload.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO, cast

from ..formats.shared.events.event import Event
from ..formats.shared.events.reader import EventReader
from ..formats.shared.responses import Reply
from ..model.conversation import UNREADABLE, Draft, Remark
from ..model.errors import RuleBroken, TooLarge
from ..model.json_values import Json, JsonObject
from ..model.large import PIECE, Chunks
from ..model.limits import Limits
from .posting import read_stream
from .responses import Heard, check_is_stream, replies_of

_log = logging.getLogger("turnkeep")
# A response with more broken parts than this is not read at all.
_MOST_BROKEN = 16
# Of the bytes of an event so many are as a rule not kept in memory, and so many are in any case.
_FRAME, _LEAST = 192, 64


class Stream:
    """Takes the bytes as they come; `draft` gives the turn, whole or as far as it came.

    `query` holds what stands beside the messages in other posts: provider, format, model, turn_id.
    """

    def __init__(self, query: JsonObject, limits: Limits) -> None:
        wire = _wire(query, limits)
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
        # Bytes that have come since the last event ended.
        self.pending = 0
        self._events = 0
        self._hash = sha256(repr(sorted(query.items())).encode("utf-8", "surrogatepass"))
        self._heard = Heard()

    @property
    def arrays(self) -> bool:
        """Whether the stream may be one JSON document."""
        return self._replies.arrays

    @property
    def held(self) -> int:
        """About how many bytes of it are in memory: what the events say, without their frames."""
        return max(self.size - _FRAME * self._events, _LEAST * self._events)

    @property
    def digest(self) -> bytes:
        """What tells a repeated request from another one."""
        return self._hash.digest()

    def feed(self, data: bytes) -> None:
        if self.size + len(data) > self._limits.stream_bytes:
            raise TooLarge("stream_bytes", self._limits.stream_bytes)
        if self.size <= PIECE < self.size + len(data):
            begun, self._spool = self._spool, TemporaryFile()  # noqa: SIM115
            begun.seek(0)
            self._spool.write(begun.read())
        self._spool.write(data)
        self.size += len(data)
        self._hash.update(data)
        self.pending += len(data)
        for event in self._reader.feed(data):
            self.pending = 0
            self._take(event)

    def draft(self, *, hung_up: bool = False) -> Draft:
        """The turn. `hung_up`: the connection broke, so nobody knows whether this was all."""
        for event in self._reader.finish():
            self._take(event)
        self._heard.strays, self._heard.cut = self._reader.strays, self._reader.cut
        if not self._gathering.begun:
            self._check_is_one(hung_up)
        reply = self._reply()
        # What lost an event in the middle is not whole: it can be completed.
        whole = self._gathering.whole and not self._heard.broken
        try:
            return self._drafted(reply, whole=whole, hung_up=hung_up)
        except RuleBroken as error:
            # Over a limit: the facts about the response are kept, the response in the payload only.
            facts = {**reply.facts}
            if error.facts.get("limit") == "model_bytes":
                facts.pop("model", None)
            reply = _unreadable(_reason(error), facts)
            return self._drafted(reply, whole=False, hung_up=hung_up)

    def _drafted(self, reply: Reply, *, whole: bool, hung_up: bool) -> Draft:
        whole = whole and not _is_unreadable(reply)
        notes = (*reply.notes, *self._gathering.notes(), *self._notes(whole, hung_up, reply))
        return read_stream(
            self._query,
            replace(reply, notes=notes),
            Chunks(self._read) if self.size > PIECE else b"".join(self._read()),
            whole=whole,
            limits=self._limits,
        )

    def _reply(self) -> Reply:
        if not self._gathering.begun and (self._heard.broken or self._heard.strange):
            return _unreadable("none of its events could be read")
        try:
            reply = _read_what_can_be(self._replies.read, self._gathering.response())
            if self._gathering.unread and not reply.blocks:
                return _unreadable("nothing that it says could be read", reply.facts)
            return reply
        except Exception as error:
            # Whoever sent this cannot send it again: the bytes are kept, the turn can be completed.
            return _unreadable(_reason(error))

    def close(self) -> None:
        """Forgets the bytes; what `draft` gave cannot be stored any more."""
        self._spool.close()

    def _read(self) -> Iterator[bytes]:
        self._spool.seek(0)
        while piece := self._spool.read(PIECE):
            yield piece

    def _check_is_one(self, hung_up: bool) -> None:
        """Raises `RuleBroken` for a body in which nothing is an event of this format.

        Nobody hears it who has hung up: then only what is certainly no stream is refused.
        """
        heard, error = self._heard, self._gathering.response().get("error")
        if hung_up and not error and (heard.strange or not heard.strays):
            return
        body = next(self._read(), b"")
        check_is_stream(heard, self._wire, body, error, self._limits)

    def _take(self, event: Event) -> None:
        self._events += 1
        if event.done:
            self._heard.done = True
            self._gathering.done()
        elif self._gathering.ended:
            self._heard.behind += 1
        elif event.value is None:
            self._heard.unreadable += 1
            self._heard.broken += event.broken
        else:
            if event.twice:
                self._gathering.note_twice(event.value)
            self._heard.strange += not self._taken(event.value)

    def _taken(self, value: JsonObject) -> bool:
        try:
            known = self._gathering.take(value)
            # It may be the first one of another response.
            self._heard.behind += self._gathering.ended
            return known
        except Exception:
            # A defect of ours, or an event that nobody thought of: the rest of the turn is kept.
            _log.exception("an event of %s could not be taken", self._wire)
            self._heard.broken += 1
            return True

    def _notes(self, whole: bool, hung_up: bool, reply: Reply) -> list[Remark]:
        notes = []
        if not whole:
            why = "the connection broke" if hung_up else "the stream ended without its last event"
            if _is_unreadable(reply):
                why = "the stream, or a part of it, could not be made into a turn"
            elif "error" in reply.facts:
                why = "the provider sent an error, see metadata.response.error"
            elif self._heard.broken:
                why = "an event of the stream could not be read"
            detail = f"{why}; what had arrived is stored, complete it under the same turn_id"
            notes.append(Remark("STREAM_INTERRUPTED", detail))
        odd = {"are no JSON objects": self._heard.unreadable}
        odd["are of no known kind"] = self._heard.strange
        odd["stand behind the end of the response, or are of another one"] = self._heard.behind
        for what, count in odd.items():
            if count:
                detail = f"{count} events {what}; they stand in the payload only"
                notes.append(Remark("EVENTS_NOT_READ", detail))
        return notes


def _unreadable(reason: str, facts: JsonObject | None = None) -> Reply:
    """In the place of a reply that could not be made."""
    return Reply((), facts or {}, (Remark(UNREADABLE, reason),))


def _is_unreadable(reply: Reply) -> bool:
    return any(note.code == UNREADABLE for note in reply.notes)


def _reason(error: Exception) -> str:
    if isinstance(error, RuleBroken):
        return f"{error.detail} ({error.pointer})" if error.pointer else error.detail
    _log.error("a stream could not be put together", exc_info=error)
    return "it could not be put together"


def _wire(query: JsonObject, limits: Limits) -> str:
    """The format. What is wrong with the query is told before the body is read."""
    try:
        return read_stream(query, Reply(()), b"", whole=False, limits=limits).format
    except RuleBroken as error:
        error.point_at((error.pointer or "").replace("/", "?", 1))
        raise


def _read_what_can_be(read: Callable[[JsonObject, str], Reply], response: JsonObject) -> Reply:
    """The reply of all parts that can be read. Raises `RuleBroken` where no part is to blame."""
    notes: list[Remark] = []
    while True:
        try:
            reply = read(response, "")
            return replace(reply, notes=(*reply.notes, *notes))
        except RuleBroken as error:
            place = _place(response, error.pointer or "")
            if place is None or len(notes) == _MOST_BROKEN:
                raise
            response = cast(JsonObject, _without(response, place))
            notes.append(Remark(UNREADABLE, _reason(error)))


def _place(response: Json, pointer: str) -> Sequence[str] | None:
    """The innermost element of a list that the pointer goes through."""
    path = pointer.split("/")[1:]
    found: Sequence[str] | None = None
    at = response
    for depth, step in enumerate(path, 1):
        if isinstance(at, dict) and step in at:
            at = at[step]
        elif isinstance(at, list) and step.isdecimal() and int(step) < len(at):
            at = at[int(step)]
            found = path[:depth]
        else:
            break
    return found


def _without(value: Json, place: Sequence[str]) -> Json:
    """A copy without the element at the place."""
    step, *rest = place
    if isinstance(value, dict):
        return {**value, step: _without(value[step], rest)}
    assert isinstance(value, list)
    index = int(step)
    inner = [_without(value[index], rest)] if rest else []
    return [*value[:index], *inner, *value[index + 1 :]]
