"""The tables, equal to what the migrations build (a test compares them on both databases).

`tenant_id` leads every key and every index, and every key holds `conversation_id`, so that tables
can be sharded. `conversation_id` comes next, so that the rows of a conversation live together, but
where an id is to be found in whatever conversation it stands: there it comes behind the id, and one
index serves both questions. Payloads, hashes and texts from outside are bytes; texts without a
length limit are indexed by their sha256 (PostgreSQL refuses index entries beyond 2.7 KB).
"""

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    event,
    text,
)

from app.storage.fulltext import DEFINITIONS, SEARCHED_WORDS
from app.storage.types import AnyText, IdText, UtcTime

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_2_name)s",
        "ix": "ix_%(table_name)s_%(column_2_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

_OWNER = ("tenant_id", "conversation_id")


def _owner() -> tuple[Column[str], Column[str]]:
    return (
        Column("tenant_id", IdText, nullable=False),
        Column("conversation_id", IdText, nullable=False),
    )


def _of_conversation() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        _OWNER,
        ["conversations.tenant_id", "conversations.conversation_id"],
        ondelete="CASCADE",
    )


conversations = Table(
    "conversations",
    metadata,
    *_owner(),
    Column("title", AnyText),
    Column("metadata", LargeBinary, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("head_hash", LargeBinary, nullable=False),
    Column("orphans", BigInteger, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    # What all responses took together.
    *(
        Column(f"{kind}_tokens", BigInteger, nullable=False, server_default="0")
        for kind in ("input", "output", "cached", "reasoning")
    ),
    # The turns up to this one are indexed.
    Column("indexed", BigInteger, nullable=False, server_default="0"),
    # The end of the chain of tool sets, and the seal of this row (`core.ledger.seals`).
    Column("tools_hash", LargeBinary),
    Column("seal", LargeBinary),
    # Seconds after the last turn, and when that is; NULL: never.
    Column("expires_after", BigInteger),
    Column("expires_at", UtcTime),
    PrimaryKeyConstraint(*_OWNER),
    Index("ix_conversations_updated", "tenant_id", "updated_at", "conversation_id"),
    Index(
        "ix_conversations_behind",
        "tenant_id",
        "conversation_id",
        sqlite_where=text("indexed < version"),
        postgresql_where=text("indexed < version"),
    ),
    Index(
        "ix_conversations_expires",
        "tenant_id",
        "expires_at",
        sqlite_where=text("expires_at IS NOT NULL"),
        postgresql_where=text("expires_at IS NOT NULL"),
    ),
)

turns = Table(
    "turns",
    metadata,
    *_owner(),
    Column("seq", BigInteger, nullable=False),
    Column("turn_id", IdText, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("provider", AnyText, nullable=False),
    Column("format", AnyText, nullable=False),
    Column("model", AnyText),
    Column("payload", LargeBinary, nullable=False),
    Column("blocks", LargeBinary, nullable=False),
    Column("metadata", LargeBinary, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("status", Text, nullable=False, server_default="complete"),
    Column("response_sha256", LargeBinary),
    PrimaryKeyConstraint(*_OWNER, "seq"),
    _of_conversation(),
)

Index(
    "ix_turns_interrupted",
    *(turns.c[name] for name in (*_OWNER, "seq")),
    sqlite_where=text("status = 'interrupted'"),
    postgresql_where=text("status = 'interrupted'"),
)

# Later versions of interrupted turns. The turn itself stays as it was posted.
turn_revisions = Table(
    "turn_revisions",
    metadata,
    *_owner(),
    Column("number", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("at_version", BigInteger, nullable=False),
    Column("format", AnyText, nullable=False),
    Column("model", AnyText),
    Column("payload", LargeBinary, nullable=False),
    Column("blocks", LargeBinary, nullable=False),
    Column("metadata", LargeBinary, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("status", Text, nullable=False),
    Column("response_sha256", LargeBinary),
    PrimaryKeyConstraint(*_OWNER, "number"),
    UniqueConstraint(*_OWNER, "seq", "number", name="uq_turn_revisions_seq"),
    _of_conversation(),
)
# The id that the provider gave to its response is known in these.
for _table in (turns, turn_revisions):
    Index(
        f"ix_{_table.name}_response",
        _table.c.tenant_id,
        _table.c.response_sha256,
        sqlite_where=text("response_sha256 IS NOT NULL"),
        postgresql_where=text("response_sha256 IS NOT NULL"),
    )
Index(
    "ix_turns_turn_id",
    *(turns.c[name] for name in ("tenant_id", "turn_id", "conversation_id")),
    unique=True,
)

# What is long is not in the row of its turn (or of its revision, from 1), but here, in pieces.
turn_pieces = Table(
    "turn_pieces",
    metadata,
    *_owner(),
    Column("seq", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("part", IdText, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*_OWNER, "seq", "revision", "part", "place"),
    _of_conversation(),
)

# PostgreSQL need not compress again what is packed.
for _table, _names in (
    (turns, "payload blocks"),
    (turn_revisions, "payload blocks"),
    (turn_pieces, "data"),
):
    for _name in _names.split():
        _statement = f"ALTER TABLE {_table.name} ALTER COLUMN {_name} SET STORAGE EXTERNAL"
        _beside = DDL(_statement).execute_if(dialect="postgresql")  # type: ignore[no-untyped-call]
        event.listen(_table, "after_create", _beside)

tool_calls = Table(
    "tool_calls",
    metadata,
    *_owner(),
    Column("call_id", IdText, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("call_index", Integer, nullable=False),
    Column("turn_id", IdText, nullable=False),
    Column("provider", AnyText, nullable=False),
    Column("model", AnyText),
    Column("name", AnyText, nullable=False),
    Column("raw_id", AnyText),
    Column("raw_sha256", LargeBinary),
    Column("normalized_sha256", LargeBinary),
    Column("answered", Boolean, nullable=False),
    PrimaryKeyConstraint("tenant_id", "call_id", "conversation_id"),
    UniqueConstraint(*_OWNER, "seq", "call_index", name="uq_tool_calls_place"),
    _of_conversation(),
)
Index(
    "ix_tool_calls_raw",
    *(
        tool_calls.c[name]
        for name in (
            "tenant_id",
            "raw_sha256",
            "conversation_id",
            "answered",
            "seq",
            "call_index",
        )
    ),
)
Index(
    "ix_tool_calls_normalized",
    *(
        tool_calls.c[name]
        for name in (*_OWNER, "normalized_sha256", "answered", "seq", "call_index")
    ),
)
Index(
    "ix_tool_calls_open",
    *(tool_calls.c[name] for name in (*_OWNER, "answered", "seq", "call_index")),
)

# The conversations with calls that wait for a result.
Index(
    "ix_tool_calls_waiting",
    *(tool_calls.c[name] for name in _OWNER),
    sqlite_where=text("answered = 0"),
    postgresql_where=text("NOT answered"),
)

tool_results = Table(
    "tool_results",
    metadata,
    *_owner(),
    Column("seq", BigInteger, nullable=False),
    Column("place", Integer, nullable=False),
    Column("turn_id", IdText, nullable=False),
    Column("raw_id", AnyText),
    Column("raw_sha256", LargeBinary),
    Column("normalized_sha256", LargeBinary),
    Column("name", AnyText),
    Column("status", Text, nullable=False),
    Column("call_id", IdText),
    Column("matched_by", Text, nullable=False),
    Column("repeat", Boolean, nullable=False),
    PrimaryKeyConstraint(*_OWNER, "seq", "place"),
    _of_conversation(),
)
# Results with a call, and those that wait for one: each index serves only its own questions.
for _name, _columns, _when in (
    ("ix_tool_results_call", (*_OWNER, "call_id"), "call_id IS NOT NULL"),
    (
        "ix_tool_results_waiting_raw",
        ("tenant_id", "raw_sha256", "conversation_id"),
        "call_id IS NULL AND raw_sha256 IS NOT NULL",
    ),
    (
        "ix_tool_results_waiting_normalized",
        (*_OWNER, "normalized_sha256"),
        "call_id IS NULL AND normalized_sha256 IS NOT NULL",
    ),
):
    Index(
        _name,
        *(tool_results.c[name] for name in _columns),
        sqlite_where=text(_when),
        postgresql_where=text(_when),
    )

provider_ids = Table(
    "provider_ids",
    metadata,
    *_owner(),
    Column("call_id", IdText, nullable=False),
    Column("target", IdText, nullable=False),
    Column("provider_id", AnyText, nullable=False),
    Column("provider_sha256", LargeBinary, nullable=False),
    Column("ordinal", BigInteger),
    PrimaryKeyConstraint(*_OWNER, "call_id", "target"),
    # The target comes last, so that one probe finds an id whichever target showed it.
    UniqueConstraint(
        "tenant_id",
        "provider_sha256",
        "conversation_id",
        "target",
        name="uq_provider_ids_provider_id",
    ),
    _of_conversation(),
)
Index("ix_provider_ids_ordinal", *(provider_ids.c[name] for name in (*_OWNER, "target", "ordinal")))

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    *_owner(),
    Column("key_sha256", LargeBinary, nullable=False),
    Column("body_sha256", LargeBinary, nullable=False),
    Column("status", Integer),
    Column("answer", LargeBinary),
    Column("seal", LargeBinary),
    Column("created_at", UtcTime),
    PrimaryKeyConstraint(*_OWNER, "key_sha256"),
    Index("ix_idempotency_keys_created", "tenant_id", "created_at"),
    _of_conversation(),
)

tool_sets = Table(
    "tool_sets",
    metadata,
    *_owner(),
    Column("number", BigInteger, nullable=False),
    Column("at_version", BigInteger, nullable=False),
    Column("provider", AnyText, nullable=False),
    Column("format", AnyText, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("definitions", LargeBinary, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("hash", LargeBinary),
    PrimaryKeyConstraint(*_OWNER, "number"),
    _of_conversation(),
)

# What conversations are found by, one row for each that a conversation has.
conversation_facets = Table(
    "conversation_facets",
    metadata,
    *_owner(),
    Column("kind", IdText, nullable=False),
    Column("value_sha256", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*_OWNER, "kind", "value_sha256"),
    Index("ix_conversation_facets_value", "tenant_id", "kind", "value_sha256", "conversation_id"),
    _of_conversation(),
    # It is all key, which SQLite would hold a second time.
    sqlite_with_rowid=False,
)

# The words of each turn, by its seq; at 0 those of the title, at -1 those of the conversation's id,
# at -2 those of its metadata. `number` is for SQLite's index alone and empty elsewhere.
search_texts = Table(
    "search_texts",
    metadata,
    *_owner(),
    Column("part", BigInteger, nullable=False),
    Column("words", SEARCHED_WORDS, nullable=False),
    Column("number", BigInteger),
    PrimaryKeyConstraint(*_OWNER, "part"),
    _of_conversation(),
)
# Who may ask. Not a tenant's rows: the key says which tenant it is.
api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", IdText, nullable=False),
    Column("tenant_id", IdText, nullable=False),
    Column("name", AnyText, nullable=False),
    Column("secret_sha256", LargeBinary, nullable=False),
    # The names of its scopes, with spaces between them.
    Column("scopes", IdText, nullable=False),
    Column("prefix", IdText, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime),
    Column("revoked_at", UtcTime),
    *(Column(name, BigInteger) for name in ("requests", "body_bytes", "conversations")),
    PrimaryKeyConstraint("key_id"),
)
# On PostgreSQL these rows are seen by their tenant alone, unless the owner of the tables asks.
TENANTS_ROWS = tuple(table for table in metadata.sorted_tables if table is not api_keys)
_POLICY = """
ALTER TABLE {0} ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {0} USING (tenant_id = current_setting('turnkeep.tenant', true))
"""
for _table in TENANTS_ROWS:
    _policy = DDL(_POLICY.format(_table.name))  # type: ignore[no-untyped-call]
    event.listen(_table, "after_create", _policy.execute_if(dialect="postgresql"))

for _dialect, _statements in DEFINITIONS.items():
    for _statement in _statements:
        _beside = DDL(_statement).execute_if(dialect=_dialect)  # type: ignore[no-untyped-call]
        event.listen(search_texts, "after_create", _beside)
