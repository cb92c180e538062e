"""The response of a provider: whole, or put together from the events of its stream."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from app.core.conversation import Block, Remark
from app.core.json.text import JsonObject
from app.core.wire.usage import Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and the facts about it: id, model, stop reason, usage."""

    blocks: tuple[Block, ...]
    facts: JsonObject = field(default_factory=dict)
    notes: tuple[Remark, ...] = ()

    @property
    def model(self) -> str | None:
        model = self.facts.get("model")
        return model if isinstance(model, str) else None


class Gathering(Protocol):
    """Puts the response together from the events of one stream."""

    def take(self, event: JsonObject) -> bool:
        """Takes an event; False when it is none of this wire."""

    def done(self) -> None:
        """The stream said [DONE]."""

    @property
    def begun(self) -> bool:
        """Whether anything of the response has arrived; pings and errors are nothing of it."""

    @property
    def whole(self) -> bool:
        """Whether the end of the response has arrived."""

    def response(self) -> JsonObject:
        """The response as far as it came, in the wire's own shape."""

    @property
    def unread(self) -> Collection[str]:
        """The names of members of its events that no one reads."""

    def notes(self) -> list[Remark]:
        """What was odd about the stream."""


@dataclass(frozen=True, slots=True)
class Replies:
    """How a wire's responses are read (`read` takes one and the pointer to it).

    `is_one`: whether an object has the shape of such a response, whoever it is said to be from.
    `usage` takes what `read` gave as the fact of that name. `arrays`: its streams may also be one
    JSON array, declared as `application/json`.
    """

    read: Callable[[JsonObject, str], Reply]
    gathering: Callable[[], Gathering]
    usage: Callable[[JsonObject], Usage]
    is_one: Callable[[JsonObject], bool]
    arrays: bool = False
