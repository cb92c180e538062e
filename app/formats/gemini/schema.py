"""Gemini's own schemas (`parameters`) as JSON Schema.

google-genai's `Schema` is OpenAPI's: types in capitals, `nullable` for null, names in snake_case or
camelCase, 64-bit integers as text. Only schemas are rewritten: defaults, examples and enum values
are data and stay as they are.
"""

from ...model.json_values import Json, JsonObject
from ..shared.reading import names
from .spelling import camel

_SNAKE = names(
    "additional_properties any_of max_items max_length max_properties min_items min_length"
    " min_properties property_ordering"
)
_NAMES = {"defs": "$defs", "ref": "$ref"} | {name: camel(name) for name in _SNAKE}
_COUNTS = frozenset(name for name in _NAMES.values() if name[:3] in ("max", "min"))


def json_schema(schema: JsonObject) -> JsonObject:
    """What the schema accepts, said in JSON Schema."""
    said: JsonObject = {}
    for key, member in schema.items():
        name = _NAMES.get(key, key)
        said[name] = _member(name, member)
    if said.pop("nullable", None) is True:
        return _with_null(said)
    return said


def _member(name: str, member: Json) -> Json:
    match member:
        case str() if name == "type":
            return member.lower() if member.isupper() else member
        case str() if name in _COUNTS and member.isascii() and member.isdigit():
            return int(member[:18])
        case str() if name == "$ref":
            return member.replace("#/defs/", "#/$defs/")
        case dict() if name in ("items", "additionalProperties"):
            return json_schema(member)
        case dict() if name in ("properties", "$defs"):
            return {key: _inner(value) for key, value in member.items()}
        case list() if name in ("anyOf", "oneOf", "allOf"):
            return [_inner(value) for value in member]
        case _:
            return member


def _inner(value: Json) -> Json:
    return json_schema(value) if isinstance(value, dict) else value


def _with_null(schema: JsonObject) -> JsonObject:
    kind, values = schema.get("type"), schema.get("enum")
    if isinstance(kind, str) and "anyOf" not in schema:
        schema = schema | {"type": [kind, "null"]}
        if isinstance(values, list) and None not in values:
            schema |= {"enum": [*values, None]}
        return schema
    return {"anyOf": [schema, {"type": "null"}]}
