"""OpenRouter's `reasoning_details`: what they say, and how the pieces of a stream become them."""

from ...jsontext.fields import objects, text_in
from ...model.json_values import Json, JsonObject
from ..shared.gathering import Pieces, number

# @openrouter/sdk: ReasoningDetailText, ReasoningDetailSummary, ReasoningDetailEncrypted.
_GROWING = ("text", "summary", "data")


def words(details: Json) -> str:
    """What can be read of them; encrypted ones have no words."""
    said = (text_in(one, name) for one in objects(details) for name in ("text", "summary"))
    return "".join(text for text in said if text)


class _Detail:
    def __init__(self) -> None:
        self.members: JsonObject = {}
        self.growing: dict[str, Pieces] = {}

    def grow(self, piece: JsonObject) -> None:
        for name, value in piece.items():
            if name in _GROWING and isinstance(value, str):
                self.members.setdefault(name, None)
                self.growing.setdefault(name, Pieces()).add(value)
            elif value is not None or name not in self.members:
                # A signature comes with the last piece; the others say null.
                self.members[name] = value

    def json(self) -> JsonObject:
        return self.members | {name: pieces.text() for name, pieces in self.growing.items()}


class DetailsGathering:
    """Pieces of one detail have its type and index; those without an index go on with the last."""

    def __init__(self) -> None:
        self._details: list[_Detail] = []
        self._by_place: dict[tuple[str, int], _Detail] = {}

    def take(self, piece: JsonObject) -> None:
        kind, index = str(piece.get("type")), number(piece.get("index"))
        last = self._details[-1] if self._details else None
        if index is not None:
            found = self._by_place.get((kind, index))
        else:
            found = last if last is not None and last.members.get("type") == kind else None
        if found is None:
            found = _Detail()
            self._details.append(found)
        if index is not None:
            self._by_place[kind, index] = found
        found.grow(piece)

    def json(self) -> list[Json]:
        return [detail.json() for detail in self._details]
