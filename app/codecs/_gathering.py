"""Putting streams together: pieces of text, JSON that may break off, notes about what was odd."""

from collections.abc import Iterable

from app.core.conversation import Remark
from app.core.errors import TurnkeepError
from app.core.jsontext import Json, JsonObject, Unfinished, dumps, loads
from app.core.limits import Limits

# What arrives as text inside events has not passed the limits of a body.
_LIMITS = Limits()
_MANY = 512


class Pieces:
    """A text that grows. Small pieces are joined now and then: each costs more than it says."""

    __slots__ = ("_joined", "_small")

    def __init__(self, text: str = "") -> None:
        self._joined: list[str] = []
        self._small: list[str] = [text] if text else []

    def add(self, text: Json) -> None:
        if not isinstance(text, str):
            return
        self._small.append(text)
        if len(self._small) >= _MANY:
            self._joined.append("".join(self._small))
            self._small.clear()

    def __bool__(self) -> bool:
        return any(self._joined) or any(self._small)

    def may_be_object(self) -> bool:
        """Whether it ends like a JSON object; asked before the whole text is looked at."""
        last = next((piece for piece in reversed(self._small) if piece.strip()), None)
        if last is None:
            last = self._joined[-1] if self._joined else ""
        return last.rstrip().endswith("}")

    def text(self) -> str:
        """All of it. Halves of a character that came in two events are one again."""
        text = "".join((*self._joined, *self._small))
        self._joined, self._small = [text], []
        if any("\ud800" <= sign <= "\udbff" for sign in _rare(text)):
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return text


def _rare(text: str) -> Iterable[str]:
    """The characters of a text that could hold surrogates; of any other, none."""
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text
    return ""


def value_of(text: str) -> Json:
    """The value of a JSON text; the text itself, marked, where it broke off."""
    try:
        return loads(text, _LIMITS)
    except TurnkeepError:
        return Unfinished(text)


def text_so_far(text: str, whole: bool) -> str:
    """A text that is a value of its own; where it broke off, its JSON without the end."""
    return text if whole else Unfinished(dumps(text)[:-1])


def is_object(text: str) -> bool:
    """Whether the text is a whole JSON object."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return False
    return isinstance(value_of(stripped), dict)


def number(value: Json) -> int | None:
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
