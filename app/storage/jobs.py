"""A deed on its way: who asked for it, what came of it, and how the answer gets back."""

import asyncio
import concurrent.futures
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from app.storage.store import Store

log = logging.getLogger(__name__)

LARGEST_GROUP = 256

_Future: TypeAlias = "asyncio.Future[Any] | concurrent.futures.Future[Any]"


@dataclass(frozen=True, slots=True)
class Job:
    """A deed and whom to tell. `loop` is None when the caller waits in a thread of its own."""

    conversation_id: str
    deed: Callable[[Store], Any]
    future: _Future
    loop: asyncio.AbstractEventLoop | None


@dataclass(frozen=True, slots=True)
class Outcome:
    value: Any = None
    error: Exception | None = None


@dataclass(slots=True)
class Counts:
    """What a writer did; `group_sizes[n]` counts the transactions that held n deeds."""

    commits: int = 0
    deeds: int = 0
    retries: int = 0
    unavailable: int = 0
    group_sizes: list[int] = field(default_factory=lambda: [0] * (LARGEST_GROUP + 1))


def deliver(settled: Sequence[tuple[Job, Outcome]]) -> None:
    """Tell the callers, each in its own thread."""
    by_loop = defaultdict(list)
    for job, outcome in settled:
        by_loop[job.loop].append((job.future, outcome))
    for loop, answers in by_loop.items():
        if loop is None:
            _settle(answers)
            continue
        try:
            loop.call_soon_threadsafe(_settle, answers)
        except RuntimeError:
            log.warning("%d answers came after their loop was closed", len(answers))


def _settle(answers: Sequence[tuple[_Future, Outcome]]) -> None:
    for future, outcome in answers:
        if future.done():
            continue
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.value)
