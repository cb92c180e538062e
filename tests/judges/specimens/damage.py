"""The ways to damage a request in one place; a path is `messages.2.content.0`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

Damage: TypeAlias = Callable[[dict[str, Any]], None]


class Fault(NamedTuple):
    """A fault as a sentence, how to plant it, and a word of the complaint that must name it."""

    sentence: str
    damage: Damage
    named: str


def put(path: str, value: object) -> Damage:
    """Write a value, over the old one or as a new key."""

    def damage(request: dict[str, Any]) -> None:
        container, key = _end(request, path)
        container[key] = copy.deepcopy(value)

    return damage


def drop(path: str) -> Damage:
    """Take a key or an item away."""

    def damage(request: dict[str, Any]) -> None:
        container, key = _end(request, path)
        del container[key]

    return damage


def insert(path: str, value: object) -> Damage:
    """Put an item into a list, before the one that stands there."""

    def damage(request: dict[str, Any]) -> None:
        container, key = _end(request, path)
        container.insert(key, copy.deepcopy(value))

    return damage


def swap(path: str, other: str) -> Damage:
    """Let two values change places."""

    def damage(request: dict[str, Any]) -> None:
        (one, a), (two, b) = _end(request, path), _end(request, other)
        one[a], two[b] = two[b], one[a]

    return damage


def again(path: str) -> Damage:
    """Repeat an item of a list."""

    def damage(request: dict[str, Any]) -> None:
        container, key = _end(request, path)
        container.insert(key, copy.deepcopy(container[key]))

    return damage


def _end(request: Any, path: str) -> tuple[Any, Any]:
    """The container in which `path` ends, and the last key."""
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in way:
        request = request[step]
    return request, last
