"""Removing what has expired, a bounded number of rows in each transaction.

A conversation that has expired is absent for everybody, so its rows may go one after the other. Its
head goes last, by a command: the writer knows what else it has to forget.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Table,
    any_,
    bindparam,
    delete,
    func,
    literal_column,
    select,
    text,
    tuple_,
    update,
)

from app.core.ledger.records import PARTS
from app.storage.scope import LIMIT, TENANT, AnySelect, owned
from app.storage.tables import TENANTS_ROWS, conversations, idempotency_keys, search_texts
from app.storage.types import UtcTime

_DIALECTS = ("sqlite", "postgresql")
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


def _some(table: Table, dialect: str, *which: ColumnElement[bool]) -> Delete:
    """Removes some of these rows. On PostgreSQL by the place of each: the planner would look for
    each of them in any index that begins with its conversation."""
    if dialect == "postgresql":
        place: ColumnElement[Any] = literal_column("ctid")
        found = select(place).select_from(table).where(*which).limit(LIMIT).scalar_subquery()
        return delete(table).where(place == any_(func.array(found)))
    key = table.primary_key.columns
    return delete(table).where(tuple_(*key).in_(select(*key).where(*which).limit(LIMIT)))


_ROWS = {
    dialect: {
        part: _some(table, dialect, owned(table))
        for part, table in _PARTS.items()
        if table is not conversations
    }
    for dialect in _DIALECTS
}
_MEND_NUMBERS = (
    update(search_texts).where(owned(search_texts), text("number >= ''")).values(number=None)
)
_OLD_KEYS = {
    dialect: _some(
        idempotency_keys,
        dialect,
        idempotency_keys.c.tenant_id == TENANT,
        idempotency_keys.c.created_at < NOW,
    )
    for dialect in _DIALECTS
}


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
    for part, statement in _ROWS[connection.dialect.name].items():
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
    old_keys = _OLD_KEYS[connection.dialect.name]
    return Counter({idempotency_keys.name: connection.execute(old_keys, values).rowcount})
