"""Drops from a posted value what the provider's own input type does not accept.

Responses have members that requests must not have, and SDK dumps write null for members that were
not given. A posted message that goes back to its provider must have neither, so `accepted` removes
both, at any depth. Nothing else changes: lists keep their length, JSON of others (arguments,
schemas) is never looked into, and an object of a kind that the type does not know passes whole.

The types are data, generated from the providers' SDKs (`app/codecs/inputs`).
"""

from collections.abc import Mapping
from operator import is_not
from typing import TypedDict

from app.core.json.values import Json, JsonObject

_TAGS = ("type", "role")


class ShapeData(TypedDict, total=False):
    """The values that one member accepts. Empty: a scalar that is not null.

    any      any JSON value, which is never looked into
    null     null is accepted
    literal  the only strings accepted
    items    what the elements of a list are
    values   what the values of an object with free names are
    kinds    names of the object types that are accepted
    """

    any: bool
    null: bool
    literal: list[str]
    items: "ShapeData"
    values: "ShapeData"
    kinds: list[str]


class KindData(TypedDict, total=False):
    """An object type: its members, those that are required, and those of which one is required."""

    members: dict[str, ShapeData]
    required: list[str]
    one_of: list[str]


class InputData(TypedDict):
    """The input types of a provider: the shapes to begin at, and the object types by name."""

    roots: dict[str, ShapeData]
    kinds: dict[str, KindData]


class InputTypes:
    """The same, compiled: names are looked up once."""

    def __init__(self, data: InputData) -> None:
        kinds = {name: _Kind(kind) for name, kind in data["kinds"].items()}
        for name, kind in data["kinds"].items():
            members = kind.get("members", {}).items()
            kinds[name].members = {member: _Shape(shape, kinds) for member, shape in members}
        self.roots = {name: _Shape(shape, kinds) for name, shape in data["roots"].items()}


def accepted(types: InputTypes, root: str, value: Json) -> Json:
    """`value` without what the input type does not accept; the same object if that is nothing."""
    return _accepted(types.roots[root], value)


class _Kind:
    __slots__ = ("members", "one_of", "required", "tags")
    members: "dict[str, _Shape]"

    def __init__(self, data: KindData) -> None:
        members = data.get("members", {})
        self.members = {}
        self.required = frozenset(data.get("required", ()))
        self.one_of = frozenset(data.get("one_of", ()))
        self.tags = {
            tag: frozenset(members[tag]["literal"])
            for tag in _TAGS
            if tag in members and "literal" in members[tag]
        }

    def could_be(self, value: JsonObject) -> bool:
        """True if the tags of the object are those of the kind."""
        for tag, words in self.tags.items():
            word = value.get(tag)
            if word is None:
                if tag in self.required:
                    return False
            elif not isinstance(word, str) or word not in words:
                return False
        return not self.one_of or not self.one_of.isdisjoint(value)

    def stands_out(self, value: JsonObject) -> bool:
        """True if tags or required members tell the object from those of other kinds."""
        return bool(self.tags) or self.required <= value.keys()

    def likeness(self, value: JsonObject) -> tuple[bool, int]:
        return self.required <= value.keys(), len(value.keys() & self.members.keys())


class _Shape:
    __slots__ = ("by_type", "is_any", "is_leaf", "is_union", "items", "null", "others", "values")

    def __init__(self, data: ShapeData, kinds: Mapping[str, _Kind]) -> None:
        self.is_any, self.null = data.get("any", False), data.get("null", False)
        self.items = _Shape(data["items"], kinds) if "items" in data else None
        self.values = _Shape(data["values"], kinds) if "values" in data else None
        self.is_leaf = self.is_any or not data.keys() & {"items", "values", "kinds"}
        self.by_type: dict[str, list[_Kind]] = {}
        self.others: list[_Kind] = []
        names = data.get("kinds", ())
        self.is_union = len(names) > 1
        for kind in (kinds[name] for name in names):
            for word in kind.tags.get("type", ()):
                self.by_type.setdefault(word, []).append(kind)
            if "type" not in kind.tags or "type" not in kind.required:
                self.others.append(kind)

    def kind_of(self, value: JsonObject) -> _Kind | None:
        """The kind that is meant; of several, the one that covers most of the object."""
        tag = value.get("type")
        meant = self.by_type.get(tag) if isinstance(tag, str) else None
        fitting = [
            kind
            for kind in meant or self.others
            if kind.could_be(value) and (not self.is_union or kind.stands_out(value))
        ]
        if len(fitting) < 2:
            return fitting[0] if fitting else None
        return max(fitting, key=lambda kind: kind.likeness(value))


def _accepted(shape: _Shape, value: Json) -> Json:
    if shape.is_leaf:
        return value
    if isinstance(value, dict):
        kind = shape.kind_of(value)
        if kind is not None:
            return _members(kind.members, value)
        values = shape.values
        return value if values is None else _members(dict.fromkeys(value, values), value)
    if isinstance(value, list) and shape.items is not None:
        return _elements(shape.items, value)
    return value


def _members(members: "Mapping[str, _Shape]", value: JsonObject) -> JsonObject:
    reduced = value
    for name, each in value.items():
        shape = members.get(name)
        if shape is None or (each is None and not shape.null and not shape.is_any):
            reduced = dict(value) if reduced is value else reduced
            del reduced[name]
        elif not shape.is_leaf and (inner := _accepted(shape, each)) is not each:
            reduced = dict(value) if reduced is value else reduced
            reduced[name] = inner
    return reduced


def _elements(shape: _Shape, values: list[Json]) -> list[Json]:
    reduced = [_accepted(shape, each) for each in values]
    return reduced if any(map(is_not, reduced, values)) else values
