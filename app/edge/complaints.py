"""What pydantic complains about, in our words and without more of the value than a short word."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..model import telling
from ..model.errors import RuleBroken

Schemas = Mapping[str, Mapping[str, Any]]
_ENDLESS = 2**53
_TOO_LARGE = ("less_than_equal", "int_parsing_size")
_TYPES = {
    "string_type": "a string",
    "dict_type": "an object",
    "list_type": "a list",
    "bool_type": "true or false",
}


def rule_broken(found: Mapping[str, Any], schemas: Schemas, *, query: bool) -> RuleBroken:
    """The error for one complaint. `schemas`: the known members or parameters."""
    name = ".".join(str(step) for step in found["loc"] if step not in ("query", "body"))
    where = telling.parameter(name) if query else telling.pointer(*name.split("."))
    if found["type"] == "extra_forbidden":
        return RuleBroken(telling.unknown(name, schemas), pointer=where)
    return RuleBroken(_told(name, found, schemas.get(name, {})), pointer=where)


def _told(name: str, found: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    given = found.get("input")
    match str(found["type"]):
        case "missing":
            return _missing(name, schema)
        case "literal_error" | "enum":
            alone = [str(word) for word in _said(schema, "const")]
            return telling.one_of(name, given, _words(schema, "enum") or alone)
        case "bool_parsing":
            return f"`{name}` must be true or false, not {telling.quoted(given)}."
        case "string_too_short":
            return f"`{name}` must not be empty."
        case kind if kind.startswith("int_") or kind in ("greater_than_equal", "less_than_equal"):
            lowest = next(_said(schema, "minimum"), 0)
            highest = next(_said(schema, "maximum"), None)
            # A bound that nobody reaches would only puzzle whoever has not reached it.
            is_told = highest is not None and (highest < _ENDLESS or kind in _TOO_LARGE)
            return telling.out_of_range(name, lowest, highest if is_told else None, given)
        case kind if kind in _TYPES:
            return telling.wrong_type(name, _TYPES[kind], given)
        case _:
            return f"`{name}` must be what /docs describes: {found['msg']}."


def _missing(name: str, schema: Mapping[str, Any]) -> str:
    if allowed := _words(schema, "enum"):
        return telling.missing(name, f"one of {', '.join(allowed)}")
    if examples := _words(schema, "examples"):
        return f"`{name}` is required, for example {examples[0]}."
    return telling.missing(name)


def _words(schema: Mapping[str, Any], key: str) -> list[str]:
    return [str(word) for words in _said(schema, key) for word in words]


def _said(schema: Mapping[str, Any], key: str) -> Iterator[Any]:
    """What a schema or one of its alternatives says under a key."""
    for one in (schema, *schema.get("anyOf", ())):
        if key in one:
            yield one[key]
