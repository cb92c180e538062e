"""One plain object in the place of combinations, for wires that refuse them at the top.

The plain schema accepts all that the combined one accepts, and shows every property that one of its
branches shows. A property that some branch leaves open stays open, with the other branches' words
for it beside.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ..formats.shared.walk import COMBINATIONS, resolved
from ..jsontext.writing import dumps
from ..model.json_values import Json, JsonObject

# What may be taken from a branch as it stands: it does not depend on what stands beside it, or
# (additionalProperties) asks for less, the more properties stand beside it.
_TAKEN: Final = frozenset(
    {"type", "title", "description", "additionalProperties", "patternProperties", "propertyNames"}
    | {"minProperties", "maxProperties", "dependentRequired", "dependentSchemas"}
)
_FEW: Final = 4
_SHORT: Final = 200
# References that lead to references; what stands behind the last one is not looked at.
_DEEPEST: Final = 64


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
        self.depth = 0

    def of(self, schema: Json) -> JsonObject:
        if not isinstance(schema, dict):
            return {}
        parts = [
            *self.referred(schema),
            *(self.of(branch) for branch in _branches(schema, "allOf")),
            *(
                _either([self.of(one) for one in branches])
                for word in ("anyOf", "oneOf")
                if (branches := _branches(schema, word))
            ),
        ]
        # What a branch had evaluated would count as unevaluated without it.
        gone = (*COMBINATIONS, "$ref", "unevaluatedProperties") if parts else ()
        plain: JsonObject = {key: value for key, value in schema.items() if key not in gone}
        return _all(plain, parts) if parts else plain

    def referred(self, schema: JsonObject) -> list[JsonObject]:
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return []
        if reference in self.followed or self.depth >= _DEEPEST:
            return [{}]
        self.followed.add(reference)
        self.depth += 1
        found = self.of(resolved(self.root, reference))
        self.depth -= 1
        return [found]


def _branches(schema: JsonObject, word: str) -> list[Json]:
    branches = schema.get(word)
    return [one for one in branches if one is not False] if isinstance(branches, list) else []


def _all(first: JsonObject, others: Sequence[JsonObject]) -> JsonObject:
    """Accepts what all of them accept, and perhaps more; the first stays as it is."""
    joined = dict(first)
    for other in others:
        joined |= {key: other[key] for key in other if key in _TAKEN and key not in joined}
    found: dict[str, dict[str, Json]] = {}
    for one in (first, *others):
        for name, schema in _properties(one).items():
            found.setdefault(name, {})[dumps(schema)] = schema
    if found:
        joined["properties"] = {name: _one_or("allOf", each) for name, each in found.items()}
    required = dict.fromkeys(name for one in (first, *others) for name in _required(one))
    if required:
        joined["required"] = list(required)
    return joined


def _either(branches: Sequence[JsonObject]) -> JsonObject:
    """Accepts what one of them accepts, and perhaps more."""
    joined: JsonObject = {}
    rests = _rests(branches)
    properties = _alternatives(branches, rests)
    if properties:
        joined["properties"] = properties
    shared = set.intersection(*(set(_required(branch)) for branch in branches))
    if shared:
        joined["required"] = [name for name in _required(branches[0]) if name in shared]
    if all(rest is False for rest in rests):
        joined["additionalProperties"] = False
    kinds = {dumps(branch.get("type")) for branch in branches}
    if len(kinds) == 1 and "type" in branches[0]:
        joined["type"] = branches[0]["type"]
    return joined


def _alternatives(branches: Sequence[JsonObject], rests: Sequence[Json]) -> JsonObject:
    """Each property as it may be in one branch or another."""
    texts = [dumps(rest) for rest in rests]
    others = Counter(texts)
    found: dict[str, dict[str, Json]] = {}
    named: dict[str, Counter[str]] = {}
    for branch, text in zip(branches, texts, strict=True):
        for name, schema in _properties(branch).items():
            found.setdefault(name, {})[dumps(schema)] = schema
            named.setdefault(name, Counter())[text] += 1
    schemas = dict(zip(texts, rests, strict=True))
    for name, each in found.items():
        # What the branches say that do not name it.
        left = [text for text in others if others[text] > named[name][text]]
        each |= {text: schemas[text] for text in left if schemas[text] is not False}
    return {name: _one_or("anyOf", each) for name, each in found.items()}


def _rests(branches: Sequence[JsonObject]) -> list[Json]:
    """What each branch says of properties that it does not name: false, or a schema."""
    rests: list[Json] = []
    for branch in branches:
        rest = branch.get("additionalProperties", {})
        is_open = "patternProperties" in branch or rest is True
        rests.append({} if is_open or not isinstance(rest, dict | bool) else rest)
    texts = {dumps(rest) for rest in rests}
    # They would be repeated for every property; few and short ones are worth that.
    if len(texts) > _FEW or any(len(text) > _SHORT for text in texts):
        return [rest if rest is False else {} for rest in rests]
    return rests


def _one_or(word: str, schemas: dict[str, Json]) -> Json:
    several = list(schemas.values())
    return several[0] if len(several) == 1 else {word: several}


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: JsonObject) -> list[str]:
    required = schema.get("required")
    return [one for one in required if isinstance(one, str)] if isinstance(required, list) else []
