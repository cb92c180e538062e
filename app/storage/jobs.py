"""A command on its way: who asked for it, what came of it, and how the receipt gets back."""

import asyncio
import concurrent.futures
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field
from typing import Any, TypeAlias

from app.core.ledger.slice import Command
from app.core.value import dataclass

log = logging.getLogger(__name__)

LARGEST_GROUP = 256

_Future: TypeAlias = "asyncio.Future[Any] | concurrent.futures.Future[Any]"


@dataclass(frozen=True, slots=True)
class Job:
    """A command, whose it is, and whom to tell. `loop` is None when the caller waits in a thread of
    its own."""

    tenant_id: str
    command: Command[Any]
    future: _Future
    loop: asyncio.AbstractEventLoop | None
    since: float = field(default_factory=time.monotonic)
    # Who acquires it first has it: the writer that begins, or the caller who leaves before that.
    claim: threading.Lock = field(default_factory=threading.Lock)

    @property
    def owner(self) -> tuple[str, str]:
        """The tenant and the conversation."""
        return self.tenant_id, self.command.conversation_id


@dataclass(frozen=True, slots=True)
class Outcome:
    """The receipt of a command, or why there is none; `postponed`: to another transaction."""

    value: Any = None
    error: Exception | None = None
    postponed: bool = False


@dataclass(slots=True)
class Counts:
    """What a writer did; `group_sizes[n]` counts the transactions that held n commands."""

    commits: int = 0
    commands: int = 0
    retries: int = 0
    unavailable: int = 0
    group_sizes: list[int] = field(default_factory=lambda: [0] * (LARGEST_GROUP + 1))


def deliver(settled: Sequence[tuple[Job, Outcome]]) -> None:
    """Tell the callers, each in its own thread."""
    by_loop = defaultdict(list)
    for job, outcome in settled:
        by_loop[job.loop].append((job.future, outcome))
    for loop, outcomes in by_loop.items():
        if loop is None:
            _settle(outcomes)
            continue
        try:
            loop.call_soon_threadsafe(_settle, outcomes)
        except RuntimeError:
            log.warning("%d receipts came after their loop was closed", len(outcomes))


def _settle(outcomes: Sequence[tuple[_Future, Outcome]]) -> None:
    for future, outcome in outcomes:
        if future.done():
            continue
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.value)
