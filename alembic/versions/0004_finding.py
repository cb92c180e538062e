"""What conversations are found by: when they changed, facets, and the words that were said.

The tables begin empty; `turnkeep reindex` fills them for conversations that are there already.

Revision 0004, after 0003.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WORDS = sa.Text().with_variant(postgresql.TSVECTOR(), "postgresql")
FULL_TEXT = {
    "sqlite": (
        """CREATE INDEX ix_search_texts_number
        ON search_texts (number, tenant_id, conversation_id, part)""",
        """CREATE VIRTUAL TABLE search_words USING fts5(
        words, content='search_texts', content_rowid='number',
        tokenize="ascii tokenchars '_'", detail=none, columnsize=0)""",
        """CREATE TRIGGER search_texts_inserted AFTER INSERT ON search_texts BEGIN
        INSERT INTO search_words (rowid, words) VALUES (new.number, new.words); END""",
        """CREATE TRIGGER search_texts_deleted AFTER DELETE ON search_texts BEGIN
        INSERT INTO search_words (search_words, rowid, words)
        VALUES ('delete', old.number, old.words); END""",
    ),
    "postgresql": ("CREATE INDEX ix_search_texts_words ON search_texts USING gin (words)",),
}


def upgrade() -> None:
    op.create_index(
        "ix_conversations_updated",
        "conversations",
        ["tenant_id", "updated_at", "conversation_id"],
    )
    op.create_table(
        "conversation_facets",
        *owner(),
        sa.Column("kind", ID, nullable=False),
        sa.Column("value_sha256", sa.LargeBinary(), nullable=False),
        key("conversation_facets", "kind", "value_sha256"),
        of_conversation("conversation_facets"),
    )
    op.create_index(
        "ix_conversation_facets_value",
        "conversation_facets",
        ["tenant_id", "kind", "value_sha256", "conversation_id"],
    )
    op.create_table(
        "search_texts",
        *owner(),
        sa.Column("part", sa.BigInteger(), nullable=False),
        sa.Column("words", WORDS, nullable=False),
        sa.Column("number", sa.BigInteger()),
        key("search_texts", "part"),
        of_conversation("search_texts"),
    )
    for statement in FULL_TEXT[op.get_context().dialect.name]:
        op.execute(statement)


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


def downgrade() -> None:
    if op.get_context().dialect.name == "sqlite":
        op.drop_table("search_words")
    op.drop_table("search_texts")
    op.drop_table("conversation_facets")
    op.drop_index("ix_conversations_updated", "conversations")
