"""Where schemas stand inside a schema: one, a list of them, each under a name, or by reference.

No reference is ever fetched: what leads out of the schema stays open.
"""

from collections.abc import Callable, Iterator
from typing import Final

from ...model.json_values import Json, JsonObject

CONDITIONS: Final = ("not", "if", "then", "else")
_OF_LISTS: Final = ("items", "contains", "unevaluatedItems")
_OF_OBJECTS: Final = ("additionalProperties", "propertyNames", "unevaluatedProperties")
INNER: Final = (*CONDITIONS, *_OF_LISTS, *_OF_OBJECTS, "contentSchema")
COMBINATIONS: Final = ("oneOf", "anyOf", "allOf")
LISTED: Final = (*COMBINATIONS, "prefixItems")
NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
# Where a looser part does not make a looser whole.
_APART: Final = (*CONDITIONS, "oneOf", "contains", "$defs", "definitions")


def mapped(
    schema: JsonObject, change: Callable[[JsonObject], JsonObject], *, loosens: bool = False
) -> JsonObject:
    """The schema with a change made to it and to every schema inside it.

    A change that `loosens` is made only where a looser part makes a looser whole: not under `not`,
    `if` or `oneOf`, and not in definitions that may be used there.
    """
    apart = _APART if loosens else ()
    return change(
        {
            key: member if key in apart else _inside(key, member, change, loosens=loosens)
            for key, member in schema.items()
        }
    )


def _inside(
    key: str, member: Json, change: Callable[[JsonObject], JsonObject], *, loosens: bool
) -> Json:
    def inner(value: Json) -> Json:
        return mapped(value, change, loosens=loosens) if isinstance(value, dict) else value

    if key in NAMED and isinstance(member, dict):
        return {name: inner(value) for name, value in member.items()}
    if key in INNER:
        return inner(member)
    if key in LISTED and isinstance(member, list):
        return [inner(value) for value in member]
    return member


def size(value: Json) -> int:
    """How many values a schema holds, itself included."""
    count = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        count += 1
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return count


def inner_schemas(schema: JsonObject) -> Iterator[JsonObject]:
    """The schema, and every schema inside it."""
    waiting: list[Json] = [schema]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, dict):
            continue
        yield one
        for key, member in one.items():
            if key in INNER:
                waiting.append(member)
            elif key in NAMED and isinstance(member, dict):
                waiting.extend(member.values())
            elif key in LISTED and isinstance(member, list):
                waiting.extend(member)


def resolved(root: JsonObject, reference: str) -> JsonObject | None:
    """What a pointer into the same schema leads to."""
    if not reference.startswith("#/"):
        return None
    found: Json = root
    for step in reference.removeprefix("#/").split("/"):
        if not isinstance(found, dict):
            return None
        found = found.get(step.replace("~1", "/").replace("~0", "~"))
    # A schema with an address of its own has references of its own.
    return found if isinstance(found, dict) and "$id" not in found else None


def open_references(schema: JsonObject) -> list[str]:
    """References that lead nowhere in the schema itself, each once."""
    parts = list(inner_schemas(schema))
    said = (one.get(key) for one in parts for key in ("$ref", "$dynamicRef"))
    found = dict.fromkeys(reference for reference in said if isinstance(reference, str))
    if not found or any("$id" in one for one in parts):
        return []
    anchors = {one.get("$anchor", one.get("$dynamicAnchor")) for one in parts}
    return [
        reference
        for reference in found
        if reference != "#"
        and resolved(schema, reference) is None
        and reference.removeprefix("#") not in anchors
    ]
