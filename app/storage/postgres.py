"""What is particular to PostgreSQL. `sqlite.py` has the same parts."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import cast

import psycopg
from psycopg import sql
from sqlalchemy.engine.interfaces import DBAPIConnection

from app.storage.verdicts import Purpose, Verdict

DRIVER = "postgresql+psycopg"
# The conversations of a group stay locked for other processes until its commit.
GROUP = 64
Error: tuple[type[Exception], ...] = (psycopg.Error,)

# Sent as one message. SET LOCAL, because poolers hand the connection on after each transaction.
# The transaction's number is asked for so that a COMMIT that nothing was heard of can be looked up.
_LIMITS = (
    "SET LOCAL statement_timeout = '30s'; SET LOCAL idle_in_transaction_session_timeout = '60s'"
)
# The writer finds all it reads by index. A planner that knows nothing of the data yet might sort or
# scan a long conversation instead.
BY_INDEX = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;"
    " SET LOCAL enable_sort = off; SET LOCAL enable_hashjoin = off;"
    " SET LOCAL enable_mergejoin = off"
)
_BEGIN: Mapping[Purpose, str] = {
    "write": f"BEGIN ISOLATION LEVEL READ COMMITTED; {_LIMITS}; {BY_INDEX}; {{whose}};"
    " SET LOCAL lock_timeout = '5s'; SELECT pg_current_xact_id()::text",
    "read": f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_LIMITS}; {{whose}}",
    "migrate": "BEGIN ISOLATION LEVEL READ COMMITTED",
}
_AGAIN = {
    "40001",  # serialization_failure
    "40P01",  # deadlock_detected
    "55P03",  # lock_not_available
    "25006",  # read_only_sql_transaction: the server became a standby
    "25P03",  # idle_in_transaction_session_timeout
    "57P01",  # admin_shutdown
    "57P02",  # crash_shutdown
    "57P03",  # cannot_connect_now
    "57P05",  # idle_session_timeout
}
_UNDEFINED_TABLE = "42P01"


def connect_args(given: Mapping[str, object], *, prepared: bool) -> dict[str, object]:
    """What the driver is told at connecting; `given` are the options of the URL, which win."""
    ours: dict[str, object] = {
        "application_name": "turnkeep",
        "connect_timeout": 5,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
    }
    chosen = {name: value for name, value in ours.items() if name not in given}
    return {**chosen, "autocommit": True, "prepare_threshold": 5 if prepared else None}


def on_connect(driver: DBAPIConnection, purpose: Purpose) -> None:
    """Nothing is set for the session: it may belong to a pooler."""


def begin(driver: DBAPIConnection, purpose: Purpose, tenant_id: str) -> str | None:
    """Begin, and return the transaction's number if it is one that writes."""
    cursor = _psycopg(driver).execute(_beginning(purpose, tenant_id), prepare=False)
    if purpose != "write":
        return None
    row = cursor.set_result(-1).fetchone()
    return cast(str, row[0]) if row else None


def act_for(driver: DBAPIConnection, tenant_id: str) -> None:
    """From here on the transaction sees the rows of this tenant (see the policies of 0010)."""
    _psycopg(driver).execute(_whose(tenant_id).encode(), prepare=False)


def _whose(tenant_id: str) -> str:
    return sql.SQL("SET LOCAL turnkeep.tenant = {}").format(sql.Literal(tenant_id)).as_string()


@lru_cache(maxsize=1_024)
def _beginning(purpose: Purpose, tenant_id: str) -> bytes:
    return _BEGIN[purpose].format(whose=_whose(tenant_id)).encode()


def together(driver: DBAPIConnection) -> AbstractContextManager[object]:
    """Statements without rows are sent one behind the other, without waiting for each answer."""
    return _psycopg(driver).pipeline()


def verdict(error: BaseException) -> Verdict:
    if not isinstance(error, psycopg.Error):
        return "own"
    code = error.sqlstate
    lost = code is None and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    # Classes 08 and 53: the connection failed; the server is short of something. 23: a constraint
    # is broken, so another process was first, and what we had read is not so any more.
    if lost or code in _AGAIN or (code or "")[:2] in ("08", "23", "53"):
        return "again"
    if isinstance(error, psycopg.OperationalError) or code == _UNDEFINED_TABLE:
        return "unavailable"
    return "own"


def committed(driver: DBAPIConnection, transaction: str) -> bool | None:
    """What became of a transaction whose COMMIT was not answered; None while nobody can say."""
    query = "SELECT pg_xact_status(%s::xid8)"
    row = _psycopg(driver).execute(query, [transaction], prepare=False).fetchone()
    known: dict[object, bool] = {"committed": True, "aborted": False}
    return known.get(row[0]) if row else None


def _psycopg(driver: DBAPIConnection) -> "psycopg.Connection[tuple[object, ...]]":
    return cast("psycopg.Connection[tuple[object, ...]]", driver)
