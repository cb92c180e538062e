"""A JSON object while it is read: each complaint says where, and what nobody read is known.

Codecs ask for members by name. Whatever carries content and was never asked for would vanish
without a word, so `unread` gives it for the notes of the receipt.
"""

from collections.abc import Iterator, Sequence

from ..model.errors import RuleBroken
from ..model.json_values import Json, JsonObject
from ..model.telling import kind, missing, one_of, wrong_type

# No complaint repeats more of a name.
_LONGEST = 100


class Fields:
    """The members of one object and the pointer to it. `value` must be an object."""

    __slots__ = ("_inner", "_read", "at", "members")

    def __init__(self, value: Json, at: str) -> None:
        if not isinstance(value, dict):
            raise RuleBroken(f"An object must stand here, not {kind(value)}.", pointer=at)
        self.members: JsonObject = value
        self.at = at
        self._read: set[str] = set()
        self._inner: list[Fields] = []

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def get(self, name: str, *others: str) -> Json:
        """The value under the first of these names that says something, with all that it holds."""
        self._read.add(name)
        found = self.members.get(name)
        for other in others:
            self._read.add(other)
            if found is None:
                found = self.members.get(other)
        return found

    def text(self, name: str) -> str:
        self._read.add(name)
        value = self.members.get(name)
        if isinstance(value, str):
            return value
        raise self._wrong(name, "a string", value)

    def text_if(self, name: str) -> str | None:
        """The text under a name; what is no text is not read."""
        value = self.members.get(name)
        if not isinstance(value, str):
            return None
        self._read.add(name)
        return value

    def maybe_text(self, name: str, *others: str) -> str | None:
        value = self.get(name, *others)
        if value is None or isinstance(value, str):
            return value
        raise self._wrong(self.spelled(name, *others), "a string", value)

    def word(self, name: str, allowed: Sequence[str]) -> str:
        """The text under a name, which must be one of these words."""
        value = self.text(name)
        if value not in allowed:
            raise self.broken(name, one_of(name, value, allowed))
        return value

    def items(self, name: str) -> list[Json]:
        """The list under a name; nothing and null count as the empty list."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._wrong(name, "a list", value)
        return value

    def inner(self, name: str, *others: str) -> "Fields":
        """The object under a name, whose members are read one by one."""
        value = self.get(name, *others)
        name = self.spelled(name, *others)
        if not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        return self.below(value, name)

    def each(self, name: str) -> Iterator["Fields"]:
        """The objects of the list under a name."""
        values = enumerate(self.items(name))
        return (self.below(value, f"{name}/{place}") for place, value in values)

    def below(self, value: Json, place: str) -> "Fields":
        """An object somewhere below this one."""
        inner = Fields(value, f"{self.at}/{place}")
        self._inner.append(inner)
        return inner

    def whole(self) -> JsonObject:
        """All members: the object is kept as it is."""
        self._read.update(self.members)
        self._inner.clear()
        return self.members

    def passed_over(self, *names: str) -> None:
        """Names that may stand here and carry no content: marks, settings, ids of items."""
        self._read.update(names)

    def told_if_full(self, *names: str) -> None:
        """Names of the wire that are not read: empty ones are no news."""
        for name in names:
            if not self.members.get(name):
                self._read.add(name)

    def spelled(self, *names: str) -> str:
        """Which of these names the object uses."""
        for name in names:
            if name in self.members:
                return name
        return names[0]

    def own_unread(self) -> list[str]:
        """The members of this object, not of those below it, that were given and never read.

        Null is what an SDK's dump writes for a member that was not given.
        """
        given = self.members.items()
        return [name for name, value in given if value is not None and name not in self._read]

    def unread(self) -> Iterator[str]:
        """Pointers to all members, at any depth, that were given and never read."""
        for name in self.own_unread():
            yield f"{self.at}/{escaped(name)}"
        for inner in self._inner:
            yield from inner.unread()

    def broken(self, place: str, told: str) -> RuleBroken:
        """What is wrong somewhere below this object."""
        return RuleBroken(told, pointer=f"{self.at}/{place}")

    def _wrong(self, name: str, wanted: str, value: Json) -> RuleBroken:
        told = missing(name, wanted) if value is None else wrong_type(name, wanted, value)
        return self.broken(name, told)


def objects(value: Json) -> Iterator[JsonObject]:
    """The objects of a list; none where it is no list."""
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def text_in(members: JsonObject, name: str) -> str | None:
    """The text under a name; None where there is none."""
    return value if isinstance(value := members.get(name), str) else None


def filled(**members: Json) -> JsonObject:
    """An object without the members that say nothing."""
    return {name: value for name, value in members.items() if value is not None}


def escaped(name: str) -> str:
    """A name as a step of a JSON pointer (RFC 6901); of a very long one its beginning."""
    return name[:_LONGEST].replace("~", "~0").replace("/", "~1")
