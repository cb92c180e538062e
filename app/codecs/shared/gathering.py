"""Putting streams together: pieces of text, JSON that may break off, notes about what was odd."""

from collections.abc import Collection, Iterable
from typing import cast

from app.core.conversation import Remark
from app.core.errors import TurnkeepError
from app.core.json.large import PIECE
from app.core.json.text import Json, JsonObject, JsonText, dumps, loads
from app.core.limits import Limits

# What arrives as text inside events has not passed the limits of a body.
_LIMITS = Limits()
_MANY = 64
# How many members one note names, and how much of each name.
_NAMED = 20
_LONGEST = 100


class Pieces:
    """A text that grows. Small pieces are joined now and then: each costs more than it says."""

    __slots__ = ("_small", "_text")

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._small: list[str] = []

    def add(self, text: Json) -> None:
        if isinstance(text, str):
            self._small.append(text)
            if len(self._small) >= _MANY:
                self._join()

    def __bool__(self) -> bool:
        return bool(self._text) or any(self._small)

    def may_be_object(self) -> bool:
        """Whether it ends like a JSON object; asked before the whole text is looked at."""
        last = next((piece for piece in reversed(self._small) if piece.strip()), self._text[-9:])
        return last.rstrip().endswith("}")

    def text(self) -> str:
        """All of it. Halves of a character that came in two events are one again."""
        self._join()
        if any("\ud800" <= sign <= "\udbff" for sign in _rare(self._text)):
            halves = self._text.encode("utf-16-le", "surrogatepass")
            self._text = halves.decode("utf-16-le", "surrogatepass")
        return self._text

    def _join(self) -> None:
        # A text that nothing else refers to grows in its place: a long one never stands here twice.
        text, self._text = self._text, ""
        text += "".join(self._small)
        self._text = text
        self._small.clear()


def _rare(text: str) -> Iterable[str]:
    """The characters of a text that could hold surrogates; of any other, none."""
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text
    return ""


def value_of(text: str) -> "Json | JsonText":
    """The value of a JSON text; the text itself, where it broke off or is very long."""
    if len(text) > PIECE:
        return JsonText(text)
    try:
        return loads(text, _LIMITS)
    except TurnkeepError:
        return JsonText(text)


def text_so_far(text: str, whole: bool) -> Json:
    """A text that is a value of its own; where it broke off, its JSON without the end."""
    return text if whole else cast(Json, JsonText(dumps(text)[:-1]))


def is_object(text: str) -> bool:
    """Whether the text is a whole JSON object."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return False
    try:
        return isinstance(loads(stripped, _LIMITS), dict)
    except TurnkeepError:
        return False


def number(value: Json) -> int | None:
    """An index; some gateways send it as a text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def an_error(error: Json) -> JsonObject:
    """What a provider's error says of itself."""
    if not isinstance(error, dict):
        return {"message": str(error)}
    kept = ("type", "code", "status", "message")
    return {key: error[key] for key in kept if isinstance(error.get(key), str | int)}


class Odd:
    """Collects what was odd, each thing once, with how often it happened."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def note(self, detail: str) -> None:
        self._seen[detail] = self._seen.get(detail, 0) + 1

    def notes(self) -> list[Remark]:
        return [
            Remark("STREAM_REASSEMBLED", detail if times == 1 else f"{detail} ({times} times)")
            for detail, times in self._seen.items()
        ]


class Gathered:
    """What everybody who puts streams together has; most wires do not know the word [DONE].

    `unread` are the names of members of events that no one reads.
    """

    def __init__(self) -> None:
        self.begun = False
        self.whole = False
        self.unread: dict[str, None] = {}
        self._odd = Odd()

    def done(self) -> None:
        """The stream said [DONE]."""

    def notes(self) -> list[Remark]:
        notes = self._odd.notes()
        if self.unread:
            names = ", ".join(self.unread)
            detail = f"{names} (in events): kept in the payload, shown in no replay"
            notes.append(Remark("MEMBERS_NOT_READ", detail))
        return notes

    def _left_over(self, members: JsonObject, known: Collection[str]) -> None:
        """Remembers the members that nobody reads; empty ones are no news."""
        for name, value in members.items():
            if name not in known and value not in (None, "", [], {}):
                self._unknown(name)

    def _unknown(self, name: str) -> None:
        if len(self.unread) < _NAMED:
            self.unread[name[:_LONGEST]] = None
