"""Conversations are found by calls that have no result.

Revision 0011, after 0010.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

NAME = "ix_tool_calls_waiting"


def upgrade() -> None:
    op.create_index(
        NAME,
        "tool_calls",
        ["tenant_id", "conversation_id"],
        sqlite_where=sa.text("answered = 0"),
        postgresql_where=sa.text("NOT answered"),
    )


def downgrade() -> None:
    op.drop_index(NAME, "tool_calls")
