"""One transaction for a group of commands: load, decide, save, commit.

It keeps one connection. Where a COMMIT got no answer, the database is asked what became of it. What
it says is true of that server only. A PostgreSQL with a synchronous standby shows a transaction as
committed once its backend was terminated while it waited for the standby, or the server was
restarted; after a failover it is gone (PostgreSQL, "Planning for High Availability" under
synchronous replication). The standby has it when a later commit was answered, so there is one
before the caller gets a receipt.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf
from typing import NoReturn

from sqlalchemy import Connection, Engine, RootTransaction

from ..ledger.slice import Custom
from ..model.errors import Unavailable
from .engines import (
    TENANT,
    TRANSACTION,
    connected,
    discard,
    driver_of,
    kind_of,
    original,
    reason,
    rebuild_index,
)
from .groups import Group
from .jobs import Counts, Job, Outcome
from .memory import Memory
from .verdicts import Ending, Verdict

log = logging.getLogger(__name__)

# Seconds before each new try, and those after which nothing is tried again.
PAUSES = (0.0, 0.02, 0.1, 0.3, 1.0)
PATIENCE = 10.0


class GroupFailed(Exception):
    """The transaction is gone with all it did; nothing of it was committed."""

    def __init__(self, why: Unavailable, verdict: Verdict) -> None:
        super().__init__(why.reason)
        self.why = why
        self.verdict = verdict


class Unknown(Exception):
    """It is not known whether the transaction was committed, or whether it outlives a failover."""

    def __init__(self, why: Unavailable) -> None:
        super().__init__(why.reason)
        self.why = why


class Transactions:
    """Transactions of one writer, one at a time."""

    def __init__(
        self,
        engine: Engine,
        memory: Memory,
        ending: Ending,
        custom: Custom,
    ) -> None:
        self.counts = Counts()
        self.memory = memory
        # Whether the database could be reached when a transaction was begun last, and when that
        # was; since when it was waited for in vain, until there is a connection.
        self.reachable = True
        self.tried_at = self.lost_at = -inf
        self._engine = engine
        self._kind = kind_of(engine.url)
        self._ending = ending
        self._custom = custom
        # Whether traces of what was erased are left, and what is left to do on this connection.
        self._erased = False
        self._scrubbing: Iterator[None] | None = None
        self._connection: Connection | None = None

    @property
    def most(self) -> int:
        """Commands of a group."""
        return self._kind.GROUP

    @property
    def scrubs(self) -> bool:
        """Whether traces of what was erased are left."""
        return self._erased and self._connection is not None

    def carry_out(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Carry out the jobs and commit. When this raises, nothing of them is in the database; with
        `Unknown` nobody knows."""
        connection, transaction = self._begin(jobs[0].tenant_id)
        driver, number = driver_of(connection), connection.info[TRANSACTION]
        groups: list[Group] = []
        outcomes: list[Outcome] = []
        commits = False
        try:
            # The jobs are in the order of their tenants.
            for tenant_id, theirs in groupby(jobs, lambda job: job.tenant_id):
                groups.append(Group(connection, tenant_id, self.memory, self._custom))
                outcomes += groups[-1].decide([job.command for job in theirs])
            if any(outcome.error is None for outcome in outcomes):
                with self._kind.together(driver):
                    for group in groups:
                        group.save()
                    commits = True
                    transaction.commit()
        except Exception as error:
            if not commits or self._kind.is_undone(driver):
                # A broken constraint says that what was remembered is not so.
                for job in jobs:
                    self.memory.forget(job.owner)
                return [self._refused(error, alone=len(jobs) == 1)]
            self._settle_commit(number, groups, error)
        for group in groups:
            group.remember()
        if not commits:
            self._rollback(connection)
            return outcomes
        if any(group.erases for group in groups):
            self._erased, self._scrubbing = True, None
        self.counts.commits += 1
        return outcomes

    def _begin(self, tenant_id: str) -> tuple[Connection, RootTransaction]:
        self.tried_at = time.monotonic()
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            self._connection.info[TENANT] = tenant_id
            transaction = self._connection.begin()
        except Exception as error:
            self.reachable = False
            self._fail(error)
        self.reachable = True
        self.lost_at = -inf
        return self._connection, transaction

    def _refused(self, error: Exception, *, alone: bool) -> Outcome:
        """The database refused. Returns what the caller of a lone command may see, if no new try
        may help; a group is tried again one by one."""
        verdict = self._kind.verdict(original(error))
        if verdict != "own" or not alone:
            self._fail(error)
        self.disconnect()
        return Outcome.failed(error)

    def _settle_commit(self, number: str | None, groups: Sequence[Group], error: Exception) -> None:
        """A COMMIT failed. Returns when it was carried out all the same."""
        self.disconnect()
        since = time.monotonic()
        why = Unavailable.silent(
            f"a commit was not answered and cannot be looked up: {reason(error)}"
        )
        for pause in PAUSES:
            time.sleep(pause)
            if self.is_late(since):
                break
            try:
                is_stored = self._is_stored(number, groups)
            except Exception as another:
                log.info("a commit cannot be looked up yet: %s", reason(another))
                why = another if isinstance(another, Unavailable) else why
                continue
            if is_stored:
                return
            if is_stored is False:
                self._fail(error)
        raise Unknown(why)

    def _is_stored(self, number: str | None, groups: Sequence[Group]) -> bool | None:
        """True if a transaction was committed and the standbys have it; None while that is unknown.

        The rows are looked for even if the server says that it was not committed: the coordinator
        of several servers (Citus) may not know what one of them has committed.
        """
        with connected(self._engine) as connection:
            driver = driver_of(connection)
            committed = self._kind.committed(driver, number or "")
            if committed is None:
                return None
            transaction = connection.begin()
            stored = {group.is_stored(connection) for group in groups}
            if True in stored:
                self._kind.confirm(driver)
                transaction.commit()
                return True
            return False if False in stored or not committed else None

    def _rollback(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except Exception:
            self.disconnect()

    def _fail(self, error: BaseException) -> NoReturn:
        self.disconnect()
        if isinstance(error, Unavailable):
            raise GroupFailed(error, "unavailable") from error
        verdict = self._kind.verdict(original(error))
        if verdict == "index":
            verdict = self._rebuild_index(error)
        raise GroupFailed(Unavailable.silent(reason(error)), verdict) from error

    def _rebuild_index(self, broken: BaseException) -> Verdict:
        """Rebuilds the full-text index, without which no words can be stored or erased. Returns
        what to do with the commands that met it."""
        log.warning("the full-text index is broken and is rebuilt: %s", reason(broken))
        try:
            rebuild_index(self._engine)
        except Exception as error:
            log.warning("the full-text index cannot be rebuilt: %s", reason(error))
            return self._kind.verdict(original(error))
        return "again"

    def disconnect(self) -> None:
        """Close the connection, and with it what is left of a transaction."""
        connection, self._connection = self._connection, None
        self._scrubbing = None
        if connection is not None:
            try:
                discard(connection)
            except Exception as error:
                log.info("a connection did not close well: %s", original(error))

    def scrub(self, *, to_its_end: bool = False) -> None:
        """Does a step of removing traces, or as many as there is time for; it is begun again where
        the connection broke."""
        while self._erased and self._connection is not None:
            try:
                if self._scrubbing is None:
                    self._scrubbing = self._kind.scrubbing(driver_of(self._connection))
                if next(self._scrubbing, self) is self:
                    self._erased, self._scrubbing = False, None
            except Exception as error:
                log.warning("traces of what was erased are left: %s", reason(error))
                self._erased = False
                self.disconnect()
            if not to_its_end or time.monotonic() >= self._ending.at:
                break

    def is_late(self, since: float) -> bool:
        """Whether what has failed since then is not tried again."""
        return self._ending.begun or time.monotonic() - since > PATIENCE
