"""All tables as release 0.1.0 has them.

`app/database/tables.py` says what each column means. Like every migration this one imports nothing
of the program: it builds the same tables whatever the program becomes.

Revision 0014, the first: the revisions before it were never released.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014"
down_revision = None
branch_labels = None
depends_on = None

BYTES = sa.LargeBinary()
# Text that may hold NUL or lone surrogates, as bytes.
ANY_TEXT = BYTES
ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger()
TIME = sa.DateTime(timezone=True)
WORDS = sa.Text().with_variant(postgresql.TSVECTOR(), "postgresql")

TENANT = "tenant_id"
OWNER = ("tenant_id", "conversation_id")
# All tables but `api_keys`, each after the ones that it refers to.
TENANT_TABLES = (
    *("conversations", "turns", "turn_revisions", "turn_pieces", "tool_calls", "tool_results"),
    *("provider_ids", "idempotency_keys", "tool_sets", "conversation_facets", "search_texts"),
)


def upgrade() -> None:
    create_conversations()
    create_turns()
    create_tool_calls()
    create_tool_results()
    create_provider_ids()
    create_idempotency_keys()
    create_tool_sets()
    create_facets()
    create_search_texts()
    create_api_keys()
    if on_postgresql():
        store_compressed_columns()
        separate_tenants()
        prepare_planner()


def downgrade() -> None:
    if not on_postgresql():
        op.drop_table("search_words")
    for table in ("api_keys", *reversed(TENANT_TABLES)):
        op.drop_table(table)


def create_conversations() -> None:
    op.create_table(
        "conversations",
        *owner(),
        sa.Column("title", ANY_TEXT),
        required("metadata", BYTES),
        required("version", NUMBER),
        required("head_hash", BYTES),
        required("orphans", NUMBER),
        required("created_at", TIME),
        required("updated_at", TIME),
        count("input_tokens"),
        count("output_tokens"),
        count("cached_tokens"),
        count("reasoning_tokens"),
        count("indexed"),
        sa.Column("tools_hash", BYTES),
        sa.Column("seal", BYTES),
        sa.Column("expires_after", NUMBER),
        sa.Column("expires_at", TIME),
        count("open_calls"),
        sa.PrimaryKeyConstraint(*OWNER, name="pk_conversations"),
    )
    index("ix_conversations_updated", "conversations", TENANT, "updated_at", "conversation_id")
    index("ix_conversations_behind", "conversations", *OWNER, where="indexed < version")
    index(
        "ix_conversations_expires",
        "conversations",
        *(TENANT, "expires_at"),
        where="expires_at IS NOT NULL",
    )
    index(
        "ix_conversations_waiting",
        "conversations",
        *(*OWNER, "open_calls"),
        where="open_calls > 0",
    )


def create_turns() -> None:
    create_table(
        "turns",
        required("seq", NUMBER),
        required("turn_id", ID),
        required("speaker", sa.Text()),
        required("provider", ANY_TEXT),
        required("format", ANY_TEXT),
        sa.Column("model", ANY_TEXT),
        required("payload", BYTES),
        required("blocks", BYTES),
        required("metadata", BYTES),
        required("content_hash", BYTES),
        required("hash", BYTES),
        required("created_at", TIME),
        sa.Column("status", sa.Text(), nullable=False, server_default="complete"),
        sa.Column("response_sha256", BYTES),
        key=(*OWNER, "seq"),
    )
    index("ix_turns_turn_id", "turns", TENANT, "turn_id", "conversation_id", unique=True)
    index("ix_turns_interrupted", "turns", *OWNER, "seq", where="status = 'interrupted'")
    create_table(
        "turn_revisions",
        required("number", NUMBER),
        required("seq", NUMBER),
        required("at_version", NUMBER),
        required("format", ANY_TEXT),
        sa.Column("model", ANY_TEXT),
        required("payload", BYTES),
        required("blocks", BYTES),
        required("metadata", BYTES),
        required("content_hash", BYTES),
        required("hash", BYTES),
        required("created_at", TIME),
        required("status", sa.Text()),
        sa.Column("response_sha256", BYTES),
        sa.UniqueConstraint(*OWNER, "seq", "number", name="uq_turn_revisions_seq"),
        key=(*OWNER, "number"),
    )
    for table in ("turns", "turn_revisions"):
        index(
            f"ix_{table}_response",
            table,
            *(TENANT, "response_sha256"),
            where="response_sha256 IS NOT NULL",
        )
    create_table(
        "turn_pieces",
        required("seq", NUMBER),
        required("revision", NUMBER),
        required("part", ID),
        required("place", NUMBER),
        required("data", BYTES),
        key=(*OWNER, "seq", "revision", "part", "place"),
    )


def create_tool_calls() -> None:
    create_table(
        "tool_calls",
        required("call_id", ID),
        required("seq", NUMBER),
        required("call_index", sa.Integer()),
        required("turn_id", ID),
        required("provider", ANY_TEXT),
        sa.Column("model", ANY_TEXT),
        required("name", ANY_TEXT),
        sa.Column("raw_id", ANY_TEXT),
        sa.Column("raw_sha256", BYTES),
        sa.Column("normalized_sha256", BYTES),
        required("answered", sa.Boolean()),
        sa.UniqueConstraint(*OWNER, "seq", "call_index", name="uq_tool_calls_place"),
        key=(TENANT, "call_id", "conversation_id"),
    )
    newest_open = ("answered", "seq", "call_index")
    raw = (TENANT, "raw_sha256", "conversation_id")
    index("ix_tool_calls_raw", "tool_calls", *raw, *newest_open)
    index("ix_tool_calls_normalized", "tool_calls", *OWNER, "normalized_sha256", *newest_open)
    index("ix_tool_calls_open", "tool_calls", *OWNER, *newest_open)


def create_tool_results() -> None:
    create_table(
        "tool_results",
        required("seq", NUMBER),
        required("place", sa.Integer()),
        required("turn_id", ID),
        sa.Column("raw_id", ANY_TEXT),
        sa.Column("raw_sha256", BYTES),
        sa.Column("normalized_sha256", BYTES),
        sa.Column("name", ANY_TEXT),
        required("status", sa.Text()),
        sa.Column("call_id", ID),
        required("matched_by", sa.Text()),
        required("repeat", sa.Boolean()),
        key=(*OWNER, "seq", "place"),
    )
    index(
        "ix_tool_results_call",
        "tool_results",
        *(*OWNER, "call_id"),
        where="call_id IS NOT NULL",
    )
    index(
        "ix_tool_results_waiting_raw",
        "tool_results",
        *(TENANT, "raw_sha256", "conversation_id"),
        where="call_id IS NULL AND raw_sha256 IS NOT NULL",
    )
    index(
        "ix_tool_results_waiting_normalized",
        "tool_results",
        *(*OWNER, "normalized_sha256"),
        where="call_id IS NULL AND normalized_sha256 IS NOT NULL",
    )


def create_provider_ids() -> None:
    create_table(
        "provider_ids",
        required("call_id", ID),
        required("target", ID),
        required("provider_id", ANY_TEXT),
        required("provider_sha256", BYTES),
        sa.Column("ordinal", NUMBER),
        sa.UniqueConstraint(
            *(TENANT, "provider_sha256", "conversation_id", "target"),
            name="uq_provider_ids_provider_id",
        ),
        key=(*OWNER, "call_id", "target"),
    )
    index(
        "ix_provider_ids_ordinal",
        "provider_ids",
        *(*OWNER, "target", "ordinal"),
        where="ordinal IS NOT NULL",
    )


def create_idempotency_keys() -> None:
    create_table(
        "idempotency_keys",
        required("key_sha256", BYTES),
        required("body_sha256", BYTES),
        sa.Column("status", sa.Integer()),
        sa.Column("answer", BYTES),
        sa.Column("seal", BYTES),
        sa.Column("created_at", TIME),
        key=(*OWNER, "key_sha256"),
    )
    index("ix_idempotency_keys_created", "idempotency_keys", TENANT, "created_at")


def create_tool_sets() -> None:
    create_table(
        "tool_sets",
        required("number", NUMBER),
        required("at_version", NUMBER),
        required("provider", ANY_TEXT),
        required("format", ANY_TEXT),
        required("payload", BYTES),
        required("definitions", BYTES),
        required("created_at", TIME),
        sa.Column("hash", BYTES),
        key=(*OWNER, "number"),
    )


def create_facets() -> None:
    create_table(
        "conversation_facets",
        required("kind", ID),
        required("value_sha256", BYTES),
        key=(*OWNER, "kind", "value_sha256"),
        # The key holds every column: a table with row ids would store them twice.
        sqlite_with_rowid=False,
    )
    index(
        "ix_conversation_facets_value",
        "conversation_facets",
        *(TENANT, "kind", "value_sha256", "conversation_id"),
    )


def create_search_texts() -> None:
    create_table(
        "search_texts",
        required("part", NUMBER),
        required("words", WORDS),
        sa.Column("number", NUMBER),
        key=(*OWNER, "part"),
    )
    if on_postgresql():
        op.execute("CREATE INDEX ix_search_texts_words ON search_texts USING gin (words)")
        return
    index("ix_search_texts_number", "search_texts", "number", *OWNER, "part")
    op.execute(
        "CREATE VIRTUAL TABLE search_words USING fts5("
        " words, content='search_texts', content_rowid='number',"
        " tokenize=\"ascii tokenchars '_'\", detail=none, columnsize=0)"
    )
    op.execute(
        "CREATE TRIGGER search_texts_inserted AFTER INSERT ON search_texts BEGIN"
        " INSERT INTO search_words (rowid, words) VALUES (new.number, new.words); END"
    )
    op.execute(
        "CREATE TRIGGER search_texts_deleted AFTER DELETE ON search_texts BEGIN"
        " INSERT INTO search_words (search_words, rowid, words)"
        " VALUES ('delete', old.number, old.words); END"
    )


def create_api_keys() -> None:
    op.create_table(
        "api_keys",
        required("key_id", ID),
        required("tenant_id", ID),
        required("name", ANY_TEXT),
        required("secret_sha256", BYTES),
        required("scopes", ID),
        required("prefix", ID),
        required("created_at", TIME),
        sa.Column("expires_at", TIME),
        sa.Column("revoked_at", TIME),
        sa.Column("requests", NUMBER),
        sa.Column("body_bytes", NUMBER),
        sa.Column("conversations", NUMBER),
        sa.Column("seal", BYTES),
        sa.PrimaryKeyConstraint("key_id", name="pk_api_keys"),
    )


def store_compressed_columns() -> None:
    """The program compresses these columns, so PostgreSQL need not try again."""
    for table, column in (
        ("turns", "payload"),
        ("turns", "blocks"),
        ("turn_revisions", "payload"),
        ("turn_revisions", "blocks"),
        ("turn_pieces", "data"),
    ):
        op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def separate_tenants() -> None:
    """Shows each tenant its own rows only.

    Policies do not bind the owner of a table: `turnkeep migrate` runs as the owner, `turnkeep
    serve` as another role (`turnkeep migrate --grant ROLE`).
    """
    for table in TENANT_TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON {table}"
            " USING (tenant_id = current_setting('turnkeep.tenant', true))"
        )


# Columns without statistics, by table.
UNCOUNTED = {
    "turns": "seq turn_id",
    "tool_calls": "call_id seq call_index raw_sha256 normalized_sha256 answered",
    "tool_results": "seq place call_id raw_sha256 normalized_sha256",
    "provider_ids": "call_id target provider_sha256 ordinal",
    "idempotency_keys": "key_sha256",
}
SAMPLE_ROWS = """
INSERT INTO conversations
    (tenant_id, conversation_id, metadata, version, head_hash, orphans, created_at, updated_at)
    SELECT n, n, '', 0, '', 0, now(), now() FROM sample;
INSERT INTO turns
    (tenant_id, conversation_id, seq, turn_id, speaker, provider, format, payload, blocks, metadata,
     content_hash, hash, created_at)
    SELECT n, n, n, n, 'ai', '', '', '', '', '', sha256('a'), sha256('b'), now() FROM sample;
INSERT INTO tool_calls
    (tenant_id, conversation_id, call_id, seq, call_index, turn_id, provider, name, raw_sha256,
     normalized_sha256, answered)
    SELECT n, n, n, n, n % 2, n, '', '', hash, hash, n % 2 = 0 FROM sample;
INSERT INTO tool_results
    (tenant_id, conversation_id, seq, place, turn_id, raw_sha256, normalized_sha256, status,
     call_id, matched_by, repeat)
    SELECT n, n, n, n % 2, n, hash, hash, 'ok', nullif(n % 8, 0), 'raw', false FROM sample;
INSERT INTO provider_ids
    (tenant_id, conversation_id, call_id, target, provider_id, provider_sha256, ordinal)
    SELECT n, n, n, CASE n % 2 WHEN 0 THEN 'kimi' ELSE 'mistral' END, '', hash, n FROM sample;
INSERT INTO idempotency_keys (tenant_id, conversation_id, key_sha256, body_sha256, status, answer)
    SELECT n, n, hash, hash, 201, '' FROM sample;
"""


def prepare_planner() -> None:
    """Tells the planner of PostgreSQL that one conversation can be long.

    Without statistics, or with those of short conversations, it takes any index that begins with
    the conversation to be as good as the right one, and reads all of a long conversation. So it is
    given the number of rows that a conversation may have, and no statistics of the other columns:
    an id that occurs once in every conversation is rare in each. The numbers take effect with
    ANALYZE, which learns nothing from an empty table: so there are sample rows for a moment. They
    come last, because creating an index resets the row count of an empty table.
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
    op.execute(SAMPLE_ROWS)
    # The sample keys have no `created_at`, and statistics would say that no key ever has one.
    op.execute(
        "ANALYZE turns, tool_calls, tool_results, provider_ids,"
        " idempotency_keys (tenant_id, conversation_id)"
    )
    op.execute("DELETE FROM conversations")


def create_table(
    name: str, *columns: sa.schema.SchemaItem, key: tuple[str, ...], **options: bool
) -> None:
    """Creates a table whose rows belong to a conversation and are deleted with it."""
    op.create_table(
        name,
        *owner(),
        *columns,
        sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"),
        sa.ForeignKeyConstraint(
            OWNER,
            [f"conversations.{column}" for column in OWNER],
            name=f"fk_{name}_conversations",
            ondelete="CASCADE",
        ),
        **options,
    )


def owner() -> tuple[sa.Column[Any], sa.Column[Any]]:
    return required("tenant_id", ID), required("conversation_id", ID)


def required(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def count(name: str) -> sa.Column[int]:
    return sa.Column(name, NUMBER, nullable=False, server_default="0")


def index(
    name: str, table: str, *columns: str, where: str | None = None, unique: bool = False
) -> None:
    only = {"sqlite_where": sa.text(where), "postgresql_where": sa.text(where)} if where else {}
    op.create_index(name, table, columns, unique=unique, **only)


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
