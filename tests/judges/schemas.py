"""Tool parameters are JSON Schema, whatever the provider; some ask for more."""

from __future__ import annotations

import json
from functools import lru_cache

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tests.judges.wellformed import value_faults

# Keywords whose members have names that anybody may choose, `properties` among them.
_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def schema_faults(schema: object, where: str, *, must_be_object: bool = False) -> list[str]:
    """Why `schema` is not JSON Schema draft 2020-12 (A15), or not one of an object."""
    if not isinstance(schema, dict):
        return [f"{where}: schema must be an object (A15)"]
    if must_be_object and schema.get("type") != "object":
        return [f"{where}: schema must be of type object (A15)"]
    # What is no JSON at all is said once, for the whole request.
    fault = None if value_faults(schema) else _draft_fault(json.dumps(schema))
    return [f"{where}: not JSON Schema draft 2020-12: {fault} (A15)"] if fault else []


@lru_cache(maxsize=1024)
def _draft_fault(schema: str) -> str | None:
    """Slow, and the same few tools come back in every request."""
    try:
        Draft202012Validator.check_schema(json.loads(schema))
    except SchemaError as error:
        return error.message
    return None


def strict_faults(schema: object, where: str) -> list[str]:
    """C10: a strict tool closes every object and requires every property of it."""
    faults: list[str] = []
    if isinstance(schema, list):
        for at, each in enumerate(schema):
            faults += strict_faults(each, f"{where}[{at}]")
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if schema.get("type") == "object" or isinstance(properties, dict):
            faults += _open_object(
                schema, properties if isinstance(properties, dict) else {}, where
            )
        for key, each in schema.items():
            for place, inner in _schemas_under(key, each, f"{where}.{key}"):
                faults += strict_faults(inner, place)
    return faults


def _schemas_under(key: str, value: object, where: str) -> list[tuple[str, object]]:
    """What may be a schema under a keyword: its value, or the values of a map of names."""
    if key in _BY_NAME and isinstance(value, dict):
        return [(f"{where}.{name}", each) for name, each in value.items()]
    return [(where, value)]


def _open_object(schema: dict[str, object], properties: dict[str, object], where: str) -> list[str]:
    faults, required = list[str](), schema.get("required", [])
    if schema.get("additionalProperties") is not False:
        faults.append(f"{where}: strict needs additionalProperties false (C10)")
    if not isinstance(required, list) or set(properties) - set(map(str, required)):
        faults.append(f"{where}: strict needs every property required (C10)")
    return faults
