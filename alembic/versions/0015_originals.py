"""A turn says how many bytes at the end of its blocks tell how its messages were posted.

Turns that were stored before have none. An earlier release would read these bytes as blocks, so
only a database without them goes back to it.

Revision 0015, after 0014.
"""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TABLES = ("turns", "turn_revisions")
ORIGINALS = """
    SELECT 1 FROM turns WHERE originals > 0
    UNION ALL SELECT 1 FROM turn_revisions WHERE originals > 0
    UNION ALL SELECT 1 FROM turn_pieces WHERE part = 'originals'
"""


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("originals", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    if context.is_offline_mode() or op.get_bind().execute(sa.text(ORIGINALS)).first():
        raise CommandError("an earlier release cannot read these turns: restore a backup instead")
    for table in TABLES:
        op.drop_column(table, "originals")
