"""Conversations may expire, and idempotency keys say how old they are.

Keys that are there count from now on.

Revision 0009, after 0008.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

EXPIRES = sa.text("expires_at IS NOT NULL")


def upgrade() -> None:
    op.add_column("conversations", sa.Column("expires_after", sa.BigInteger()))
    op.add_column("conversations", sa.Column("expires_at", sa.DateTime(timezone=True)))
    op.create_index(
        "ix_conversations_expires",
        "conversations",
        ["tenant_id", "expires_at"],
        sqlite_where=EXPIRES,
        postgresql_where=EXPIRES,
    )
    op.add_column("idempotency_keys", sa.Column("created_at", sa.DateTime(timezone=True)))
    op.execute("UPDATE idempotency_keys SET created_at = CURRENT_TIMESTAMP")
    op.create_index("ix_idempotency_keys_created", "idempotency_keys", ["tenant_id", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_idempotency_keys_created", "idempotency_keys")
    op.drop_column("idempotency_keys", "created_at")
    op.drop_index("ix_conversations_expires", "conversations")
    op.drop_column("conversations", "expires_at")
    op.drop_column("conversations", "expires_after")
