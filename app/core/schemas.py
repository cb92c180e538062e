"""JSON Schema between wires: what is rewritten never refuses an input that was accepted before.

`required` is filtered as agents' definitions need it (many mark everything as required), formats a
target does not know are taken out, combinations it refuses at the top are loosened. Each change is
reported by a note; properties are never lost.
"""

from collections.abc import Callable, Iterator
from typing import Final

from app.core.jsontext import Json, JsonObject
from app.core.tools import Note

# The formats that OpenAI documents for function schemas.
OPENAI_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
OPTIONAL_WORDS: Final = (
    "optional",
    "defaults to",
    "if not specified",
    "set to true to",
    "set to false to",
    "if provided",
    "when provided",
    "can be omitted",
    "not required",
    "only provide if",
)
_INNER: Final = (
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
)
_COMBINATIONS: Final = ("oneOf", "anyOf", "allOf")
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
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

    if key in _NAMED and isinstance(member, dict):
        return {name: inner(value) for name, value in member.items()}
    if key in _INNER:
        return inner(member)
    if key in (*_COMBINATIONS, "prefixItems") and isinstance(member, list):
        return [inner(value) for value in member]
    return member


def with_filtered_required(schema: JsonObject) -> JsonObject:
    """`required` without what is optional in truth, at every depth, in the order it had."""
    return mapped(schema, _filter_required, loosens=True)


def _filter_required(schema: JsonObject) -> JsonObject:
    required = schema.get("required")
    properties = schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return schema
    kept: list[Json] = [
        name
        for name in required
        if not isinstance(name, str) or not is_optional(properties.get(name))
    ]
    return schema | {"required": kept}


def is_optional(schema: Json) -> bool:
    """Whether a property that is marked as required is a flag, has a default, or says so."""
    if not isinstance(schema, dict):
        return False
    if "default" in schema or schema.get("nullable") is True or schema.get("type") == "boolean":
        return True
    description = schema.get("description")
    said = description.lower() if isinstance(description, str) else ""
    return any(words in said for words in OPTIONAL_WORDS)


def without_formats(schema: JsonObject, known: frozenset[str]) -> JsonObject:
    """The schema without formats that a target does not know."""

    def change(inner: JsonObject) -> JsonObject:
        unknown = isinstance(inner.get("format"), str) and inner["format"] not in known
        return {key: value for key, value in inner.items() if key != "format"} if unknown else inner

    return mapped(schema, change)


def as_object(schema: JsonObject) -> JsonObject:
    """The schema with `type: object` at its top, which every tool's input is anyway."""
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}


def without_top_combinations(schema: JsonObject) -> JsonObject:
    """The schema without oneOf, anyOf and allOf at its top: it then accepts more than before."""
    # What a branch had evaluated would count as unevaluated without it.
    gone = (*_COMBINATIONS, "unevaluatedProperties") if _has_combinations(schema) else ()
    return {key: value for key, value in schema.items() if key not in gone}


def _has_combinations(schema: JsonObject) -> bool:
    return any(key in schema for key in _COMBINATIONS)


def is_strict(schema: Json) -> bool:
    """OpenAI's rules for strict tools: every object is closed and all its properties required."""
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        names = list(properties) if isinstance(properties, dict) else []
        required = schema.get("required", [])
        if schema.get("additionalProperties") is not False or not isinstance(required, list):
            return False
        if set(names) != {name for name in required if isinstance(name, str)}:
            return False
    return all(is_strict(inner) for inner in _schemas_inside(schema))


def _schemas_inside(schema: JsonObject) -> Iterator[Json]:
    for key in ("properties", "$defs", "definitions"):
        if isinstance(members := schema.get(key), dict):
            yield from members.values()
    if isinstance(items := schema.get("items"), dict):
        yield items
    for key in (*_COMBINATIONS, "prefixItems"):
        if isinstance(members := schema.get(key), list):
            yield from members


def note_if_changed(
    before: JsonObject, after: JsonObject, code: str, detail: str, name: str, notes: list[Note]
) -> JsonObject:
    if after != before:
        notes.append(Note(code, detail, name))
    return after
