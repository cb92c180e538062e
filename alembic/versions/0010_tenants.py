"""API keys, and on PostgreSQL a second wall between tenants: rows that only their tenant sees.

Policies do not bind the owner of a table. `turnkeep migrate` runs as the owner, `turnkeep serve` as
another role (`turnkeep migrate --grant ROLE`).

Revision 0010, after 0009.
"""

import sqlalchemy as sa
from alembic import op

from app.storage.types import AnyText, IdText, UtcTime

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = (
    *("conversations", "turns", "turn_revisions", "turn_pieces", "tool_calls", "tool_results"),
    *("provider_ids", "idempotency_keys", "tool_sets", "conversation_facets", "search_texts"),
)
WHOSE = "tenant_id = current_setting('turnkeep.tenant', true)"


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("key_id", IdText, nullable=False),
        sa.Column("tenant_id", IdText, nullable=False),
        sa.Column("name", AnyText, nullable=False),
        sa.Column("secret_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", IdText, nullable=False),
        sa.Column("prefix", IdText, nullable=False),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.Column("expires_at", UtcTime),
        sa.Column("revoked_at", UtcTime),
        *(sa.Column(name, sa.BigInteger()) for name in ("requests", "body_bytes", "conversations")),
        sa.PrimaryKeyConstraint("key_id", name="pk_api_keys"),
    )
    if op.get_context().dialect.name == "postgresql":
        for table in TABLES:
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"CREATE POLICY tenant ON {table} USING ({WHOSE})")


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        for table in TABLES:
            op.execute(f"DROP POLICY tenant ON {table}")
            op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    op.drop_table("api_keys")
