"""One event of a stream, from its text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from ....jsontext.reading import loads_watched
from ....model.errors import TurnkeepError
from ....model.json_values import JsonObject
from ....model.limits import Limits

DONE: Final = "[DONE]"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its object; None where it is no object. `done` is the chat wires' last word.

    `broken`: it began like an object and cannot be read. `twice`: it gives a member twice.
    """

    value: JsonObject | None
    done: bool = False
    broken: bool = False
    twice: bool = False


class Reader(Protocol):
    """Takes the bytes of one form, gives events."""

    @property
    def strays(self) -> int:
        """How much is part of no event."""

    @property
    def cut(self) -> bool:
        """Whether the last bytes, behind `finish`, began an event that did not come to its end."""

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that end in these bytes."""

    def finish(self) -> Iterator[Event]:
        """What the last bytes give. An event that broke off gives nothing."""


def event_of(text: str, limits: Limits) -> Event | None:
    """The event that a text is; None for a blank one."""
    if not text.strip():
        return None
    if text.strip() == DONE:
        return Event(None, done=True)
    try:
        value, twice = loads_watched(text, limits)
    except TurnkeepError:
        return Event(None, broken=text.lstrip().startswith("{"))
    return Event(value if isinstance(value, dict) else None, twice=twice)


def decoded(data: bytes | bytearray, start: int = 0, end: int | None = None) -> str:
    """Bytes that are no UTF-8 become lone surrogates: nothing is lost, and replays mend them."""
    with memoryview(data) as whole, whole[start:end] as part:
        return str(part, "utf-8", "surrogateescape")
