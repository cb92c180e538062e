"""Whether a tool's schema is JSON Schema (draft 2020-12): the library's verdict, part by part.

The meta-schema judges each schema by itself. So every schema inside another is shown to the library
alone, without what is inside it and without the words and data that no rule looks at. What remains
is small and repeats a lot, so verdicts are remembered; so are those of whole schemas, which come
back with every request of an agent.

Patterns are not looked into. They are written in the dialect of ECMA-262, nobody here matches
anything with them, and to compile a few thousand of Python's kind may take minutes.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Final

from app.core.json.values import Json, JsonObject
from app.core.json.writing import dumps
from app.core.tools.schema.walk import INNER, LISTED, NAMED

# Longer texts are judged again each time: what is remembered stays within a few megabytes.
_WHOLE: Final = 16_384
_PART: Final = 2_048
_TYPES: Final = 7
_TOO_LARGE: Final = "is too large to be checked"


def fault(schema: JsonObject) -> str | None:
    """What is wrong with a schema, as the end of a sentence; None: it is JSON Schema."""
    text = dumps(schema)
    return _remembered(text) if len(text) <= _WHOLE else _found(schema)


@lru_cache(maxsize=1_024)
def _remembered(text: str) -> str | None:
    try:
        return _found(json.loads(text))
    except ValueError:
        # A number of more digits than Python converts.
        return _TOO_LARGE


def _found(schema: Json) -> str | None:
    for path, part in _parts(schema):
        text = dumps(part)
        where = _judged_again(text) if len(text) <= _PART else _judged(part)
        if where == _TOO_LARGE:
            return where
        if where is not None:
            return f"is no JSON Schema at {'/'.join(filter(None, (path, where))) or 'its top'}"
    return None


@lru_cache(maxsize=4_096)
def _judged_again(text: str) -> str | None:
    return _judged(json.loads(text))


CACHED = (_remembered, _judged_again)


def _judged(part: Json) -> str | None:
    """Where in the part a rule is broken; None: nowhere."""
    if isinstance(part, dict) and (key := _odd_list(part)) is not None:
        return key
    # Imported with the first tool: a start need not wait for it.
    library = import_module("jsonschema")
    try:
        # The only format that it would check is that of patterns, by compiling them.
        library.Draft202012Validator.check_schema(part, format_checker=None)
    except (OverflowError, RecursionError):
        return _TOO_LARGE
    except library.SchemaError as error:
        return "/".join(str(step) for step in error.absolute_path)
    return None


def _odd_list(part: JsonObject) -> str | None:
    """A list that must hold different texts and cannot: the library would compare them all."""
    kinds, required = part.get("type"), part.get("required")
    if isinstance(kinds, list) and len(kinds) > _TYPES:
        return "type"
    if isinstance(required, list) and not all(isinstance(name, str) for name in required):
        return "required"
    for key in ("dependentRequired", "dependencies"):
        members = part.get(key)
        lists = members.values() if isinstance(members, dict) else ()
        if not all(isinstance(name, str) for one in lists if isinstance(one, list) for name in one):
            return key
    return None


def _parts(schema: Json) -> Iterator[tuple[str, Json]]:
    """Every schema by itself, with the path that leads to it."""
    waiting: list[tuple[str, Json]] = [("", schema)]
    while waiting:
        path, whole = waiting.pop()
        if not isinstance(whole, dict):
            yield path, [] if isinstance(whole, list) else whole
            continue
        part: JsonObject = {}
        for key, member in whole.items():
            at = f"{path}/{key}" if path else key
            part[key], inside = _apart(key, member)
            waiting.extend((f"{at}/{step}" if step else at, one) for step, one in inside)
        yield path, part


def _apart(key: str, member: Json) -> tuple[Json, list[tuple[str, Json]]]:
    """A member as the part shows it, and the schemas inside it by their steps."""
    match member:
        case dict() if key in (*NAMED, "dependencies"):
            lists: JsonObject = {
                name: one
                for name, one in member.items()
                if key == "dependencies" and isinstance(one, list)
            }
            return lists, [one for one in member.items() if one[0] not in lists]
        case dict() | bool() if key in INNER:
            return True, [("", member)]
        case [_, *_] if key in LISTED:
            return [True], [(str(place), one) for place, one in enumerate(member)]
        case str() if key in ("title", "description", "$comment"):
            return "", []
        case list() if key in ("enum", "examples"):
            return [], []
        case _:
            return None if key in ("const", "default") else member, []
