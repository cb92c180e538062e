"""A command on its way: who asked for it, what came of it."""

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Sequence
from dataclasses import field
from typing import Any, TypeAlias

from ..ledger.slice import Command
from ..model.value import dataclass

PERHAPS = (
    "This may have been stored: it is safe to send it again only with an `Idempotency-Key` or turn"
    " ids."
)
Future: TypeAlias = asyncio.Future[Any] | concurrent.futures.Future[Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The receipt of a command, or why there is none; `postponed`: to another transaction."""

    value: Any = None
    error: Exception | None = None
    postponed: bool = False

    @classmethod
    def failed(cls, error: BaseException) -> "Outcome":
        """Futures take neither StopIteration nor what ends a thread."""
        if not isinstance(error, Exception) or isinstance(error, StopIteration):
            return cls(error=RuntimeError(f"a command raised {type(error).__name__}"))
        return cls(error=error)


@dataclass(frozen=True, slots=True)
class Job:
    """A command and whose it is. `ticket`: the future that waits for it, or the number that another
    process knows it by."""

    tenant_id: str
    command: Command[Any]
    ticket: Any
    since: float = field(default_factory=time.monotonic)
    # Who acquires it first has it: the writer that begins, or the caller who leaves before that.
    claim: threading.Lock = field(default_factory=threading.Lock)

    @property
    def owner(self) -> tuple[str, str]:
        """The tenant and the conversation."""
        return self.tenant_id, self.command.conversation_id

    @property
    def is_wanted(self) -> bool:
        return isinstance(self.ticket, int) or not self.ticket.cancelled()


@dataclass(slots=True)
class Counts:
    """What a writer did."""

    commits: int = 0
    commands: int = 0
    retries: int = 0
    unavailable: int = 0


def settle(outcomes: Sequence[tuple[Future, Outcome]]) -> None:
    """Tells those who wait in this loop, or in threads."""
    for future, outcome in outcomes:
        if future.done():
            continue
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.value)
