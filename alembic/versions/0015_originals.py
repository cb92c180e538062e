"""A turn says how many bytes at the end of its blocks tell how its messages were posted.

Turns that were stored before have none.

Revision 0015, after 0014.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("turns", "turn_revisions"):
        op.add_column(table, sa.Column("originals", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    for table in ("turns", "turn_revisions"):
        op.drop_column(table, "originals")
