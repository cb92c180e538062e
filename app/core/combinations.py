"""One plain object in the place of combinations, for wires that refuse them at the top.

The plain schema accepts all that the combined one accepts, and shows every property that one of its
branches shows. A property that some branch leaves open stays open, with the other branches' words
for it beside.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from app.core.jsontext import Json, JsonObject, dumps
from app.core.references import resolved
from app.core.schemawalk import COMBINATIONS

# What may be taken from a branch as it stands: it does not depend on what stands beside it, or
# (additionalProperties) asks for less, the more properties stand beside it.
_TAKEN: Final = frozenset(
    {
        "type",
        "title",
        "description",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "dependentSchemas",
    }
)


def with_plain_top(schema: JsonObject) -> JsonObject:
    """The schema without oneOf, anyOf and allOf at its top."""
    return _Plain(schema).of(schema)


def with_top_resolved(schema: JsonObject) -> JsonObject:
    """The schema with what its top refers to in its place, where that says the same."""
    reference = schema.get("$ref")
    beside = {key: member for key, member in schema.items() if key != "$ref"}
    found = resolved(schema, reference) if isinstance(reference, str) else None
    if found is None or "$ref" in found or set(found) & (set(beside) - {"type", "description"}):
        return schema
    if "type" in beside and found.get("type", beside["type"]) != beside["type"]:
        return schema
    return found | beside


class _Plain:
    """Follows each reference once: schemas may refer to themselves, and to others very often."""

    def __init__(self, root: JsonObject) -> None:
        self.root = root
        self.followed: set[str] = set()

    def of(self, schema: Json) -> JsonObject:
        if not isinstance(schema, dict):
            return {}
        parts = [*self.referred(schema), *self.all_of(schema), *self.either(schema)]
        # What a branch had evaluated would count as unevaluated without it.
        gone = (*COMBINATIONS, "$ref", "unevaluatedProperties") if parts else ()
        plain: JsonObject = {key: value for key, value in schema.items() if key not in gone}
        for part in parts:
            plain = _both(plain, part)
        return plain

    def referred(self, schema: JsonObject) -> list[JsonObject]:
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return []
        if reference in self.followed:
            return [{}]
        self.followed.add(reference)
        return [self.of(resolved(self.root, reference))]

    def all_of(self, schema: JsonObject) -> list[JsonObject]:
        return [self.of(branch) for branch in _branches(schema, "allOf")]

    def either(self, schema: JsonObject) -> list[JsonObject]:
        found = [_branches(schema, word) for word in ("anyOf", "oneOf")]
        return [_either([self.of(one) for one in branches]) for branches in found if branches]


def _branches(schema: JsonObject, word: str) -> list[Json]:
    branches = schema.get(word)
    return [one for one in branches if one is not False] if isinstance(branches, list) else []


def _both(one: JsonObject, other: JsonObject) -> JsonObject:
    """Accepts what both accept, and perhaps more."""
    joined = one | {key: other[key] for key in other if key in _TAKEN and key not in one}
    properties = _properties(one) | {
        name: _in_both(_properties(one).get(name), schema)
        for name, schema in _properties(other).items()
    }
    required: list[Json] = [*_required(one), *_required(other)]
    if properties:
        joined["properties"] = properties
    if required:
        joined["required"] = list(dict.fromkeys(map(str, required)))
    return joined


def _in_both(one: Json, other: Json) -> Json:
    if one is None or dumps(one) == dumps(other):
        return other
    return {"allOf": [one, other]}


def _either(branches: Sequence[JsonObject]) -> JsonObject:
    """Accepts what one of them accepts, and perhaps more."""
    joined: JsonObject = {}
    names = dict.fromkeys(name for branch in branches for name in _properties(branch))
    if names:
        joined["properties"] = {name: _property(branches, name) for name in names}
    shared = [
        name for name in _required(branches[0]) if all(name in _required(one) for one in branches)
    ]
    if shared:
        joined["required"] = list(shared)
    if all(_is_closed(branch) for branch in branches):
        joined["additionalProperties"] = False
    kinds = {dumps(branch.get("type")) for branch in branches}
    if len(kinds) == 1 and "type" in branches[0]:
        joined["type"] = branches[0]["type"]
    return joined


def _property(branches: Iterable[JsonObject], name: str) -> Json:
    """What a property may be in one branch or another."""
    found: dict[str, Json] = {}
    for branch in branches:
        if name in _properties(branch):
            schema: Json = _properties(branch)[name]
        elif _is_closed(branch):
            continue
        else:
            rest = branch.get("additionalProperties", True)
            schema = rest if isinstance(rest, dict) and "patternProperties" not in branch else {}
        found[dumps(schema)] = schema
    choices = list(found.values())
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _is_closed(branch: JsonObject) -> bool:
    return branch.get("additionalProperties") is False and "patternProperties" not in branch


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: JsonObject) -> list[str]:
    required = schema.get("required")
    return [one for one in required if isinstance(one, str)] if isinstance(required, list) else []
