"""The response of a provider: whole, or put together from the events of its stream."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from ...jsontext.fields import text_in
from ...jsontext.twice import given_twice
from ...model.conversation import Block, Draft, Remark
from ...model.json_values import Json, JsonObject
from ...model.usage import Usage

# How many members one note names, and how much of each name.
_NAMED = 20
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and the facts about it: id, model, stop reason, usage.

    `messages`: the messages of the wire that the response stands for, each with its pointer.
    """

    blocks: tuple[Block, ...]
    facts: JsonObject = field(default_factory=dict)
    notes: tuple[Remark, ...] = ()
    messages: tuple[tuple[str, JsonObject], ...] = ()

    def draft(self) -> Draft:
        """The turn of the model that it is, but for what was posted."""
        model = text_in(self.facts, "model")
        return Draft(
            "ai",
            self.blocks,
            facts=self.facts,
            model=model,
            notes=self.notes,
            messages=self.messages,
        )


class Gathering(ABC):
    """Puts the response together from the events of one stream.

    begun   whether anything of the response has arrived; pings and errors are nothing of it
    whole   whether the end of the response has arrived
    ended   whether what comes is none of the response any more
    unread  the names of members of its events that no one reads
    twice   the names that one of its events gives twice, of which the last one is read
    """

    def __init__(self) -> None:
        self.begun = False
        self.whole = False
        self.ended = False
        self.unread: dict[str, None] = {}
        self.twice: dict[str, None] = {}
        # What the response says beside its content.
        self._top: JsonObject = {}
        # What was odd, each thing once, with how often it happened.
        self._odd: Counter[str] = Counter()
        # What the events call their response, whether that changed, and whether it has opened.
        self._name: Json = None
        self._renames = False
        self._opened = False

    @abstractmethod
    def take(self, event: JsonObject) -> bool:
        """Takes an event; False when it is none of this wire."""

    @abstractmethod
    def response(self) -> JsonObject:
        """The response as far as it came, in the wire's own shape."""

    def done(self) -> None:
        """The stream said [DONE], a word that most wires do not know: SDKs read nothing behind."""
        self.ended = self.ended or self.begun

    def notes(self) -> list[Remark]:
        """What was odd about the stream."""
        notes = [
            Remark("STREAM_REASSEMBLED", detail if times == 1 else f"{detail} ({times} times)")
            for detail, times in self._odd.items()
        ]
        if self.unread:
            names = ", ".join(self.unread)
            detail = f"{names} (in events): kept in the payload, shown to no other provider"
            notes.append(Remark("MEMBERS_NOT_READ", detail))
        if self.twice:
            names = ", ".join(self.twice)
            detail = f"{names} (in events): given twice; only the last one is read"
            notes.append(Remark("MEMBERS_NOT_READ", detail))
        return notes

    def _goes_on(self, name: Json, *, opens: bool = False, said: bool = True) -> bool:
        """Whether an event under this name, which may open a response, is of the one that came.

        Of three signs that it is of another one two must stand together: gateways give each chunk
        a name of its own, say the opening twice, and go on behind the end. A new name is no sign
        from those who have given one before, nor where nothing was `said` yet.
        """
        is_other = bool(name and self._name and name != self._name)
        is_sign = is_other and said and not self._renames
        self.ended = (is_sign, opens, self.whole).count(True) > 1
        if self.ended:
            return False
        if is_other and not opens:
            self._renames = True
            self._odd["the id of the response changed between its events"] += 1
        elif opens and self._opened:
            self._odd["the response began again before its end"] += 1
        self._name, self._opened = name or self._name, self._opened or opens
        return True

    def note_twice(self, event: JsonObject) -> None:
        """Remembers what an event gives twice."""
        for name, _ in given_twice(event):
            if len(self.twice) < _NAMED:
                self.twice[name[:_LONGEST]] = None

    def _left_over(self, members: JsonObject, known: Collection[str]) -> None:
        """Remembers the members that nobody reads; empty ones are no news."""
        for name, value in members.items():
            is_news = name not in known and value not in (None, "", [], {})
            if is_news and len(self.unread) < _NAMED:
                self.unread[name[:_LONGEST]] = None


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
