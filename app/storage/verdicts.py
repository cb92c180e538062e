"""The words in which the two databases are told apart and their errors are judged."""

from typing import Literal, TypeAlias

Purpose: TypeAlias = Literal["write", "read", "migrate"]

Verdict: TypeAlias = Literal["again", "unavailable", "own"]
"""Of an error: a new try may succeed; the database cannot answer; the caller's own business."""
