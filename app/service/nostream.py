"""Bodies that are no stream of their format: what they are instead, and what is done about it.

What may be the beginning or the ruins of a stream is not refused: it is stored, since whoever sent
it cannot send it again.
"""

from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from app.codecs import CODECS
from app.core import telling
from app.core.errors import ErrorResponse, RuleBroken, TurnkeepError
from app.core.json.text import Json, JsonObject, loads
from app.core.limits import Limits
from app.core.wire.errors import error_type
from app.core.wire.events.reader import EventReader
from app.service.responses import whose_response

# Events that are shown to the other wires.
_SHOWN = 64


@dataclass(slots=True)
class Heard:
    """What came of a stream, counted.

    `strange`: objects that are no events of this format. `unreadable`: events that are no objects,
    `broken`: those of them that began like one. `strays`: what is part of no event. `cut`: the
    last event did not come to its end. `done`: the stream said [DONE].
    """

    strange: int = 0
    unreadable: int = 0
    broken: int = 0
    strays: int = 0
    cut: bool = False
    done: bool = False

    @property
    def may_be_one(self) -> bool:
        """Whether a stream is here that broke off at once, or can be read nowhere."""
        foreign = self.strange or self.unreadable > self.broken or self.strays
        return not foreign and (self.done or self.cut or self.broken > 0)


def check_is_stream(heard: Heard, wire: str, body: bytes, error: Json, limits: Limits) -> None:
    """Raises `RuleBroken` for a body in which nothing of a response stands.

    `body` is its beginning, `error` what the provider said in an event of its own.
    """
    objects = _objects(body, limits)
    for value in ({"error": error}, *objects):
        if (kind := error_type(value)) is not None:
            raise ErrorResponse(kind)
    if heard.may_be_one:
        return
    if whose := _whose_events(objects):
        raise RuleBroken(
            f"None of these events is one of '{wire}'; they look like those of"
            f" {telling.either(whose)}: post them with that `provider` or `format`.",
            pointer="?format",
            looks_like=whose,
        )
    if whose := list(dict.fromkeys(name for one in objects for name in whose_response(one))):
        raise RuleBroken(
            "The body must be a stream of events, and this is a whole response of"
            f" {telling.either(whose)}: post it to …/turns, as `response`.",
            looks_like=whose,
        )
    if heard.strange or heard.unreadable:
        raise RuleBroken(
            f"None of these events is one of '{wire}'; say whose they are by `format`.",
            pointer="?format",
        )
    if heard.strays:
        raise RuleBroken("The body must be a stream of events, and it holds something else.")
    raise RuleBroken("The stream is empty: it has comments or pings, and nothing of a response.")


def _objects(body: bytes, limits: Limits) -> list[JsonObject]:
    """The first objects of the body; the body itself, where it is one over several lines."""
    reader = EventReader(limits)
    events = (*islice(reader.feed(body), _SHOWN), *reader.finish())
    found = [event.value for event in events if event.value is not None]
    try:
        whole = loads(body.decode(), limits)
    except (TurnkeepError, UnicodeDecodeError):
        return found
    return [whole] if isinstance(whole, dict) else found


def _whose_events(objects: list[JsonObject]) -> list[str]:
    """The formats that understand at least one of these as an event."""
    names: list[str] = []
    for name, codec in CODECS.items():
        if codec.replies:
            gathering = codec.replies.gathering()
            # What another wire cannot even take is no event of it.
            with suppress(Exception):
                for value in objects:
                    gathering.take(value)
            if gathering.begun:
                names.append(name)
    return names
