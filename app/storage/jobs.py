"""A command on its way: who asked for it, what came of it, and how the receipt gets back."""

import asyncio
import concurrent.futures
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Protocol, TypeAlias

from app.core.ledger.slice import Command
from app.core.value import dataclass

log = logging.getLogger(__name__)

Future: TypeAlias = asyncio.Future[Any] | concurrent.futures.Future[Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The receipt of a command, or why there is none; `postponed`: to another transaction."""

    value: Any = None
    error: Exception | None = None
    postponed: bool = False


class Caller(Protocol):
    """Who waits for commands: tasks of a loop, a thread, or another process."""

    def settle(self, outcomes: Sequence[tuple[Any, Outcome]]) -> None:
        """Tells what came of commands, each by what the caller knows it by."""


@dataclass(frozen=True, slots=True)
class InLoop:
    """Tasks that wait for futures of their loop."""

    loop: asyncio.AbstractEventLoop

    def settle(self, outcomes: Sequence[tuple[Future, Outcome]]) -> None:
        try:
            self.loop.call_soon_threadsafe(settle, outcomes)
        except RuntimeError:
            log.warning("%d receipts came after their loop was closed", len(outcomes))


@dataclass(frozen=True, slots=True)
class InThread:
    """A caller who waits for a future in a thread of its own."""

    def settle(self, outcomes: Sequence[tuple[Future, Outcome]]) -> None:
        settle(outcomes)


@dataclass(frozen=True, slots=True)
class Job:
    """A command, whose it is, and whom to tell. `ticket`: the future that waits for it, or the
    number that another process knows it by."""

    tenant_id: str
    command: Command[Any]
    ticket: Future | int
    caller: Caller
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

    def add(self, other: "Counts") -> None:
        self.commits += other.commits
        self.commands += other.commands
        self.retries += other.retries
        self.unavailable += other.unavailable


def deliver(settled: Sequence[tuple[Job, Outcome]]) -> None:
    """Tell the callers, each once."""
    by_caller = defaultdict(list)
    for job, outcome in settled:
        by_caller[job.caller].append((job.ticket, outcome))
    for caller, outcomes in by_caller.items():
        caller.settle(outcomes)


def settle(outcomes: Sequence[tuple[Future, Outcome]]) -> None:
    for future, outcome in outcomes:
        if future.done():
            continue
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.value)
