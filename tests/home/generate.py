"""Writes the input types of the installed SDKs to `app/formats/inputs`."""

from __future__ import annotations

import json
from collections import Counter
from itertools import count
from pathlib import Path

import app.formats.inputs
from tests.home.shapes import Kind, Shape, reachable
from tests.home.sources import SOURCES

# Words that tell kinds apart, and formats of media: what is not among them is refused.
_CLOSED = frozenset({"type", "role", "format", "media_type"})
_JSON_TYPES = {"integer": "number"}
FOLDER = Path(app.formats.inputs.__file__).parent


def written(target: str) -> str:
    """The text of the file of a target."""
    roots = SOURCES[target]()
    kinds = reachable(roots.values())
    names = _names(kinds)
    # The AI SDK itself refuses what its schemas do not know.
    closed = {"closed": True} if target.startswith("vercel") else {}
    data = closed | {
        "roots": {name: _shape(shape, names) for name, shape in roots.items()},
        "kinds": {
            names[kind]: _written_kind(kind, names, camel=target == "gemini") for kind in kinds
        },
    }
    return _json(data, 2) + "\n"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _names(kinds: list[Kind]) -> dict[Kind, str]:
    """A name each: kinds of different modules may be called alike, and of one module too."""
    often = Counter(kind.name for kind in kinds)
    names: dict[Kind, str] = {}
    for kind in kinds:
        module = kind.module.split(".")[-1]
        name = kind.name if often[kind.name] == 1 else f"{module}.{kind.name}"
        numbered = (name if number == 1 else f"{name}.{number}" for number in count(1))
        names[kind] = next(each for each in numbered if each not in names.values())
    return names


def _written_kind(kind: Kind, names: dict[Kind, str], *, camel: bool) -> dict[str, object]:
    """`camel`: the API takes its members in camelCase too."""
    written: dict[str, object] = {}
    if kind.required:
        written["required"] = sorted(kind.required)
    if kind.one_of:
        written["one_of"] = sorted(kind.one_of)
    if camel and (aliases := {_camel(name): name for name in sorted(kind.members) if "_" in name}):
        written["aliases"] = aliases
    written["members"] = {
        name: _shape(each, names) | ({"open": True} if _is_open(kind, name) else {})
        for name, each in sorted(kind.members.items())
    }
    return written


def _is_open(kind: Kind, name: str) -> bool:
    """True if the word is required and a newer one is better sent than the object left out."""
    words = kind.members[name].literals
    return name in kind.required - _CLOSED and len(words) > 1 and all(map(_is_text, words))


def _is_text(word: object) -> bool:
    return isinstance(word, str)


def _shape(shape: Shape, names: dict[Kind, str]) -> dict[str, object]:
    if shape.any:
        return {"any": True}
    written: dict[str, object] = {"null": True} if shape.null else {}
    if shape.items and shape.items.any and shape.values:
        return written | {"free": True}
    if shape.literals and not shape.scalars:
        written["literal"] = list(shape.literals)
    if shape.filled:
        written["filled"] = True
    if shape.pattern:
        written["pattern"] = shape.pattern
    for name, inner in (("items", shape.items), ("values", shape.values)):
        if inner:
            written[name] = _shape(inner, names)
    scalars = {_JSON_TYPES.get(name, name) for name in shape.scalars}
    if scalars - {"string"} or (scalars and (shape.items or shape.values or shape.kinds)):
        written["scalars"] = sorted(scalars)
    if shape.kinds:
        written["kinds"] = [names[kind] for kind in shape.kinds]
    return written


def _json(value: object, depth: int, indent: str = "") -> str:
    """JSON with a line for each member of the outer objects, so that changes show as lines."""
    if not isinstance(value, dict) or not value or depth < 0:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    lines = [
        f"{inner}{json.dumps(name)}: {_json(each, depth - 1, inner)}"
        for name, each in value.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


if __name__ == "__main__":
    for target in SOURCES:
        (FOLDER / f"{target}.json").write_text(written(target))
