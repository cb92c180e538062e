"""An index finds the newest turn of a provider that names its model.

A replay that names no model is for the model of that turn.

Revision 0016, after 0015.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

NAME = "ix_turns_model"
ROWS = sa.text("speaker = 'ai' AND (length(model) > 0 OR status = 'interrupted')")


def upgrade() -> None:
    columns = ["tenant_id", "conversation_id", "provider", "seq"]
    op.create_index(NAME, "turns", columns, sqlite_where=ROWS, postgresql_where=ROWS)


def downgrade() -> None:
    op.drop_index(NAME, "turns")
