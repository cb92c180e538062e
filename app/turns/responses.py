"""Whole responses of a provider, as one turn; and what else was posted where a response or a stream
belongs.

What may be the beginning or the ruins of a stream is not refused: it is stored, since whoever sent
it cannot send it again.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from ..formats.registry import CODECS
from ..formats.shared.errors import error_type
from ..formats.shared.events.reader import EventReader
from ..formats.shared.reading import overwritten
from ..formats.shared.responses import Replies
from ..jsontext.reading import loads
from ..model import telling
from ..model.conversation import Draft
from ..model.errors import ErrorResponse, RuleBroken, TurnkeepError
from ..model.json_values import Json, JsonObject
from ..model.limits import Limits

# Events that are shown to the other wires.
_SHOWN = 64
_OVER_LINES = (
    "Each line must be one JSON value, and this body has values that go over several lines. Post"
    " each event on a line of its own, or as a server-sent event."
)


def replies_of(wire: str, pointer: str) -> Replies:
    """How the responses of a wire are read. Raises `RuleBroken` where it has none of its own."""
    if replies := CODECS[wire].replies:
        return replies
    told = f"The format '{wire}' has no responses and no streams of its own; post `messages`."
    raise RuleBroken(told, pointer=pointer)


def read_response(wire: str, response: Json, texts: Sequence[str]) -> Draft:
    """A provider's whole response as one turn of the model."""
    replies = replies_of(wire, "/response")
    if isinstance(response, dict):
        try:
            reply = replies.read(response, "/response")
            if not reply.blocks and (kind := error_type(response)) is not None:
                raise ErrorResponse(kind, pointer="/response")
            notes = (*reply.notes, *overwritten(("/response", texts[0])))
            return replace(reply.draft(), payload=texts[0], pointer="/response", notes=notes)
        except RuleBroken as error:
            # What is no response of this wire is told by what it is, not by what it lacks.
            raise (_something_else(wire, response) or error) from None
    raise _something_else(wire, response) or RuleBroken(
        telling.wrong_type("response", "the object that the provider sent", response),
        pointer="/response",
    )


def _something_else(wire: str, response: Json) -> RuleBroken | None:
    if (kind := error_type(response)) is not None:
        return ErrorResponse(kind, pointer="/response")
    match response:
        case {"message": {"role": str()}}:
            return _only("one choice of it")
        case dict() if whose := whose_response(response):
            if wire in whose:
                return None
            return RuleBroken(
                f"`response` must be a response of '{wire}'; this looks like a response of"
                f" {telling.either(whose)}: post it with that `provider` or `format`.",
                pointer="/response",
                looks_like=whose,
            )
        case dict() if isinstance(response.get("role"), str) and "type" not in response:
            return _only("one message; that is posted in `messages`")
        case [{"role": str()}, *_]:
            return _only("a list of messages; those are posted as `messages`")
        case _:
            return None


def _only(what: str) -> RuleBroken:
    told = f"`response` must be the whole object that the provider sent, not {what}."
    return RuleBroken(told, pointer="/response")


def whose_response(value: JsonObject) -> list[str]:
    """The formats that have responses of this shape."""
    return [name for name, codec in CODECS.items() if codec.replies and codec.replies.is_one(value)]


def whole_response_at(pointer: str, value: Json) -> RuleBroken | None:
    """For a message that could not be read: it may be a response, or the error instead of one."""
    if not isinstance(value, dict) or "role" in value:
        return None
    if (kind := error_type(value)) is not None:
        return ErrorResponse(kind, pointer=pointer)
    if isinstance(value.get("message"), dict):
        told = "A message must stand here, and this is one choice of a response:"
        return RuleBroken(f"{told} post its `message`.", pointer=pointer)
    # An item of a list says its type; an output has an `output`, as a whole response has.
    is_item = isinstance(value.get("type"), str)
    if is_item or not (names := whose_response(value)):
        return None
    return RuleBroken(
        "A message must stand here, and this looks like a whole response of"
        f" {telling.either(names)}: post it as `response`, without `messages`.",
        pointer=pointer,
        looks_like=names,
    )


@dataclass(slots=True)
class Heard:
    """What came of a stream, counted.

    `strange`: objects that are no events of this format. `unreadable`: events that are no objects,
    `broken`: those of them that began like one. `strays`: what is part of no event. `behind`: what
    came behind the response. `cut`: the last event did not come to its end. `done`: the stream
    said [DONE].
    """

    strange: int = 0
    unreadable: int = 0
    broken: int = 0
    strays: int = 0
    behind: int = 0
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
    whose = _whose_events(objects)
    if whose and wire not in whose:
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
    if heard.strays and body.lstrip().startswith(b"{"):
        raise RuleBroken(_OVER_LINES)
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
