"""Removing what has expired, a bounded number of rows in each transaction.

A conversation that has expired is absent for everybody, so its rows may go one after the other. The
turns go after all other rows, so that the number of turns says whether anything is left. The head
goes last, by a command: the writer knows what else it has to forget.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Table,
    bindparam,
    delete,
    func,
    literal_column,
    select,
    text,
    tuple_,
    update,
)

from ..ledger.records import PARTS
from .scope import LIMIT, TENANT, AnySelect, owned
from .tables import (
    OWNER,
    TENANTS_ROWS,
    conversations,
    idempotency_keys,
    search_texts,
    tool_calls,
    turns,
)
from .types import UtcTime

# Seconds between two steps. Others write in between: on SQLite whoever waits for the file
# looks again after 0.1 seconds at the latest.
BREATH = 0.11


NOW = bindparam("now", type_=UtcTime)
EXPIRED = (conversations.c.tenant_id == TENANT, conversations.c.expires_at <= NOW)
_OLDEST = (
    select(conversations.c.conversation_id)
    .where(*EXPIRED)
    .order_by(conversations.c.expires_at)
    .limit(1)
)
_STILL = select(func.count()).where(owned(conversations), *EXPIRED)
_LOCK: AnySelect = (
    select(literal_column("1"))
    .select_from(conversations)
    .where(owned(conversations))
    .with_for_update()
)
_PARTS = {table.name.removeprefix("turn_"): table for table in reversed(TENANTS_ROWS)}
_COUNTED = select(
    *(
        select(func.count()).where(owned(_PARTS[part])).scalar_subquery().label(part)
        for part in PARTS
    )
)


def _first(table: Table, key: Sequence[ColumnElement[Any]], *which: ColumnElement[bool]) -> Delete:
    """Removes the first of these rows in the order of the key, up to the last of them.

    A row is never named by its `ctid`, which is unique in one partition only. Nor are keys joined
    with the table (`key IN (SELECT …)`): where PostgreSQL expects one row and there are thousands,
    it reads all of them for each key.
    """
    first = select(*key).where(*which).order_by(*key).limit(LIMIT).subquery()
    last = select(*first.c).order_by(*(column.desc() for column in first.c)).limit(1)
    return delete(table).where(*which, tuple_(*key) <= last.scalar_subquery())


def _key(table: Table) -> list[ColumnElement[Any]]:
    """Columns that tell the rows of one conversation apart, in the order of an index."""
    if table is tool_calls:
        # The conversation comes last in the primary key of calls.
        return [tool_calls.c.seq, tool_calls.c.call_index]
    return [column for column in table.primary_key.columns if column.name not in OWNER]


_ROWS = {
    part: _first(table, _key(table), owned(table))
    for part, table in sorted(_PARTS.items(), key=lambda item: item[1] is turns)
    if table is not conversations
}
_MEND_NUMBERS = (
    update(search_texts).where(owned(search_texts), text("number >= ''")).values(number=None)
)
_OLD_KEYS = _first(
    idempotency_keys,
    [idempotency_keys.c.created_at, *idempotency_keys.primary_key.columns],
    idempotency_keys.c.tenant_id == TENANT,
    idempotency_keys.c.created_at < NOW,
)


def count_parts(connection: Connection, tenant_id: str, cid: str) -> Counter[str]:
    """How many of the `PARTS` a conversation has. None of them is read."""
    row = connection.execute(_COUNTED, {"tenant": tenant_id, "conversation": cid}).one()
    return Counter(row._asdict())


def oldest(connection: Connection, tenant_id: str, now: datetime) -> str | None:
    """The conversation that expired first."""
    found: str | None = connection.execute(_OLDEST, {"tenant": tenant_id, "now": now}).scalar()
    return found


def remove_rows(
    connection: Connection, tenant_id: str, cid: str, now: datetime, most: int
) -> Counter[str]:
    """Removes rows of a conversation that has expired, but not its head; by part, how many."""
    owner = {"tenant": tenant_id, "conversation": cid}
    connection.execute(_LOCK, owner).all()
    mend_numbers(connection, owner)
    removed: Counter[str] = Counter()
    if not connection.execute(_STILL, owner | {"now": now}).scalar():
        return removed
    for part, statement in _ROWS.items():
        if (left := most - removed.total()) > 0:
            removed[part] += connection.execute(statement, owner | {"most": left}).rowcount
    return removed


def mend_numbers(connection: Connection, owner: Mapping[str, str]) -> None:
    """Takes away what cannot be a number of SQLite's full-text index, which would refuse to let the
    words go; such values come behind all numbers, so that an index finds them."""
    if connection.dialect.name == "sqlite":
        connection.execute(_MEND_NUMBERS, owner)


def remove_keys(
    connection: Connection, tenant_id: str, before: datetime, most: int
) -> Counter[str]:
    values = {"tenant": tenant_id, "now": before, "most": most}
    return Counter({idempotency_keys.name: connection.execute(_OLD_KEYS, values).rowcount})
