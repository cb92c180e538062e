"""The head of a conversation counts its calls that have no result.

A list of conversations need not look at the calls any more.

Revision 0014, after 0013.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

OWNER = ("tenant_id", "conversation_id")
OLD = "ix_tool_calls_waiting"
NEW = "ix_conversations_waiting"
OPEN = sa.text("open_calls > 0")
HEADS = sa.table("conversations", *map(sa.column, OWNER), sa.column("open_calls"))
CALLS = sa.table("tool_calls", *map(sa.column, OWNER), sa.column("answered", sa.Boolean()))
WAITING = sa.not_(CALLS.c.answered)


def upgrade() -> None:
    column = sa.Column("open_calls", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("conversations", column)
    mine = (CALLS.c[name] == HEADS.c[name] for name in OWNER)
    counted = sa.select(sa.func.count()).select_from(CALLS).where(*mine, WAITING)
    heads = sa.tuple_(*(HEADS.c[name] for name in OWNER))
    have_some = sa.select(*(CALLS.c[name] for name in OWNER)).where(WAITING)
    op.execute(
        sa.update(HEADS).where(heads.in_(have_some)).values(open_calls=counted.scalar_subquery())
    )
    columns = [*OWNER, "open_calls"]
    op.create_index(NEW, "conversations", columns, sqlite_where=OPEN, postgresql_where=OPEN)
    op.drop_index(OLD, "tool_calls")


def downgrade() -> None:
    op.create_index(
        OLD,
        "tool_calls",
        [*OWNER],
        sqlite_where=sa.text("answered = 0"),
        postgresql_where=sa.text("NOT answered"),
    )
    op.drop_index(NEW, "conversations")
    op.drop_column("conversations", "open_calls")
