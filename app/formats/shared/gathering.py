"""Putting streams together: pieces of text, and JSON that may break off."""

from typing import cast

from ...jsontext.reading import loads
from ...jsontext.unicode import is_broken
from ...jsontext.writing import dumps
from ...model.errors import TurnkeepError
from ...model.json_values import Json, JsonObject, JsonText
from ...model.large import PIECE

_MANY = 64


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
        if is_broken(self._text):
            halves = self._text.encode("utf-16-le", "surrogatepass")
            self._text = halves.decode("utf-16-le", "surrogatepass")
        return self._text

    def _join(self) -> None:
        # A text that nothing else refers to grows in its place: a long one never stands here twice.
        text, self._text = self._text, ""
        text += "".join(self._small)
        self._text = text
        self._small.clear()


def value_of(text: str) -> "Json | JsonText":
    """The value of a JSON text; the text itself, where it broke off or is very long."""
    if len(text) > PIECE:
        return JsonText(text)
    try:
        # What arrives as text inside events has not passed the limits of a body.
        return loads(text)
    except TurnkeepError:
        return JsonText(text)


def text_so_far(text: str, whole: bool) -> Json:
    """A text that is a value of its own; where it broke off, its JSON without the end."""
    return text if whole else cast(Json, JsonText(dumps(text)[:-1]))


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
