"""Words are indexed after the turns are stored; each conversation says how far that has come.

Revision 0006, after 0005.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BEHIND = sa.text("indexed < version")
# Conversations that are older than the search have no words; they are indexed from their beginning.
FILL = """
UPDATE conversations SET indexed = version WHERE EXISTS (
    SELECT 1 FROM search_texts
    WHERE search_texts.tenant_id = conversations.tenant_id
    AND search_texts.conversation_id = conversations.conversation_id AND part > 0)
"""


def upgrade() -> None:
    op.add_column(
        "conversations",
        sa.Column("indexed", sa.BigInteger(), nullable=False, server_default="0"),
    )
    op.execute(FILL)
    op.create_index(
        "ix_conversations_behind",
        "conversations",
        ["tenant_id", "conversation_id"],
        sqlite_where=BEHIND,
        postgresql_where=BEHIND,
    )


def downgrade() -> None:
    op.drop_index("ix_conversations_behind", "conversations")
    op.drop_column("conversations", "indexed")
