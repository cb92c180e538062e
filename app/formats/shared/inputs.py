"""Drops from a posted value what the provider's own input type does not accept.

Responses have members that requests must not have, and SDK dumps write null for members that were
not given. A posted message that goes back to its provider must have neither, so `accepted` removes
both, at any depth. An object that lacks a required member is refused as a whole, and so is what
cannot do without it. Nothing else changes: lists keep their length, JSON of others (arguments,
schemas) is never looked into, and an object of a kind that the type does not know passes whole,
unless the types are closed.

The types are data, generated from the providers' SDKs (`app/formats/inputs`).
"""

import re
from collections.abc import Collection, Mapping
from operator import is_not
from typing import NotRequired, TypedDict, cast

from ...model.json_values import Json, JsonObject

_TAGS = ("type", "role")


class ShapeData(TypedDict, total=False):
    """The values that one member accepts. An empty shape accepts any string.

    any      any JSON value, which is never looked into
    free     any JSON value but null
    null     null is accepted
    literal  the only scalars accepted
    open     other strings are accepted too: a newer release of the SDK may have them
    items    what the elements of a list are
    filled   a list must not be empty
    pattern  what a string must match as a whole
    values   what the values of an object with free names are
    scalars  the JSON types of the scalars accepted: string, boolean, number
    kinds    names of the object types that are accepted
    """

    any: bool
    free: bool
    null: bool
    literal: list[str | int | bool]
    open: bool
    items: "ShapeData"
    filled: bool
    pattern: str
    values: "ShapeData"
    scalars: list[str]
    kinds: list[str]


class KindData(TypedDict, total=False):
    """An object type: its members, those that are required, and those of which one is required.

    `aliases`: other names of members, with the name that the SDK gives them.
    """

    aliases: dict[str, str]
    members: dict[str, ShapeData]
    required: list[str]
    one_of: list[str]


class InputData(TypedDict):
    """The input types of a provider: the shapes to begin at, and the object types by name.

    `closed`: an object of a kind that is not here is refused.
    """

    closed: NotRequired[bool]
    roots: dict[str, ShapeData]
    kinds: dict[str, KindData]


class InputTypes:
    """The input types of a provider, compiled so that names are looked up once."""

    def __init__(self, data: InputData) -> None:
        kinds = {name: _Kind(kind) for name, kind in data["kinds"].items()}
        # The types and members of all kinds, to know unknown ones by; None where these are refused.
        types = {str(word) for kind in kinds.values() for word in kind.tags.get("type", ())}
        members = {name for kind in data["kinds"].values() for name in kind.get("members", {})}
        names = None if data.get("closed", False) else frozenset(types | members)
        for name, kind in data["kinds"].items():
            shapes = kind.get("members", {}).items()
            kinds[name].members = {member: _Shape(shape, kinds, names) for member, shape in shapes}
        self.roots = {name: _Shape(shape, kinds, names) for name, shape in data["roots"].items()}


def accepted(types: InputTypes, root: str, value: Json) -> Json:
    """`value` without what the input type does not accept; the same object if that is nothing.

    None if it is not accepted at all. In the lists of a message, an element that is not accepted
    becomes null, so that the others keep their places.
    """
    shape = types.roots[root]
    if not isinstance(value, dict):
        if isinstance(value, list) and shape.items is not None:
            return _elements(shape.items, value)
        return value
    found = _message(shape, value) if shape.values is None else _accepted(shape, value)
    return None if isinstance(found, _Refused) else found


def accepted_whole(types: InputTypes, root: str, value: Json) -> Json:
    """The same, but None if an element of a list is not accepted."""
    found = _accepted(types.roots[root], value)
    return None if isinstance(found, _Refused) else found


class _Refused:
    """Stands for a value that the input type does not accept."""


REFUSED = _Refused()


def _json_type(scalar: Json) -> str:
    match scalar:
        case bool():
            return "boolean"
        case str():
            return "string"
        case _:
            return "number"


class _Kind:
    __slots__ = ("aliases", "members", "one_of", "required", "tags")
    members: "dict[str, _Shape]"

    def __init__(self, data: KindData) -> None:
        members = data.get("members", {})
        self.members = {}
        self.required = frozenset(data.get("required", ()))
        self.one_of = frozenset(data.get("one_of", ()))
        self.aliases = data.get("aliases", {})
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
    __slots__ = (
        *("aliases", "by_type", "filled", "is_any", "is_leaf", "is_union", "items", "literal"),
        *("names", "null", "others", "pattern", "scalars", "values"),
    )

    def __init__(
        self, data: ShapeData, kinds: Mapping[str, _Kind], names: frozenset[str] | None
    ) -> None:
        self.names = names
        self.is_any = data.get("any", False) or data.get("free", False)
        self.null = data.get("any", False) or data.get("null", False)
        self.literal = frozenset(data["literal"]) if "literal" in data else None
        self.pattern = re.compile(data["pattern"]) if "pattern" in data else None
        self.filled = data.get("filled", False)
        self.items = _Shape(data["items"], kinds, names) if "items" in data else None
        self.values = _Shape(data["values"], kinds, names) if "values" in data else None
        self.is_leaf = self.is_any or not data.keys() & {"items", "values", "kinds"}
        default = ("string",) if self.is_leaf and data.get("open", not self.literal) else ()
        self.scalars = frozenset(data.get("scalars", default))
        self.aliases: dict[str, str] = {}
        self.by_type: dict[str, list[_Kind]] = {}
        self.others: list[_Kind] = []
        own = [kinds[name] for name in data.get("kinds", ())]
        self.is_union = len(own) > 1
        for kind in own:
            self.aliases |= kind.aliases
            for word in map(str, kind.tags.get("type", ())):
                self.by_type.setdefault(word, []).append(kind)
            if "type" not in kind.tags or "type" not in kind.required:
                self.others.append(kind)

    def takes_scalar(self, value: Json) -> bool:
        if self.is_any:
            return True
        if isinstance(value, dict | list):
            return False
        if self.literal is not None and value in self.literal:
            return True
        if isinstance(value, str) and not self.takes_text(value):
            return False
        return _json_type(value) in self.scalars

    def takes_text(self, text: str) -> bool:
        return self.pattern is None or bool(self.pattern.fullmatch(text))

    def is_unknown(self, value: JsonObject) -> bool:
        """True if the object may be of a kind that came after this release of the SDK."""
        if self.names is None:
            return False
        tag = value.get("type")
        if isinstance(tag, str):
            return bool(self.by_type) and tag not in self.names
        return bool(self.others) and not self.by_type and not self.names >= value.keys()

    def named(self, value: JsonObject) -> JsonObject:
        """The object with its members under the names that the SDK gives them."""
        if self.aliases.keys().isdisjoint(value):
            return value
        return {self.aliases.get(name, name): each for name, each in value.items()}

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


def _accepted(shape: _Shape, value: Json) -> "Json | _Refused":
    if value is None:
        return None if shape.null else REFUSED
    if shape.is_leaf:
        return value if shape.takes_scalar(value) else REFUSED
    if isinstance(value, dict):
        value = shape.named(value)
        kind = shape.kind_of(value)
        if kind is not None:
            return _members(kind.members, value, kind.required, kind.one_of)
        values = shape.values
        if values is not None:
            return _members(dict.fromkeys(value, values), value)
        return value if shape.is_unknown(value) else REFUSED
    if isinstance(value, list):
        if shape.items is None or (shape.filled and not value):
            return REFUSED
        elements = [_accepted(shape.items, each) for each in value]
        if any(each is REFUSED for each in elements):
            return REFUSED
        return cast(list[Json], elements) if any(map(is_not, elements, value)) else value
    return value if shape.takes_scalar(value) else REFUSED


def _members(
    members: "Mapping[str, _Shape]",
    value: JsonObject,
    required: Collection[str] = (),
    one_of: Collection[str] = (),
) -> "JsonObject | _Refused":
    reduced = value
    for name, each in value.items():
        shape = members.get(name)
        inner = REFUSED if shape is None else _accepted(shape, each)
        if inner is each:
            continue
        reduced = dict(value) if reduced is value else reduced
        if isinstance(inner, _Refused):
            del reduced[name]
        else:
            reduced[name] = inner
    if one_of and reduced.keys().isdisjoint(one_of):
        return REFUSED
    return reduced if all(name in reduced for name in required) else REFUSED


def _message(shape: _Shape, value: JsonObject) -> "JsonObject | _Refused":
    """The same for the whole message; refused elements of its lists become null."""
    kind = shape.kind_of(value)
    if kind is None:
        return value if shape.is_unknown(value) else REFUSED
    lists = {
        name: _elements(shape.items, each)
        for name, shape in kind.members.items()
        if shape.items is not None and isinstance(each := value.get(name), list) and each
    }
    others = {name: each for name, each in value.items() if name not in lists}
    found = _members(kind.members, others, kind.required - lists.keys())
    if isinstance(found, _Refused):
        return REFUSED
    if found is others and all(lists[name] is value[name] for name in lists):
        return value
    kept = {**found, **lists}
    return {name: kept[name] for name in value if name in kept}


def _elements(shape: _Shape, values: list[Json]) -> Json:
    found = [_accepted(shape, each) for each in values]
    if not any(map(is_not, found, values)):
        return values
    return [None if isinstance(each, _Refused) else each for each in found]
