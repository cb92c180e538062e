"""Bodies with something wrong inside: those of the golden cases, changed at random places.

A change takes a value away, puts another in its place, copies one from elsewhere in the corpus,
renames a member or repeats an element. So most bodies are nearly right, which is where readers go
wrong.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from app.formats.registry import TARGETS

CASES = Path(__file__).parents[1] / "formats"
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**30, -(10**400), 1e308, "", " ", "\0", "\ud800", "null"),
    *("x" * 300, "é́", "[]", "{", '{"a":1}', "data:image/png;base64,AAAA", "call_1", "hist_tool_x"),
    *("functions.f:0", "toolu_1", "tool", "assistant", [], {}, [[]], [{}], [None], {"": None}),
    *({"type": "text"}, {"type": []}, {"type": "tool_use"}, [{"type": "text", "text": 1}]),
]


@cache
def corpus() -> tuple[dict[str, Any], ...]:
    """What clients post, well formed, in every format."""
    files = sorted(CASES.glob("*/cases/*/wire.json"))
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return tuple(one for one in found if isinstance(one, dict) and "provider" in one)


@cache
def parts() -> tuple[Any, ...]:
    """Every value that stands anywhere in the corpus."""
    return tuple(value for body in corpus() for value in _values(body))


@cache
def names() -> tuple[str, ...]:
    return tuple(sorted({name for part in parts() if isinstance(part, dict) for name in part}))


def _values(value: Any) -> Iterator[Any]:
    yield value
    for inner in _inside(value):
        yield from _values(inner)


def _inside(value: Any) -> list[Any]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case _:
            return []


def body(random: Random) -> dict[str, Any]:
    """The next one."""
    made: dict[str, Any] = _copy(random.choice(corpus()))
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, 6))):
        _change(made, random)
    if random.random() < 0.2:
        made["provider"] = random.choice(TARGETS)
    return made


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _change(root: dict[str, Any], random: Random) -> None:
    place = _somewhere(root, random)
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    if not keys:
        return
    key = random.choice(keys)
    match random.randrange(7):
        case 0:
            del place[key]
        case 1 | 2:
            place[key] = _copy_odd(random.choice(ODD))
        case 3:
            place[key] = _copy(random.choice(parts()))
        case 4 if isinstance(place, dict):
            place[random.choice(names())] = place.pop(key)
        case 5 if isinstance(place, dict):
            place[random.choice(names())] = _copy(random.choice(parts()))
        case 6 if isinstance(place, list):
            place.insert(random.randrange(len(place) + 1), _copy(place[key]))
        case _:
            place[key] = [place[key]]


def _copy_odd(value: Any) -> Any:
    return value if not isinstance(value, dict | list) else _copy(value)


def _somewhere(root: dict[str, Any], random: Random) -> Any:
    """An object or a list, not too seldom a deep one."""
    here: Any = root
    while random.random() < 0.8:
        inner = [one for one in _inside(here) if isinstance(one, dict | list) and one]
        if not inner:
            break
        here = random.choice(inner)
    return here
