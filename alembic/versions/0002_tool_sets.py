"""Tool definitions of a conversation, every version of them.

Revision 0002, after 0001.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "tool_sets",
        sa.Column("tenant_id", ID, nullable=False),
        sa.Column("conversation_id", ID, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("at_version", sa.BigInteger(), nullable=False),
        sa.Column("provider", sa.LargeBinary(), nullable=False),
        sa.Column("format", sa.LargeBinary(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("definitions", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "conversation_id", "number", name="pk_tool_sets"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.conversation_id"],
            name="fk_tool_sets_conversations",
            ondelete="CASCADE",
        ),
    )


def downgrade() -> None:
    op.drop_table("tool_sets")
