"""What is particular to PostgreSQL. `sqlite.py` has the same parts."""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from math import inf
from typing import Any, NoReturn, cast

import psycopg
from psycopg import generators, sql
from psycopg.errors import Diagnostic
from psycopg.pq import ExecStatus, TransactionStatus
from sqlalchemy import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError

from ..model.errors import Unavailable
from .verdicts import POOLED, Ending, Purpose, Verdict

DRIVER = "postgresql+psycopg"
# The conversations of a group stay locked for other processes until its commit.
GROUP = 64
Error: tuple[type[Exception], ...] = (psycopg.Error, SQLAlchemyError)

# Sent as one message. SET LOCAL, because poolers hand the connection on after each transaction.
# The transaction's number is asked for so that a COMMIT that nothing was heard of can be looked up.
_LIMITS = "SET LOCAL idle_in_transaction_session_timeout = '60s'; SET LOCAL statement_timeout"
# Seconds after which a server that has said nothing at all is given up. One that works ends its
# statements before that; one that is frozen leaves its connections open for ever.
SILENCE: dict[Purpose, float] = {"write": 12, "read": 32, "migrate": inf}
# Seconds after which a commit that waits for its synchronous standby hangs: fewer than those of
# SILENCE, so that the next try finds the commit that was given up.
HANGS = 5.0
# Commits of other roles cannot be seen, those of other programs may wait for more than ours do.
_HANGING = """
SELECT EXISTS (
    SELECT FROM pg_stat_activity
    WHERE wait_event = 'SyncRep'
        AND datname = current_database()
        AND usename = current_user
        AND application_name = current_setting('application_name')
        AND query_start < clock_timestamp() - make_interval(secs => %s)
)
"""
# The writer finds all it reads by index. A planner that knows nothing of the data yet might sort or
# scan a long conversation instead. Of several indexes it takes the one in which it expects to read
# the fewest rows: what a row costs counts, and not which of the pages are in memory.
BY_INDEX = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;"
    " SET LOCAL enable_sort = off; SET LOCAL enable_hashjoin = off;"
    " SET LOCAL enable_mergejoin = off; SET LOCAL cpu_tuple_cost = 1;"
    " SET LOCAL cpu_index_tuple_cost = 1; SET LOCAL random_page_cost = 1; SET LOCAL jit = off"
)
_BEGIN: Mapping[Purpose, str] = {
    "write": f"BEGIN ISOLATION LEVEL READ COMMITTED; {_LIMITS} = '10s'; {BY_INDEX}; {{whose}};"
    # Short, because the other conversations of the group wait too.
    " SET LOCAL lock_timeout = '250ms'; SELECT pg_current_xact_id()::text",
    "read": f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_LIMITS} = '30s'; {{whose}}",
    "migrate": "BEGIN ISOLATION LEVEL READ COMMITTED",
}
_AGAIN = {
    "40001",  # serialization_failure
    "40P01",  # deadlock_detected
    "25P03",  # idle_in_transaction_session_timeout
    "57P01",  # admin_shutdown
    "57P02",  # crash_shutdown
    "57P03",  # cannot_connect_now
    "57P05",  # idle_session_timeout
}
_LOCKED = "55P03"  # lock_not_available
# undefined_table, disk_full, read_only_sql_transaction: a new try finds the same.
_HOPELESS = {"42P01", "53100", "25006"} | POOLED


def connect_args(given: Mapping[str, object], *, prepared: bool) -> dict[str, object]:
    """What the driver is told at connecting; `given` are the options of the URL, which win."""
    ours: dict[str, object] = {
        "application_name": "turnkeep",
        "connect_timeout": 3,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
    }
    chosen = {name: value for name, value in ours.items() if name not in given}
    return {**chosen, "autocommit": True, "prepare_threshold": 5 if prepared else None}


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """Waits for answers, but not for ever, and for that of a COMMIT together with others."""

    purpose: Purpose = "migrate"
    ending = Ending()
    # True if a COMMIT was cancelled while it waited for its standby. The server then answers that
    # it was carried out, but a standby may not have it.
    _is_unconfirmed = False

    def commit(self) -> None:
        """Where statements are sent together, the end of that tells what came of it."""
        if self.pgconn.pipeline_status:
            self.execute(b"COMMIT", prepare=False)
        else:
            super().commit()

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        return super().wait(self._patient(gen), *args, **options)

    def heed(self, notice: Diagnostic) -> None:
        """Notices that a COMMIT was cancelled. The name of the function that says it is the same
        in all languages."""
        self._is_unconfirmed |= notice.source_function == "SyncRepWaitForLSN"

    def _patient(self, gen: Any) -> Generator[Any, Any, Any]:
        """The same generator. It is woken ten times a second while nothing arrives."""
        heard = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready:
                    heard = now
                elif now > min(heard + SILENCE[self.purpose], self.ending.at):
                    self._give_up("the server does not answer")
                wanted = gen.send(ready)
        except StopIteration as end:
            if self._is_unconfirmed:
                self._give_up("the wait of a commit for its synchronous standby was cancelled")
            return end.value

    def _give_up(self, why: str) -> NoReturn:
        """Close the connection, so that nothing waits for it again, and raise the reason. The
        server goes on with what it does: a COMMIT is not cancelled."""
        self.close()
        raise psycopg.OperationalError(why)


def connect(
    purpose: Purpose, ending: Ending, args: tuple[Any, ...], options: dict[str, Any]
) -> DBAPIConnection | None:
    made = Connection.connect(*args, **options)
    made.purpose, made.ending = purpose, ending
    if purpose == "write":
        made.add_notice_handler(made.heed)
        if _commits_hang(made):
            made.close()
            raise Unavailable("A commit waits for its synchronous standby.")
    return cast(DBAPIConnection, made)


def _commits_hang(connection: Connection) -> bool:
    """Looks for an earlier commit of ours that waits for its standby. The next one would wait, too,
    and each try would leave another connection open at the server."""
    row = connection.execute(_HANGING, [HANGS], prepare=False).fetchone()
    return bool(row and row[0])


def watch(url: URL) -> Callable[[], None]:
    """There is no file to be watched."""
    return lambda: None


def unfit(driver: DBAPIConnection, *, unsafe: bool) -> str | None:
    """Why nothing should be stored here; `unsafe`: it need not outlive a crash."""
    query = (
        "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on',"
        " current_setting('fsync') = 'off', current_setting('synchronous_commit') = 'off'"
    )
    row = _psycopg(driver).execute(query, prepare=False).fetchone()
    read_only, no_fsync, no_commit = row or (True, False, False)
    if read_only:
        return "it is read-only"
    if unsafe:
        return None
    for setting, is_off in (("fsync", no_fsync), ("synchronous_commit", no_commit)):
        if is_off:
            return f"{setting} is off, so that a crash loses what was stored"
    if _waits_for_standbys(driver) == "local":
        return (
            "synchronous_commit is local although synchronous_standby_names is set, so that a"
            " failover loses what was stored"
        )
    return None


def caveat(driver: DBAPIConnection) -> str | None:
    """Returns a warning about the durability of a database that is fit, if there is one."""
    if _waits_for_standbys(driver) != "remote_write":
        return None
    # https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT
    return (
        "synchronous_commit is remote_write: acknowledged turns survive a crash of PostgreSQL on"
        " the standby, but not of the standby's operating system"
    )


def _waits_for_standbys(driver: DBAPIConnection) -> str | None:
    """Returns `synchronous_commit`, if there are synchronous standbys."""
    query = (
        "SELECT current_setting('synchronous_commit')"
        " WHERE current_setting('synchronous_standby_names') <> ''"
    )
    row = _psycopg(driver).execute(query, prepare=False).fetchone()
    return str(row[0]) if row else None


def on_connect(driver: DBAPIConnection, purpose: Purpose) -> None:
    """Nothing is set for the session: it may belong to a pooler."""


def begin(driver: DBAPIConnection, purpose: Purpose, tenant_id: str) -> str | None:
    """Begin, and return the transaction's number if it is one that writes.

    Without a cursor, which would take longer than the rest of it.
    """
    connection = _psycopg(driver)
    server = connection.pgconn
    if server.transaction_status == TransactionStatus.ACTIVE:
        # What `end` did not wait for.
        connection.wait(generators.execute(server))
    server.send_query(_beginning(purpose, tenant_id))
    results = connection.wait(generators.execute(server))
    for result in results:
        if result.status == ExecStatus.FATAL_ERROR:
            raise psycopg.errors.error_from_result(result)
    number = results[-1].get_value(0, 0) if purpose == "write" else None
    return number.decode() if number else None


def end(driver: DBAPIConnection) -> None:
    """Ends a transaction that has only read. Nothing depends on what the server says to that:
    whoever begins the next one hears it."""
    _psycopg(driver).pgconn.send_query(b"COMMIT")


def act_for(driver: DBAPIConnection, tenant_id: str) -> None:
    """From here on the transaction sees the rows of this tenant (see the policies of 0014)."""
    _psycopg(driver).execute(_whose(tenant_id).encode(), prepare=False)


def _whose(tenant_id: str) -> str:
    return sql.SQL("SET LOCAL turnkeep.tenant = {}").format(sql.Literal(tenant_id)).as_string()


@lru_cache(maxsize=1_024)
def _beginning(purpose: Purpose, tenant_id: str) -> bytes:
    return _BEGIN[purpose].format(whose=_whose(tenant_id)).encode()


def together(driver: DBAPIConnection) -> AbstractContextManager[object]:
    """Statements without rows are sent one behind the other, without waiting for each answer; a
    COMMIT too."""
    return _psycopg(driver).pipeline()


def is_undone(driver: DBAPIConnection) -> bool:
    """Whether a statement was refused that was sent together with its COMMIT: the server then
    passes over all that came behind it, and says that the transaction is still there and failed."""
    return _psycopg(driver).info.transaction_status == TransactionStatus.INERROR


def scrubbing(driver: DBAPIConnection) -> Iterator[None]:
    """Nothing that we could do: rows are overwritten by VACUUM, which the server runs by itself."""
    return iter(())


def index_fault(driver: DBAPIConnection) -> str | None:
    """PostgreSQL takes care of its indexes."""
    return None


def mend_index(driver: DBAPIConnection) -> bool:
    return False


def rebuild_index(driver: DBAPIConnection) -> None:
    """`REINDEX` is for the owner of the tables."""


def migrated(driver: DBAPIConnection) -> None:
    """Making an index counts the rows of its table. Where there were none, the planner takes any
    index for as good as another, however much is stored afterwards; a table without pages is judged
    by its size again. (Revision 0014 tells the planner how long a conversation can be.)"""
    connection = _psycopg(driver)
    query = (
        "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND reltuples = 0"
        " AND relpages > 0 AND relnamespace = current_schema()::regnamespace"
    )
    for (table,) in connection.execute(query, prepare=False).fetchall():
        # What cannot be done now, autovacuum does later.
        with contextlib.suppress(psycopg.Error):
            connection.execute(f"VACUUM {table}".encode(), prepare=False)


def verdict(error: BaseException) -> Verdict:
    if not isinstance(error, psycopg.Error):
        return "own"
    code = error.sqlstate
    if code == _LOCKED:
        return "locked"
    if code in _HOPELESS:
        return "unavailable"
    lost = code is None and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    # Classes 08 and 53: the connection failed; the server is short of something. 23: a constraint
    # is broken, so another process was first, and what we had read is not so any more.
    if lost or code in _AGAIN or (code or "")[:2] in ("08", "23", "53"):
        return "again"
    return "unavailable" if isinstance(error, psycopg.OperationalError) else "own"


def committed(driver: DBAPIConnection, transaction: str) -> bool | None:
    """What became of a transaction whose COMMIT was not answered; None while nobody can say.

    After a crash the number of one that was lost is free again, and may be another's by now.
    """
    query = "SELECT pg_xact_status(%s::xid8)"
    try:
        row = _psycopg(driver).execute(query, [transaction], prepare=False).fetchone()
    except psycopg.errors.InvalidParameterValue:
        # "in the future": this server has not had it yet.
        return False
    known: dict[object, bool] = {"committed": True, "aborted": False}
    return known.get(row[0]) if row else None


def confirm(driver: DBAPIConnection) -> None:
    """Writes something, so that the COMMIT of this transaction waits for the standbys. Once it is
    answered, they have every earlier commit, too.

    A transaction that has a number but has written nothing does not wait. This one writes a message
    for logical decoding to the write-ahead log; no reader expects it.
    """
    message = "SELECT pg_logical_emit_message(true, 'turnkeep', '')"
    _psycopg(driver).execute(message, prepare=False)


def _psycopg(driver: DBAPIConnection) -> "psycopg.Connection[tuple[object, ...]]":
    return cast("psycopg.Connection[tuple[object, ...]]", driver)
