"""Reads type hints and TypedDicts as shapes.

What cannot be JSON (open files, paths, models of responses among the parameters) is left out.
"""

from __future__ import annotations

import collections.abc
import datetime
import typing
from enum import Enum
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, Literal, Required, Union

import typing_extensions
from typing_extensions import TypeAliasType

from tests.home.shapes import ANY, NULL, Kind, Shape
from tests.judges.strict_types import is_required

_LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)
_MAPPINGS = (dict, collections.abc.Mapping)
_MARKS = (Required, typing.NotRequired, typing_extensions.ReadOnly, typing.Annotated)
_STRING = frozenset({"string"})
_SIMPLE: dict[object, Shape] = {
    object: ANY,
    Any: ANY,
    None: NULL,
    NoneType: NULL,
    str: Shape(scalars=_STRING),
    bytes: Shape(scalars=_STRING),
    datetime.datetime: Shape(scalars=_STRING),
    bool: Shape(scalars=frozenset({"boolean"})),
    int: Shape(scalars=frozenset({"integer"})),
    float: Shape(scalars=frozenset({"number"})),
}


def shape_of(hint: Any) -> Shape:
    """The shape of a type hint."""
    origin, arguments = typing_extensions.get_origin(hint), typing_extensions.get_args(hint)
    if origin in _MARKS:
        return shape_of(arguments[0])
    if origin is Literal:
        return Shape(literals=arguments)
    if origin is Union or origin is UnionType:
        return reduce(or_, map(shape_of, arguments))
    if origin in _LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
        return Shape(items=shape_of(arguments[0]))
    if origin in _MAPPINGS:
        return Shape(values=shape_of(arguments[1]))
    if typing_extensions.is_typeddict(hint):
        return Shape(kinds=(typed_dict(hint),))
    if isinstance(origin, TypeAliasType):
        return shape_of(origin.__value__[arguments])
    if isinstance(hint, TypeAliasType):
        return shape_of(hint.__value__)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Shape(literals=tuple(each.value for each in hint), scalars=_STRING)
    return _SIMPLE.get(hint, Shape())


@cache
def _kind(hint: Any) -> Kind:
    return Kind(hint.__name__, hint.__module__)


def typed_dict(hint: Any) -> Kind:
    """The kind of a TypedDict; each is read once."""
    kind = _kind(hint)
    if not kind.members:
        hints = typing_extensions.get_type_hints(hint, include_extras=True)
        total = getattr(hint, "__total__", True)
        kind.required = frozenset(name for name, each in hints.items() if is_required(each, total))
        # Set before the members are read, so that a type that holds itself ends.
        kind.members = dict.fromkeys(hints, ANY)
        for name, each in hints.items():
            kind.members[name] = shape_of(each)
    return kind
