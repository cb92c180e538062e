"""A writer: it takes every command that waits and commits them together.

Load, decide, save, commit; only then do the receipts go, failures too. When the transaction fails,
each command of the group is tried again alone, a few times, unless that is hopeless; then its
caller hears `Unavailable`. Commands on a conversation that another session has locked are held, and
the others go on. No command is lost, none is carried out twice: where a COMMIT got no answer, the
database is asked what became of it before anything is repeated.
"""

import asyncio
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from math import inf
from operator import attrgetter
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from ..model.errors import Unavailable
from . import transactions
from .jobs import PERHAPS, Future, Job, Outcome, settle
from .transactions import GroupFailed, Transactions, Unknown

log = logging.getLogger(__name__)

# Seconds that a group may take before those behind it are said to wait for too long, and those
# between two looks at conversations that are locked.
STUCK = 5.0
_LOOK = 0.05
Settled: TypeAlias = Sequence[tuple[Job, Outcome]]


class Writer(ABC):
    """One transaction at a time, in the thread that calls `work`."""

    def __init__(self, made: Transactions) -> None:
        self.counts = made.counts
        self.memory = made.memory
        # Why the last command was given up, until one is carried out.
        self.failure: Unavailable | None = None
        self._transactions = made
        # Commands on conversations that were locked, in order.
        self._held: list[Job] = []
        # When the last group was begun, while it is carried out.
        self._busy_since: float | None = None

    @abstractmethod
    def take(self, timeout: float | None) -> Job | None:
        """The next command, None when it is time to end; raises `Empty` where none comes in that
        time."""

    @abstractmethod
    def tell(self, settled: Settled) -> None:
        """Tells the callers what came of their commands."""

    @property
    def is_lost(self) -> bool:
        """Whether the database was out of reach when it was tried last."""
        return self._transactions.lost_at > -inf

    def is_stuck(self) -> bool:
        """Whether new commands would wait for too long, or one tries already to reach a database
        that was out of reach."""
        since = self._busy_since
        return since is not None and (self.is_lost or time.monotonic() - since > STUCK)

    def work(self) -> None:
        """Carries out commands until it is time to end."""
        closing = False
        while not closing:
            group, closing = self._gather()
            self.counts.commands += len(group)
            self._busy_since = time.monotonic()
            try:
                held = {job.owner for job in self._held}
                self._carry_out([job for job in group if job.owner not in held])
                self._held += (job for job in group if job.owner in held)
                self._try_held(closing)
                self._transactions.scrub(to_its_end=closing)
            except BaseException:
                # A fault of ours. The thread lives on, and nobody waits for ever.
                log.exception("the writer failed")
                self._transactions.disconnect()
                held_now, self._held = self._held, []
                defect = Unavailable.silent("a defect")
                self._deliver([(job, self._give_up(defect)) for job in (*group, *held_now)])
            self._busy_since = None
            # They may be large, and the next ones may be long in coming.
            group.clear()
        self._transactions.disconnect()

    def _gather(self) -> tuple[list[Job], bool]:
        """Wait for a job, then take along all that wait already; True when it is time to end."""
        group: list[Job] = []
        try:
            job = self.take(_LOOK if self._held or self._transactions.scrubs else None)
        except Empty:
            return group, False
        while job is not None:
            if job.claim.acquire(blocking=False):
                group.append(job)
            if len(group) == self._transactions.most:
                return group, False
            try:
                job = self.take(0)
            except Empty:
                return group, False
        return group, True

    def _carry_out(self, group: list[Job]) -> None:
        wanted = [job for job in group if job.is_wanted]
        # Who waited while the database was tried in vain need not wait as long again.
        lost = [job for job in wanted if job.since <= self._transactions.lost_at]
        self._deliver([(job, self._give_up(self.failure)) for job in lost])
        wanted = [job for job in wanted if job.since > self._transactions.lost_at]
        # All processes lock conversations in the same order, so they cannot lock each other out.
        jobs = sorted(wanted, key=attrgetter("owner"))
        if not jobs:
            return
        try:
            outcomes = self._transactions.carry_out(jobs)
        except Unknown as unknown:
            outcomes = [self._give_up(unknown.why, PERHAPS) for _ in jobs]
        except GroupFailed as failure:
            log.info("%d commands are tried again alone: %s", len(jobs), failure)
            self._one_by_one(jobs)
            return
        settled = list(zip(jobs, outcomes, strict=True))
        self._deliver([(job, outcome) for job, outcome in settled if not outcome.postponed])
        self._carry_out([job for job, outcome in settled if outcome.postponed])

    def _one_by_one(self, jobs: list[Job]) -> None:
        self._transactions.reachable = True
        locked: set[tuple[str, str]] = set()
        for job in jobs:
            # Where one command waited in vain for the database, the others need not wait as long.
            outcome = None if self._transactions.reachable else self._give_up(self.failure)
            if outcome is None and job.owner not in locked:
                outcome = self._alone(job)
            if not self._transactions.reachable:
                self._transactions.lost_at = self._transactions.tried_at
            if outcome is not None:
                self._deliver([(job, outcome)])
                continue
            locked.add(job.owner)
            self._held.append(job)

    def _try_held(self, closing: bool) -> None:
        """Tries the commands of one conversation that was locked; the others have their turn."""
        if not self._held:
            return
        first = self._held[0].owner
        mine = [job for job in self._held if job.owner == first]
        others = [job for job in self._held if job.owner != first]
        # Where a try fails for a fault of ours, those that are held hear of it.
        self._one_by_one(mine)
        self._held = others + self._held[len(mine) + len(others) :]
        late = inf if closing else time.monotonic() - transactions.PATIENCE
        given_up = [job for job in self._held if job.since <= late]
        self._held = [job for job in self._held if job.since > late]
        locked = Unavailable.silent("the conversation is locked")
        self._deliver([(job, self._give_up(locked)) for job in given_up])

    def _alone(self, job: Job) -> Outcome | None:
        """What comes of a command by itself; None while its conversation is locked."""
        why: Unavailable | None = None
        for pause in transactions.PAUSES:
            time.sleep(pause)
            self.counts.retries += 1
            try:
                return self._transactions.carry_out([job])[0]
            except GroupFailed as failure:
                why = failure.why
                if failure.verdict == "locked":
                    return None
                if failure.verdict == "unavailable" or self._transactions.is_late(job.since):
                    break
                log.info("a command is tried again: %s", failure)
            except Unknown as unknown:
                return self._give_up(unknown.why, PERHAPS)
        return self._give_up(why)

    def _deliver(self, settled: Settled) -> None:
        if any(outcome.error is None for _, outcome in settled):
            self.failure = None
        if settled:
            self.tell(settled)

    def _give_up(self, why: Unavailable | None, *sentences: str) -> Outcome:
        why = why or Unavailable.silent("the database was not tried")
        self.counts.unavailable += 1
        # A copy: the frames in which the error was raised hold the commands of its group.
        self.failure = Unavailable(why.detail, reason=why.reason)
        return Outcome(error=Unavailable(" ".join((why.detail, *sentences)), reason=why.reason))


class WriterThread(Writer):
    """A writer in a thread of its own, with a queue."""

    def __init__(self, name: str, made: Transactions) -> None:
        super().__init__(made)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self.work, name=name, daemon=True)
        self._thread.start()

    def take(self, timeout: float | None) -> Job | None:
        return self._jobs.get(timeout=timeout)

    def tell(self, settled: Settled) -> None:
        by_loop: dict[Any, list[tuple[Future, Outcome]]] = defaultdict(list)
        for job, outcome in settled:
            # Others wait in threads of their own.
            is_in_loop = isinstance(job.ticket, asyncio.Future)
            by_loop[job.ticket.get_loop() if is_in_loop else None].append((job.ticket, outcome))
        settle(by_loop.pop(None, ()))
        for loop, outcomes in by_loop.items():
            try:
                loop.call_soon_threadsafe(settle, outcomes)
            except RuntimeError:
                log.warning("%d receipts came after their loop was closed", len(outcomes))

    def held(self) -> set[tuple[str, str, datetime]]:
        """The conversations that it remembers: tenant, id, and when it was made."""
        return self.memory.held()

    def forget(self, tenant_id: str, cid: str) -> None:
        self.memory.forget((tenant_id, cid))

    def waiting(self) -> int:
        return self._jobs.qsize()

    def put(self, job: Job) -> None:
        self._jobs.put(job)

    def end(self) -> bool:
        """Asks it to end when it has carried out what waits; whether anything does, for which
        somebody still cares."""
        waiting: list[Job] = []
        with suppress(Empty):
            while job := self._jobs.get_nowait():
                if not job.claim.locked():
                    waiting.append(job)
        for job in waiting:
            self._jobs.put(job)
        self._jobs.put(None)
        return bool(waiting)

    def has_ended(self, until: float | None) -> bool:
        """Whether it has, where that is not waited for longer."""
        self._thread.join(None if until is None else max(0, until - time.monotonic()))
        return not self._thread.is_alive()
