"""A thread that writes: it takes every command that waits and commits them together.

Load, decide, save, commit; only then do the receipts go, failures too. When the transaction fails,
each command of the group is tried again alone, a few times; then its caller hears `Unavailable`. No
command is lost, none is carried out twice: where a COMMIT got no answer, the database is asked what
became of it before anything is repeated.
"""

import logging
import threading
import time
from collections.abc import Sequence
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import NoReturn

from sqlalchemy import Connection, Engine, RootTransaction
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import Unavailable
from app.storage.engines import TENANT, TRANSACTION, driver_of, kind_of, original
from app.storage.groups import Group, Postponed
from app.storage.jobs import Counts, Job, Outcome, deliver
from app.storage.memory import Memory

log = logging.getLogger(__name__)

# Seconds before each new try of a command that runs alone.
PAUSES = (0.0, 0.02, 0.1, 0.3, 1.0)


class _GroupFailed(Exception):
    """The transaction is gone with all it did; nothing of it was committed."""


class _Unknown(Exception):
    """Nobody can say whether the transaction was committed."""


class Writer:
    """One connection, one thread, one queue."""

    def __init__(self, engine: Engine, name: str, memory: Memory, *, searches: bool) -> None:
        self.counts = Counts()
        self._engine = engine
        self._kind = kind_of(engine.url)
        self._refusals: tuple[type[Exception], ...] = (*self._kind.Error, SQLAlchemyError)
        self._searches = searches
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._memory = memory
        self._connection: Connection | None = None
        self._reachable = True
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def waiting(self) -> int:
        return self._jobs.qsize()

    def put(self, job: Job) -> None:
        self._jobs.put(job)

    def close(self) -> None:
        """Carry out what waits, then end."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        closing = False
        while not closing:
            group, closing = self._gather()
            self.counts.commands += len(group)
            try:
                self._carry_out(group)
            except BaseException:
                # A fault of ours. The thread lives on, and nobody waits for ever.
                log.exception("the writer failed")
                self._disconnect()
                deliver([(job, Outcome(error=_unavailable())) for job in group])
        self._disconnect()

    def _gather(self) -> tuple[list[Job], bool]:
        """Wait for a job, then take along all that wait already; True when it is time to end."""
        job = self._jobs.get()
        group: list[Job] = []
        while job is not None:
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
        # All processes lock conversations in the same order, so they cannot lock each other out.
        jobs = sorted(wanted, key=_owner)
        if not jobs:
            return
        try:
            outcomes = self._transaction(jobs)
        except _Unknown:
            outcomes = [self._give_up() for _ in jobs]
        except _GroupFailed as failure:
            log.info("%d commands are tried again alone: %s", len(jobs), failure)
            self._one_by_one(jobs)
            return
        settled = list(zip(jobs, outcomes, strict=True))
        deliver([(job, outcome) for job, outcome in settled if not outcome.postponed])
        self._carry_out([job for job, outcome in settled if outcome.postponed])

    def _one_by_one(self, jobs: list[Job]) -> None:
        self._reachable = True
        for job in jobs:
            # Where one command waited in vain for the database, the others need not wait as long.
            deliver([(job, self._alone(job) if self._reachable else self._give_up())])

    def _alone(self, job: Job) -> Outcome:
        for pause in PAUSES:
            time.sleep(pause)
            self.counts.retries += 1
            try:
                return self._transaction([job])[0]
            except _GroupFailed as failure:
                log.info("a command is tried again: %s", failure)
            except _Unknown:
                break
        return self._give_up()

    def _give_up(self) -> Outcome:
        self.counts.unavailable += 1
        return Outcome(error=_unavailable())

    def _transaction(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Carry out the jobs and commit; nothing of them is in the database when this raises."""
        connection, transaction = self._begin(jobs[0].tenant_id)
        groups: list[Group] = []
        try:
            outcomes = self._groups(connection, groups, jobs)
        except Exception as error:
            # A broken constraint says that what was remembered is not so.
            for job in jobs:
                self._memory.forget(_owner(job))
            return [self._refused(connection, error, alone=len(jobs) == 1)]
        if all(outcome.error is not None for outcome in outcomes):
            self._rollback(connection)
            _remember(groups)
            return outcomes
        number = connection.info[TRANSACTION]
        try:
            transaction.commit()
        except Exception as error:
            self._settle_commit(number, error)
        _remember(groups)
        self.counts.commits += 1
        self.counts.group_sizes[len(jobs)] += 1
        return outcomes

    def _begin(self, tenant_id: str) -> tuple[Connection, RootTransaction]:
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            self._connection.info[TENANT] = tenant_id
            transaction = self._connection.begin()
        except Exception as error:
            self._reachable = False
            self._fail(error)
        self._reachable = True
        return self._connection, transaction

    def _groups(
        self, connection: Connection, groups: list[Group], jobs: Sequence[Job]
    ) -> list[Outcome]:
        """Carry out the jobs of each tenant; they are in the order of tenants."""
        outcomes: list[Outcome] = []
        for tenant_id, theirs in groupby(jobs, lambda job: job.tenant_id):
            if groups:
                self._kind.act_for(driver_of(connection), tenant_id)
            groups.append(Group(connection, tenant_id, self._memory, searches=self._searches))
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
        if verdict == "again" or not alone:
            self._fail(error)
        if verdict == "unavailable":
            log.error("a command failed: %s", original(error))
            self._disconnect()
            return Outcome(error=_unavailable())
        self._rollback(connection)
        return Outcome(error=_deliverable(error))

    def _settle_commit(self, number: str | None, error: Exception) -> None:
        """A COMMIT failed. Returns when it was carried out all the same."""
        self._disconnect()
        for pause in PAUSES:
            time.sleep(pause)
            try:
                with self._engine.connect() as connection:
                    known = self._kind.committed(driver_of(connection), number or "")
            except Exception as another:
                log.info("a commit cannot be looked up yet: %s", original(another))
                continue
            if known:
                return
            if known is False:
                self._fail(error)
        log.error("a commit was not answered and cannot be looked up: %s", original(error))
        raise _Unknown

    def _rollback(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except Exception:
            self._disconnect()

    def _fail(self, error: BaseException) -> NoReturn:
        self._disconnect()
        raise _GroupFailed(str(original(error))) from error

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


def _unavailable() -> Unavailable:
    return Unavailable("The database cannot answer now.")
