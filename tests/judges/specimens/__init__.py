"""One healthy request per target, and the single faults that its judge must name.

Every healthy request holds a system text, text, two parallel calls with their results, an answer
and a last word of the user, the tools that were called, and an image where the target takes one.
`specimens.py` in the folder of each target, or of its family: `healthy()` and `FAULTS`.
"""

from __future__ import annotations

from typing import Any

from tests.formats import of
from tests.judges.specimens.damage import Fault


def healthy(target: str) -> dict[str, Any]:
    """A fresh request that the caller may damage."""
    made: dict[str, Any] = of(target, "specimens").healthy()
    return made


def faults(target: str) -> list[Fault]:
    """The faults to plant, one at a time, into `healthy(target)`."""
    known: list[Fault] = of(target, "specimens").FAULTS
    return known
