"""A turn says how many bytes at the end of its blocks tell how its messages were posted.

Turns that were stored before have none. An earlier release reads the whole value as blocks, so
going back removes these bytes. They are part of the hash of their turn: `verify` names each such
turn afterwards (HASH_MISMATCH), in either release.

Revision 0015, after 0014.
"""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

from app.storage.packing import packed, unpacked

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

OWNER = ("tenant_id", "conversation_id")
TABLES = {"turns": "seq", "turn_revisions": "number"}


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("originals", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    if context.is_offline_mode():
        raise CommandError("going back needs the database itself: turns must be packed anew")
    op.execute("DELETE FROM turn_pieces WHERE part = 'originals'")
    for table, number in TABLES.items():
        remove_originals(table, (*OWNER, number))
        op.drop_column(table, "originals")


def remove_originals(name: str, names: tuple[str, ...]) -> None:
    """Packs the turns of a table without what follows their blocks, one row at a time."""
    table = sa.table(name, *map(sa.column, (*names, "payload", "blocks", "originals")))
    key = [table.c[one] for one in names]
    content = sa.select(table.c.payload, table.c.blocks, table.c.originals)
    connection = op.get_bind()
    for row in connection.execute(sa.select(*key).where(table.c.originals > 0)).all():
        mine = [column == value for column, value in zip(key, row, strict=True)]
        payload, blocks, originals = connection.execute(content.where(*mine)).one()
        payload, blocks = unpacked(payload, blocks)
        payload, blocks = packed(payload, blocks[:-originals])
        changed = {"payload": payload, "blocks": blocks}
        connection.execute(sa.update(table).where(*mine).values(changed))
