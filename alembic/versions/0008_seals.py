"""Seals: what the chain of turns does not hold has hashes too, so that a change of it shows.

Each head and each receipt under an idempotency key gets a seal, tool sets are chained, and the head
says where their chain ends. Rows that are there are sealed as they stand.

Revision 0008, after 0007.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import context, op

from app.core.ledger.records import ConversationRecord, ToolSetRecord
from app.core.ledger.seals import head_seal, key_seal, tool_set_hash
from app.storage.types import AnyText, UtcTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ADDED = (
    ("conversations", "tools_hash"),
    ("conversations", "seal"),
    ("tool_sets", "hash"),
    ("idempotency_keys", "seal"),
)
OWNER = ("tenant_id", "conversation_id")
TYPES: Mapping[str, Any] = {
    "title": AnyText(),
    "provider": AnyText(),
    "format": AnyText(),
    "created_at": UtcTime(),
    "updated_at": UtcTime(),
}
HEAD = [
    *("conversation_id", "title", "metadata", "version", "head_hash", "orphans"),
    *("created_at", "updated_at"),
    *("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"),
    *("indexed", "tools_hash"),
]
TOOL_SET = ["number", "at_version", "provider", "format", "payload", "definitions", "created_at"]
KEY = ["key_sha256", "body_sha256", "status", "answer"]
# Rows that are held at once.
PIECE = 500


def upgrade() -> None:
    for table, column in ADDED:
        op.add_column(table, sa.Column(column, sa.LargeBinary()))
    # SQL that is only printed reads no rows.
    if not context.is_offline_mode():
        fill(op.get_bind())


def downgrade() -> None:
    for table, column in reversed(ADDED):
        op.drop_column(table, column)


def fill(connection: sa.Connection) -> None:
    """Seals what is stored."""
    connection.execute(sa.text("UPDATE conversations SET tools_hash = :none"), {"none": b""})
    ends = tools_chained(connection)
    if ends:
        table = light("conversations", "tools_hash")
        save(connection, table, ("tools_hash",), (), ends)

    def head(row: Sequence[Any]) -> bytes:
        return head_seal(row[0], ConversationRecord(*row[1:]))

    def key(row: Sequence[Any]) -> bytes:
        return key_seal(*row)

    sealed(connection, "conversations", ("tenant_id", *HEAD), (), head)
    sealed(connection, "idempotency_keys", (*OWNER, *KEY), ("key_sha256",), key)


def light(name: str, *columns: str) -> sa.TableClause:
    names = dict.fromkeys((*OWNER, *columns))
    return sa.table(name, *(sa.column(one, TYPES.get(one)) for one in names))


def tools_chained(connection: sa.Connection) -> list[tuple[bytes, Any, Any]]:
    """Chains the tool sets; gives the end of each chain with its conversation."""
    table = light("tool_sets", *TOOL_SET, "hash")
    columns = [table.c[name] for name in (*OWNER, *TOOL_SET)]
    order = [table.c[name] for name in (*OWNER, "number")]
    rows = connection.execute(sa.select(*columns).order_by(*order)).all()
    ends: list[tuple[bytes, Any, Any]] = []
    for (tenant, cid), of_one in groupby(rows, key=lambda row: tuple(row[:2])):
        last = b""
        links: list[tuple[Any, ...]] = []
        for row in of_one:
            last = tool_set_hash(last, ToolSetRecord(*row[2:]))
            links.append((last, tenant, cid, row[2]))
        save(connection, table, ("hash",), ("number",), links)
        ends.append((last, tenant, cid))
    return ends


def sealed(
    connection: sa.Connection,
    name: str,
    columns: Sequence[str],
    more_key: Sequence[str],
    seal: Callable[[Sequence[Any]], bytes],
) -> None:
    """Seals every row of a table."""
    table = light(name, *columns, "seal")
    for rows in pieces(connection, table, columns, (*OWNER, *more_key)):
        places = [columns.index(one) for one in (*OWNER, *more_key)]
        values = [(seal(row), *(row[at] for at in places)) for row in rows]
        save(connection, table, ("seal",), more_key, values)


def pieces(
    connection: sa.Connection, table: sa.TableClause, columns: Sequence[str], key: Sequence[str]
) -> Iterator[Sequence[Sequence[Any]]]:
    order = [table.c[name] for name in key]
    statement = sa.select(*(table.c[name] for name in columns)).order_by(*order).limit(PIECE)
    rows = connection.execute(statement).all()
    while rows:
        yield rows
        last = [rows[-1][columns.index(name)] for name in key]
        behind = sa.tuple_(*order) > sa.tuple_(*map(sa.literal, last))
        rows = connection.execute(statement.where(behind)).all()


def save(
    connection: sa.Connection,
    table: sa.TableClause,
    columns: Sequence[str],
    more_key: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Writes values into rows; each comes with its key behind it."""
    key = [f"the_{name}" for name in (*OWNER, *more_key)]
    same = (
        table.c[one] == sa.bindparam(f"the_{one}", type_=table.c[one].type)
        for one in (*OWNER, *more_key)
    )
    new = {one: sa.bindparam(f"new_{one}", type_=sa.LargeBinary()) for one in columns}
    names = [*(f"new_{one}" for one in columns), *key]
    statement = sa.update(table).where(*same).values(new)
    connection.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])
