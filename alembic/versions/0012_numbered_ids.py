"""Only ids with a number are in the index of their numbers.

Those of Mistral have none, and were half of it.

Revision 0012, after 0011.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

NAME = "ix_provider_ids_ordinal"
COLUMNS = ["tenant_id", "conversation_id", "target", "ordinal"]
NUMBERED = sa.text("ordinal IS NOT NULL")


def upgrade() -> None:
    op.drop_index(NAME, "provider_ids")
    op.create_index(NAME, "provider_ids", COLUMNS, sqlite_where=NUMBERED, postgresql_where=NUMBERED)


def downgrade() -> None:
    op.drop_index(NAME, "provider_ids")
    op.create_index(NAME, "provider_ids", COLUMNS)
