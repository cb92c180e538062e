"""A thread that writes: it takes every command that waits and commits them together.

Load, decide, save, commit; only then do the receipts go, failures too. When the transaction fails,
each command of the group is tried again alone, a few times, unless that is hopeless; then its
caller hears `Unavailable`. Commands on a conversation that another session has locked are held, and
the others go on. No command is lost, none is carried out twice: where a COMMIT got no answer, the
database is asked what became of it before anything is repeated.
"""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from math import inf
from queue import Empty, SimpleQueue
from typing import NoReturn

from sqlalchemy import Connection, Engine, RootTransaction
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import Unavailable
from app.storage.engines import TENANT, TRANSACTION, driver_of, kind_of, original, reason
from app.storage.groups import Group, Postponed
from app.storage.jobs import Counts, Job, Outcome, deliver
from app.storage.memory import Memory
from app.storage.verdicts import Ending, Verdict

log = logging.getLogger(__name__)

# Seconds before each new try of a command that runs alone.
PAUSES = (0.0, 0.02, 0.1, 0.3, 1.0)
# Seconds after which a command that has failed is not tried again, and those between two looks at
# conversations that are locked.
PATIENCE = 10.0
# Seconds that a group may take before those behind it are said to wait for too long.
STUCK = 5.0
_LOOK = 0.05


class _GroupFailed(Exception):
    """The transaction is gone with all it did; nothing of it was committed."""

    def __init__(self, why: str, verdict: Verdict) -> None:
        super().__init__(why)
        self.verdict = verdict


class _Unknown(Exception):
    """Nobody can say whether the transaction was committed."""


class Writer:
    """One connection, one thread, one queue."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        memory: Memory,
        ending: Ending,
        *,
        searches: bool,
        expires_after: int | None = None,
    ) -> None:
        self.counts = Counts()
        # Why the last command was given up, until one is carried out.
        self.failure: str | None = None
        self._engine = engine
        self._kind = kind_of(engine.url)
        self._refusals: tuple[type[Exception], ...] = (*self._kind.Error, SQLAlchemyError)
        self._searches = searches
        self._expires_after = expires_after
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        # Commands on conversations that were locked, in order.
        self._held: list[Job] = []
        # What is left to do of removing the traces of what was erased.
        self._scrubbing: Iterator[None] | None = None
        self.memory = memory
        self._ending = ending
        self._connection: Connection | None = None
        self._reachable = True
        # When the last group was begun, while it is carried out.
        self._busy_since: float | None = None
        # When the last connection was asked for, and when the one that was waited for in vain;
        # until there is one.
        self._tried_at = self._lost_at = -inf
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def waiting(self) -> int:
        return self._jobs.qsize()

    def is_stuck(self) -> bool:
        """Whether new commands would wait for too long, or one tries already to reach a database
        that was out of reach."""
        since = self._busy_since
        return since is not None and (self._lost_at > -inf or time.monotonic() - since > STUCK)

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

    def has_ended(self, until: float | None = None) -> bool:
        """Whether it has, where that is not waited for longer."""
        self._thread.join(None if until is None else max(0, until - time.monotonic()))
        return not self._thread.is_alive()

    def _work(self) -> None:
        closing = False
        while not closing:
            group, closing = self._gather()
            self.counts.commands += len(group)
            self._busy_since = time.monotonic()
            try:
                held = {_owner(job) for job in self._held}
                self._carry_out([job for job in group if _owner(job) not in held])
                self._held += (job for job in group if _owner(job) in held)
                self._try_held(closing)
                self._scrub()
                while closing and self._scrubbing and time.monotonic() < self._ending.at:
                    self._scrub()
            except BaseException:
                # A fault of ours. The thread lives on, and nobody waits for ever.
                log.exception("the writer failed")
                self._disconnect()
                held_now, self._held = self._held, []
                deliver([(job, self._give_up("a defect")) for job in (*group, *held_now)])
            self._busy_since = None
            # They may be large, and the next ones may be long in coming.
            group.clear()
        self._disconnect()

    def _gather(self) -> tuple[list[Job], bool]:
        """Wait for a job, then take along all that wait already; True when it is time to end."""
        group: list[Job] = []
        try:
            job = self._jobs.get(timeout=_LOOK if self._held or self._scrubbing else None)
        except Empty:
            return group, False
        while job is not None:
            if job.claim.acquire(blocking=False):
                group.append(job)
            if len(group) == self._kind.GROUP:
                return group, False
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return group, False
        return group, True

    def _carry_out(self, group: list[Job]) -> None:
        wanted = [job for job in group if not job.future.cancelled()]
        # Who waited while the database was tried in vain need not wait as long again.
        lost = [job for job in wanted if job.since <= self._lost_at]
        deliver([(job, self._give_up(self.failure or "")) for job in lost])
        wanted = [job for job in wanted if job.since > self._lost_at]
        # All processes lock conversations in the same order, so they cannot lock each other out.
        jobs = sorted(wanted, key=_owner)
        if not jobs:
            return
        try:
            outcomes = self._transaction(jobs)
        except _Unknown as unknown:
            outcomes = [self._give_up(str(unknown)) for _ in jobs]
        except _GroupFailed as failure:
            log.info("%d commands are tried again alone: %s", len(jobs), failure)
            self._one_by_one(jobs)
            return
        settled = list(zip(jobs, outcomes, strict=True))
        deliver([(job, outcome) for job, outcome in settled if not outcome.postponed])
        self._carry_out([job for job, outcome in settled if outcome.postponed])

    def _one_by_one(self, jobs: list[Job]) -> None:
        self._reachable = True
        locked: set[tuple[str, str]] = set()
        for job in jobs:
            # Where one command waited in vain for the database, the others need not wait as long.
            outcome = self._give_up(self.failure or "") if not self._reachable else None
            if outcome is None and _owner(job) not in locked:
                outcome = self._alone(job)
            if outcome is not None:
                deliver([(job, outcome)])
                continue
            locked.add(_owner(job))
            self._held.append(job)
        if not self._reachable:
            self._lost_at = self._tried_at

    def _try_held(self, closing: bool) -> None:
        """Tries the commands of one conversation that was locked; the others have their turn."""
        if not self._held:
            return
        first = _owner(self._held[0])
        mine = [job for job in self._held if _owner(job) == first]
        self._held = [job for job in self._held if _owner(job) != first]
        self._one_by_one(mine)
        late = inf if closing else time.monotonic() - PATIENCE
        given_up = [job for job in self._held if job.since <= late]
        self._held = [job for job in self._held if job.since > late]
        deliver([(job, self._give_up("the conversation is locked")) for job in given_up])

    def _alone(self, job: Job) -> Outcome | None:
        """What comes of a command by itself; None while its conversation is locked."""
        why = ""
        for pause in PAUSES:
            time.sleep(pause)
            self.counts.retries += 1
            try:
                return self._transaction([job])[0]
            except _GroupFailed as failure:
                why = str(failure)
                if failure.verdict == "locked":
                    return None
                if failure.verdict == "unavailable" or self._is_late(job.since):
                    break
                log.info("a command is tried again: %s", failure)
            except _Unknown as unknown:
                why = str(unknown)
                break
        return self._give_up(why)

    def _scrub(self) -> None:
        """Does a step of it; it is begun again where the connection broke."""
        if self._scrubbing is None:
            return
        try:
            if next(self._scrubbing, self) is self:
                self._scrubbing = None
        except Exception as error:
            log.warning("traces of what was erased are left: %s", reason(error))
            self._scrubbing = None
            self._disconnect()

    def _is_late(self, since: float) -> bool:
        return self._ending.begun or time.monotonic() - since > PATIENCE

    def _give_up(self, why: str) -> Outcome:
        self.counts.unavailable += 1
        self.failure = why
        return Outcome(error=Unavailable.silent(why))

    def _transaction(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Carry out the jobs and commit; nothing of them is in the database when this raises."""
        connection, transaction = self._begin(jobs[0].tenant_id)
        groups: list[Group] = []
        try:
            outcomes = self._groups(connection, groups, jobs)
        except Exception as error:
            # A broken constraint says that what was remembered is not so.
            for job in jobs:
                self.memory.forget(_owner(job))
            return [self._refused(connection, error, alone=len(jobs) == 1)]
        if all(outcome.error is not None for outcome in outcomes):
            self._rollback(connection)
            _remember(groups)
            return outcomes
        number = connection.info[TRANSACTION]
        try:
            transaction.commit()
        except Exception as error:
            self._settle_commit(number, groups, error)
        _remember(groups)
        if self._connection is connection and any(group.erases for group in groups):
            self._scrubbing = self._kind.scrubbing(driver_of(connection))
        self.failure = None
        self.counts.commits += 1
        self.counts.group_sizes[len(jobs)] += 1
        return outcomes

    def _begin(self, tenant_id: str) -> tuple[Connection, RootTransaction]:
        self._tried_at = time.monotonic()
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            self._connection.info[TENANT] = tenant_id
            transaction = self._connection.begin()
        except Exception as error:
            self._reachable = False
            self._fail(error)
        self._reachable = True
        self._lost_at = -inf
        return self._connection, transaction

    def _groups(
        self, connection: Connection, groups: list[Group], jobs: Sequence[Job]
    ) -> list[Outcome]:
        """Carry out the jobs of each tenant; they are in the order of tenants."""
        outcomes: list[Outcome] = []
        for tenant_id, theirs in groupby(jobs, lambda job: job.tenant_id):
            if groups:
                self._kind.act_for(driver_of(connection), tenant_id)
            groups.append(
                Group(
                    connection,
                    tenant_id,
                    self.memory,
                    searches=self._searches,
                    expires_after=self._expires_after,
                )
            )
            outcomes += self._group(connection, groups[-1], list(theirs))
        return outcomes

    def _group(self, connection: Connection, group: Group, jobs: Sequence[Job]) -> list[Outcome]:
        """Load what the commands ask for, let each decide, save what they decided.

        A command decides on the slice with the changes of those before it applied. What it raises
        is its outcome, and there is nothing to undo.
        """
        group.load([job.command for job in jobs])
        outcomes: list[Outcome] = []
        for job in jobs:
            try:
                outcomes.append(Outcome(group.decide(job.command)))
            except Postponed:
                outcomes.append(Outcome(postponed=True))
            except self._refusals:
                raise
            except BaseException as error:
                outcomes.append(Outcome(error=_deliverable(error)))
        with self._kind.together(driver_of(connection)):
            group.save()
        return outcomes

    def _refused(self, connection: Connection, error: Exception, *, alone: bool) -> Outcome:
        """The database refused. Returns what the caller of a lone command may see, if no new try
        may help; a group is tried again one by one."""
        verdict = self._kind.verdict(original(error))
        if verdict != "own" or not alone:
            self._fail(error)
        self._rollback(connection)
        return Outcome(error=_deliverable(error))

    def _settle_commit(self, number: str | None, groups: list[Group], error: Exception) -> None:
        """A COMMIT failed. Returns when it was carried out all the same."""
        self._disconnect()
        since = time.monotonic()
        for pause in PAUSES:
            time.sleep(pause)
            if self._is_late(since):
                break
            try:
                with self._engine.connect() as connection:
                    known = self._kind.committed(driver_of(connection), number or "")
                    if known:
                        told = [group.is_stored(connection) for group in groups]
                        known = True in told or (False if False in told else None)
            except Exception as another:
                log.info("a commit cannot be looked up yet: %s", original(another))
                continue
            if known:
                return
            if known is False:
                self._fail(error)
        raise _Unknown(f"a commit was not answered and cannot be looked up: {reason(error)}")

    def _rollback(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except Exception:
            self._disconnect()

    def _fail(self, error: BaseException) -> NoReturn:
        self._disconnect()
        raise _GroupFailed(reason(error), self._kind.verdict(original(error))) from error

    def _disconnect(self) -> None:
        """Close the connection, and with it what is left of a transaction."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.invalidate()
                connection.close()
            except Exception as error:
                log.info("a connection did not close well: %s", original(error))


def _owner(job: Job) -> tuple[str, str]:
    return job.tenant_id, job.command.conversation_id


def _remember(groups: Sequence[Group]) -> None:
    for group in groups:
        group.remember()


def _deliverable(error: BaseException) -> Exception:
    """Futures take neither StopIteration nor what ends a thread."""
    if not isinstance(error, Exception) or isinstance(error, StopIteration):
        return RuntimeError(f"a command raised {type(error).__name__}")
    return error
