"""The words in which the two databases are told apart and their errors are judged."""

from typing import Literal, TypeAlias

Purpose: TypeAlias = Literal["write", "read", "migrate"]

State: TypeAlias = Literal["open", "failed", "lost"]
"""Of a transaction: usable; usable after a rollback to a savepoint; gone with all it did."""

Verdict: TypeAlias = Literal["again", "unavailable", "own"]
"""Of an error: a new try may succeed; the database cannot answer; the deed's own business."""
