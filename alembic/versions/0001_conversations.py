"""Conversations, turns, the ledger, the mapping table, idempotency keys.

Revision 0001, the first.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

UNCOUNTED = {
    "turns": "seq turn_id",
    "tool_calls": "call_id seq call_index raw_sha256 normalized_sha256 answered",
    "tool_results": "seq place call_id raw_sha256 normalized_sha256",
    "provider_ids": "call_id target provider_sha256 ordinal",
    "idempotency_keys": "key_sha256",
}
PASSING_ROWS = """
INSERT INTO conversations SELECT n, n, '', '', 0, '', 0, now(), now() FROM sample;
INSERT INTO turns
    SELECT n, n, n, n, 'ai', '', '', '', '', '', '', sha256('a'), sha256('b'), now() FROM sample;
INSERT INTO tool_calls
    SELECT n, n, n, n, n % 2, n, '', '', '', '', hash, hash, n % 2 = 0 FROM sample;
INSERT INTO tool_results
    SELECT n, n, n, n % 2, n, '', hash, hash, '', 'ok', nullif(n % 8, 0), 'raw', false FROM sample;
INSERT INTO provider_ids
    SELECT n, n, n, CASE n % 2 WHEN 0 THEN 'kimi' ELSE 'mistral' END, '', hash, n FROM sample;
INSERT INTO idempotency_keys SELECT n, n, hash, hash, 201, '' FROM sample;
"""


def upgrade() -> None:
    op.create_table(
        "conversations",
        *owner(),
        sa.Column("title", sa.LargeBinary()),
        sa.Column("metadata", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("head_hash", sa.LargeBinary(), nullable=False),
        sa.Column("orphans", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "conversation_id", name="pk_conversations"),
    )
    create_turns()
    create_tool_calls()
    create_tool_results()
    create_provider_ids()
    op.create_table(
        "idempotency_keys",
        *owner(),
        sa.Column("key_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("body_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("answer", sa.LargeBinary()),
        key("idempotency_keys", "key_sha256"),
        of_conversation("idempotency_keys"),
    )
    if op.get_context().dialect.name == "postgresql":
        teach_postgresql()


def teach_postgresql() -> None:
    """Tell the planner of PostgreSQL that one conversation can be long.

    Knowing nothing of a table, or seeing mostly short conversations, it takes any index that
    begins with the conversation for as good as the right one, and reads all of a long one. So it
    is told how many rows a conversation may have, and not to count the other columns: an id that
    every conversation has once is rare in each. What it is told takes effect with ANALYZE, which
    learns nothing from an empty table: so there are rows for a moment.
    """
    for table, columns in UNCOUNTED.items():
        op.execute(f"ALTER TABLE {table} ALTER tenant_id SET (n_distinct = 1)")
        op.execute(f"ALTER TABLE {table} ALTER conversation_id SET (n_distinct = 1000)")
        for column in columns.split():
            op.execute(f"ALTER TABLE {table} ALTER {column} SET STATISTICS 0")
    op.execute(
        "CREATE TEMPORARY TABLE sample ON COMMIT DROP AS"
        " SELECT n, sha256(int4send(n)) AS hash FROM generate_series(1, 400) AS n"
    )
    op.execute(PASSING_ROWS)
    op.execute(f"ANALYZE {', '.join(UNCOUNTED)}")
    op.execute("DELETE FROM conversations")


def create_turns() -> None:
    op.create_table(
        "turns",
        *owner(),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("turn_id", ID, nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("provider", sa.LargeBinary(), nullable=False),
        sa.Column("format", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.LargeBinary()),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("blocks", sa.LargeBinary(), nullable=False),
        sa.Column("metadata", sa.LargeBinary(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        key("turns", "seq"),
        sa.UniqueConstraint("tenant_id", "conversation_id", "turn_id", name="uq_turns_turn_id"),
        of_conversation("turns"),
    )


def create_tool_calls() -> None:
    op.create_table(
        "tool_calls",
        *owner(),
        sa.Column("call_id", ID, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("call_index", sa.Integer(), nullable=False),
        sa.Column("turn_id", ID, nullable=False),
        sa.Column("provider", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.LargeBinary()),
        sa.Column("name", sa.LargeBinary(), nullable=False),
        sa.Column("raw_id", sa.LargeBinary()),
        sa.Column("raw_sha256", sa.LargeBinary()),
        sa.Column("normalized_sha256", sa.LargeBinary()),
        sa.Column("answered", sa.Boolean(), nullable=False),
        key("tool_calls", "call_id"),
        sa.UniqueConstraint(
            "tenant_id", "conversation_id", "seq", "call_index", name="uq_tool_calls_place"
        ),
        of_conversation("tool_calls"),
    )
    index("ix_tool_calls_raw", "tool_calls", "raw_sha256", "answered", "seq", "call_index")
    index(
        "ix_tool_calls_normalized",
        "tool_calls",
        "normalized_sha256",
        "answered",
        "seq",
        "call_index",
    )
    index("ix_tool_calls_open", "tool_calls", "answered", "seq", "call_index")


def create_tool_results() -> None:
    op.create_table(
        "tool_results",
        *owner(),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("turn_id", ID, nullable=False),
        sa.Column("raw_id", sa.LargeBinary()),
        sa.Column("raw_sha256", sa.LargeBinary()),
        sa.Column("normalized_sha256", sa.LargeBinary()),
        sa.Column("name", sa.LargeBinary()),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("call_id", ID),
        sa.Column("matched_by", sa.Text(), nullable=False),
        sa.Column("repeat", sa.Boolean(), nullable=False),
        key("tool_results", "seq", "place"),
        of_conversation("tool_results"),
    )
    index("ix_tool_results_call", "tool_results", "call_id", where="call_id IS NOT NULL")
    for name in ("raw", "normalized"):
        index(
            f"ix_tool_results_waiting_{name}",
            "tool_results",
            f"{name}_sha256",
            where=f"call_id IS NULL AND {name}_sha256 IS NOT NULL",
        )


def create_provider_ids() -> None:
    op.create_table(
        "provider_ids",
        *owner(),
        sa.Column("call_id", ID, nullable=False),
        sa.Column("target", ID, nullable=False),
        sa.Column("provider_id", sa.LargeBinary(), nullable=False),
        sa.Column("provider_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("ordinal", sa.BigInteger()),
        key("provider_ids", "call_id", "target"),
        sa.UniqueConstraint(
            "tenant_id",
            "conversation_id",
            "provider_sha256",
            "target",
            name="uq_provider_ids_provider_id",
        ),
        of_conversation("provider_ids"),
    )
    index("ix_provider_ids_ordinal", "provider_ids", "target", "ordinal")


def owner() -> tuple[sa.Column[str], sa.Column[str]]:
    return (
        sa.Column("tenant_id", ID, nullable=False),
        sa.Column("conversation_id", ID, nullable=False),
    )


def key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint("tenant_id", "conversation_id", *columns, name=f"pk_{table}")


def of_conversation(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant_id", "conversation_id"],
        ["conversations.tenant_id", "conversations.conversation_id"],
        name=f"fk_{table}_conversations",
        ondelete="CASCADE",
    )


def index(name: str, table: str, *columns: str, where: str | None = None) -> None:
    only = {"sqlite_where": sa.text(where), "postgresql_where": sa.text(where)} if where else {}
    op.create_index(name, table, ["tenant_id", "conversation_id", *columns], **only)


def downgrade() -> None:
    for table in (
        "idempotency_keys",
        "provider_ids",
        "tool_results",
        "tool_calls",
        "turns",
        "conversations",
    ):
        op.drop_table(table)
