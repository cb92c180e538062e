"""Turns are stored compressed (`app/storage/packing.py`); those that are there stay as they are.

PostgreSQL need not try to compress them again. An earlier release cannot read them: whoever goes
back to one gets them unpacked.

Revision 0007, after 0006.
"""

from collections.abc import Callable, Sequence

import sqlalchemy as sa
from alembic import context, op

from app.storage.packing import unpacked, unpacked_piece

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

OWNER = ("tenant_id", "conversation_id")
BOTH = ("payload", "blocks")
PIECE = (*OWNER, "seq", "revision", "part", "place")
Unpack = Callable[..., tuple[bytes, ...]]
PACKED: Sequence[tuple[str, Sequence[str], Sequence[str], Unpack]] = (
    ("turns", (*OWNER, "seq"), BOTH, unpacked),
    ("turn_revisions", (*OWNER, "number"), BOTH, unpacked),
    ("turn_pieces", PIECE, ("data",), lambda data: (unpacked_piece(data),)),
)


def upgrade() -> None:
    store("EXTERNAL")


def downgrade() -> None:
    store("EXTENDED")
    if not context.is_offline_mode():
        for table, key, names, unpack in PACKED:
            rewrite(table, key, names, unpack)


def store(how: str) -> None:
    if op.get_context().dialect.name == "postgresql":
        for table, _, names, _ in PACKED:
            for name in names:
                op.execute(f"ALTER TABLE {table} ALTER COLUMN {name} SET STORAGE {how}")


def rewrite(name: str, key: Sequence[str], names: Sequence[str], unpack: Unpack) -> None:
    """One row after the other: each may be long."""
    table = sa.table(name, *map(sa.column, (*key, *names)))
    for row in op.get_bind().execute(sa.select(*(table.c[one] for one in key))).all():
        mine = [table.c[one] == value for one, value in zip(key, row, strict=True)]
        held = op.get_bind().execute(sa.select(*(table.c[one] for one in names)).where(*mine)).one()
        found = unpack(*held)
        if found != tuple(held):
            changed = dict(zip(names, found, strict=True))
            op.get_bind().execute(sa.update(table).where(*mine).values(changed))
