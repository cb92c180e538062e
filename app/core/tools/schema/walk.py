"""Where schemas stand inside a schema: one, a list of them, or each under a name."""

from collections.abc import Callable, Iterator
from typing import Final

from app.core.json.text import Json, JsonObject

INNER: Final = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)
COMBINATIONS: Final = ("oneOf", "anyOf", "allOf")
LISTED: Final = (*COMBINATIONS, "prefixItems")
NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
# Where a looser part does not make a looser whole.
_APART: Final = ("not", "if", "then", "else", "oneOf", "contains", "$defs", "definitions")


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
