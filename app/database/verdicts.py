"""The words in which the two databases are told apart and their errors are judged."""

from dataclasses import dataclass
from math import inf
from typing import Literal, TypeAlias

Purpose: TypeAlias = Literal["write", "read", "migrate"]

Verdict: TypeAlias = Literal["again", "locked", "unavailable", "index", "own"]
"""Of an error: a new try may succeed; so it may, when another session has let go of a conversation;
the database cannot answer; the full-text index is broken and must be rebuilt before a new try; the
caller's own business."""

# invalid_sql_statement_name, duplicate_prepared_statement: a pooler has given this session the
# connection of another one.
POOLED = frozenset({"26000", "42P05"})


@dataclass(slots=True)
class Ending:
    """When a database that is being closed stops to wait for answers, by the monotonic clock."""

    at: float = inf

    @property
    def begun(self) -> bool:
        return self.at < inf
