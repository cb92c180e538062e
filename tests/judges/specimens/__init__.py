"""One healthy request per target, and the single faults that its judge must name.

Every healthy request holds a system text, text, two parallel calls with their results, an answer
and a last word of the user, the tools that were called, and an image where the target takes one.
A module per target, named as its judge: `healthy()` and `FAULTS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tests.judges.specimens.damage import Fault


def healthy(target: str) -> dict[str, Any]:
    """A fresh request that the caller may damage."""
    made: dict[str, Any] = _module(target).healthy()
    return made


def faults(target: str) -> list[Fault]:
    """The faults to plant, one at a time, into `healthy(target)`."""
    known: list[Fault] = _module(target).FAULTS
    return known


def _module(target: str) -> Any:
    return import_module(f"tests.judges.specimens.{target.replace('-', '_')}")
