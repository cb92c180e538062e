"""Reads a provider's TypedDicts as law: what its type hints do not allow is a misfit.

A plain pydantic `TypeAdapter` over these types leaves `Iterable[X]` unread and drops unknown
keys, so it accepts nearly anything. Here `Iterable` and `Sequence` mean a list whose every item
is read, keys outside the TypedDict are refused at any depth, required keys are demanded, and
only JSON values pass (the SDKs also take open files and paths; a stored request never does).
"""

from __future__ import annotations

import collections.abc
import typing
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, TypeAlias, Union

import typing_extensions
from typing_extensions import ReadOnly

Check: TypeAlias = Callable[[object, str], list[str]]

_LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)
_MAPPINGS = (dict, collections.abc.Mapping)
_KEY_MARKS = (Required, NotRequired, ReadOnly)


def misfits(hint: object, value: object, where: str) -> list[str]:
    """Everything about `value` that the type `hint` does not allow, one sentence each."""
    return _check(hint)(value, where)


@cache
def _check(hint: Any) -> Check:
    """Turn one type hint into a function; each hint is read once, however often it is asked."""
    origin, arguments = typing_extensions.get_origin(hint), typing_extensions.get_args(hint)
    if origin in _KEY_MARKS or origin is typing.Annotated:
        return _check(arguments[0])
    if hint is object or hint is Any:
        return lambda value, where: []
    if hint is None or hint is NoneType:
        return lambda value, where: _said(value is None, where, "null", value)
    if typing_extensions.is_typeddict(hint):
        return _TypedDictCheck(hint)
    if origin is Literal:
        return _literal(arguments)
    if origin is Union or origin is UnionType:
        return _UnionCheck(arguments)
    if origin in _LISTS:
        return _list_of(arguments[0])
    if origin in _MAPPINGS:
        return _mapping_of(arguments[1])
    return _plain(hint)


def _said(fits: bool, where: str, expected: str, value: object) -> list[str]:
    return [] if fits else [f"{where}: expected {expected}, got {_shown(value)}"]


def _shown(value: object) -> str:
    shown = ascii(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _literal(allowed: tuple[object, ...]) -> Check:
    # `True == 1` in Python, so the types are compared as well.
    pairs = {(type(each), each) for each in allowed}
    words = " or ".join(repr(each) for each in allowed)

    def check(value: object, where: str) -> list[str]:
        fits = isinstance(value, str | int | NoneType) and (type(value), value) in pairs
        return _said(fits, where, words, value)

    return check


def _list_of(item: object) -> Check:
    def check(value: object, where: str) -> list[str]:
        if not isinstance(value, list):
            return _said(False, where, "a list", value)
        read = _check(item)
        return [fault for at, each in enumerate(value) for fault in read(each, f"{where}[{at}]")]

    return check


def _mapping_of(item: object) -> Check:
    def check(value: object, where: str) -> list[str]:
        if not isinstance(value, dict):
            return _said(False, where, "an object", value)
        read = _check(item)
        return [fault for key, each in value.items() for fault in read(each, f"{where}.{key}")]

    return check


def _plain(hint: object) -> Check:
    wanted: dict[object, tuple[tuple[type, ...], str]] = {
        str: ((str,), "text"),
        bool: ((bool,), "true or false"),
        int: ((int,), "an integer"),
        float: ((int, float), "a number"),
    }
    # `IO[bytes]`, `PathLike` and the like cannot stand in JSON, so nothing fits them.
    types, words = wanted.get(hint, ((), f"{hint} (not JSON)"))

    def check(value: object, where: str) -> list[str]:
        fits = isinstance(value, types) and (hint is bool or not isinstance(value, bool))
        return _said(fits, where, words, value)

    return check


class _TypedDictCheck:
    """One TypedDict: its keys, which of them are required, and which tell it from its siblings."""

    def __init__(self, hint: Any) -> None:
        self.name: str = hint.__name__
        self.hints: Mapping[str, Any] = typing_extensions.get_type_hints(hint, include_extras=True)
        total = getattr(hint, "__total__", True)
        # `__required_keys__` is wrong under postponed annotations, so the marks are read here.
        self.required = {key for key, each in self.hints.items() if is_required(each, total)}
        # These keys tell the members of a union apart.
        self.tags = {key: _tag(self.hints[key]) for key in ("type", "role") if key in self.hints}
        config = getattr(hint, "__pydantic_config__", {})
        self.open = config.get("extra") == "allow"
        self.checks: dict[str, Check] = {}

    def __call__(self, value: object, where: str) -> list[str]:
        if not isinstance(value, dict):
            return _said(False, where, f"an object ({self.name})", value)
        faults = [
            f"{where}: required key {key!r} is missing ({self.name})"
            for key in sorted(self.required - value.keys())
        ]
        for key, each in value.items():
            if key in self.hints:
                faults += self._check_of(key)(each, f"{where}.{key}")
            elif not self.open:
                faults.append(f"{where}: unknown key {key!r} ({self.name})")
        return faults

    def _check_of(self, key: str) -> Check:
        # To look a hint up by its hash takes longer than most checks.
        if key not in self.checks:
            self.checks[key] = _check(self.hints[key])
        return self.checks[key]

    def could_be(self, value: dict[str, object]) -> bool:
        """Whether the tags (`type`, `role`) that `value` carries are this TypedDict's."""
        for key, tag in self.tags.items():
            if tag and key in value and value[key] not in tag:
                return False
        return True


class _UnionCheck:
    """Fits when one member fits; otherwise the faults of the member that came closest."""

    def __init__(self, members: tuple[object, ...]) -> None:
        self.members = members

    @cached_property
    def checks(self) -> list[Check]:
        """Read when they are first asked for: a type may hold itself."""
        return [_check(member) for member in self.members]

    @cached_property
    def typed(self) -> list[_TypedDictCheck]:
        return [check for check in self.checks if isinstance(check, _TypedDictCheck)]

    @cached_property
    def others(self) -> list[Check]:
        return [check for check in self.checks if not isinstance(check, _TypedDictCheck)]

    def __call__(self, value: object, where: str) -> list[str]:
        checks = self.checks
        if isinstance(value, dict):
            meant = [check for check in self.typed if check.could_be(value)]
            checks = [*meant, *self.others] if meant else checks
        closest: list[str] | None = None
        for check in checks:
            faults = check(value, where)
            if not faults:
                return []
            if closest is None or _distance(faults, where) < _distance(closest, where):
                closest = faults
        return closest or [f"{where}: no type allows {_shown(value)}"]


def _distance(faults: list[str], where: str) -> tuple[bool, int]:
    """A member that fails deeper inside was meant more than one of another kind altogether."""
    other_kind = faults[0].startswith(f"{where}: expected")
    return other_kind, len(faults)


def is_required(hint: Any, total: bool) -> bool:
    origin = typing_extensions.get_origin(hint)
    while origin in _KEY_MARKS or origin is typing.Annotated:
        if origin is Required or origin is NotRequired:
            return origin is Required
        hint = typing_extensions.get_args(hint)[0]
        origin = typing_extensions.get_origin(hint)
    return total


def _tag(hint: Any) -> tuple[object, ...]:
    """The words that a key may hold, or none when it is no Literal."""
    origin, arguments = typing_extensions.get_origin(hint), typing_extensions.get_args(hint)
    if origin in _KEY_MARKS or origin is typing.Annotated:
        return _tag(arguments[0])
    return arguments if origin is Literal else ()
