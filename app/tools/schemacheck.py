"""Checks that the schema of a tool is JSON Schema (draft 2020-12).

A caller's schema is only ever the *instance*, checked against the meta-schema that jsonschema-rs
contains. It must never be compiled, and never be given to `jsonschema_rs.meta`: both follow `$ref`
and `$schema` to other machines and into files. In an instance a reference is a text like any other.
Patterns are not compiled either: they are written in the dialect of ECMA-262, and nothing here
matches anything with them.
"""

from collections.abc import Iterator
from typing import Final

from jsonschema_rs import Draft202012Validator

from ..formats.shared.walk import INNER, LISTED, NAMED
from ..jsontext.numbers import LARGEST_DOUBLE
from ..jsontext.unicode import mended
from ..model.json_values import Json, JsonObject

_META_SCHEMA: Final = Draft202012Validator(
    {"$ref": "https://json-schema.org/draft/2020-12/schema"}, offline=True
)


def fault(schema: JsonObject) -> str | None:
    """Returns what is wrong with a schema, as the end of a sentence, or None."""
    instance = {mended(key): _plain(member) for key, member in schema.items()}
    if _META_SCHEMA.is_valid(instance):
        return None
    return f"is no JSON Schema at {_place(instance)}"


def _place(schema: JsonObject) -> str:
    """Returns the path to the first keyword that breaks a rule. Each rule is about one keyword.

    The library would tell the place too, with a copy of every value on the way to it.
    """
    key, member = next(
        (key, member) for key, member in schema.items() if not _META_SCHEMA.is_valid({key: member})
    )
    for path, inner in _inner(key, member):
        if not _META_SCHEMA.is_valid(inner):
            return f"{path}/{_place(inner)}" if isinstance(inner, dict) else path
    return key


def _inner(key: str, member: Json) -> Iterator[tuple[str, Json]]:
    """Yields the schemas directly under a keyword, each with its path."""
    match member:
        case dict() if key in INNER:
            yield key, member
        case dict() if key in NAMED:
            yield from ((f"{key}/{name}", inner) for name, inner in member.items())
        case dict() if key == "dependencies":
            # A list there holds names of properties.
            for name, inner in member.items():
                if not isinstance(inner, list):
                    yield f"{key}/{name}", inner
        case list() if key in LISTED:
            yield from ((f"{key}/{index}", inner) for index, inner in enumerate(member))


def _plain(value: Json) -> Json:
    """Returns a copy that the library can read.

    It refuses subclasses of `float` and lone surrogates, and takes infinity for null. It also
    recurses without a limit and ends the process when the stack is full: values that are nested
    too deeply for Python raise a RecursionError here, before that.
    """
    match value:
        case dict():
            return {mended(key): _plain(member) for key, member in value.items()}
        case list():
            return [_plain(element) for element in value]
        case str():
            return mended(value)
        case bool() | None:
            return value
        case _:
            number = max(-LARGEST_DOUBLE, min(value, LARGEST_DOUBLE))
            return number if isinstance(number, int) else float(number)
