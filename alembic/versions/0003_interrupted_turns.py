"""Interrupted turns, the versions that complete them, and long turns in pieces.

Revision 0003, after 0002.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "turns", sa.Column("status", sa.Text(), nullable=False, server_default="complete")
    )
    op.create_index(
        "ix_turns_interrupted",
        "turns",
        ["tenant_id", "conversation_id", "seq"],
        sqlite_where=sa.text("status = 'interrupted'"),
        postgresql_where=sa.text("status = 'interrupted'"),
    )
    op.create_table(
        "turn_revisions",
        sa.Column("tenant_id", ID, nullable=False),
        sa.Column("conversation_id", ID, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at_version", sa.BigInteger(), nullable=False),
        sa.Column("format", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.LargeBinary()),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("blocks", sa.LargeBinary(), nullable=False),
        sa.Column("metadata", sa.LargeBinary(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "conversation_id", "number", name="pk_turn_revisions"),
        sa.UniqueConstraint(
            "tenant_id", "conversation_id", "seq", "number", name="uq_turn_revisions_seq"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.conversation_id"],
            name="fk_turn_revisions_conversations",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "turn_pieces",
        sa.Column("tenant_id", ID, nullable=False),
        sa.Column("conversation_id", ID, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("part", ID, nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant_id",
            "conversation_id",
            "seq",
            "revision",
            "part",
            "place",
            name="pk_turn_pieces",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.conversation_id"],
            name="fk_turn_pieces_conversations",
            ondelete="CASCADE",
        ),
    )


def downgrade() -> None:
    # What was interrupted and what completed it would be lost without a word.
    op.drop_table("turn_pieces")
    op.drop_table("turn_revisions")
    op.drop_index("ix_turns_interrupted", "turns")
    with op.batch_alter_table("turns") as turns:
        turns.drop_column("status")
