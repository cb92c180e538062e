"""The tables, equal to what the migrations build (a test compares them on both databases).

`tenant_id` leads every key and every index, and every key holds `conversation_id`, so that tables
can be sharded. `conversation_id` comes next, so that the rows of a conversation live together, but
where an id is to be found in whatever conversation it stands: there it comes behind the id, and one
index serves both questions. Payloads, hashes and texts from outside are bytes; texts without a
length limit are indexed by their sha256 (PostgreSQL refuses index entries beyond 2.7 KB).

`doc` says what a column means, `about` what a table is for, `asked` which question an index
answers: docs/schema.md is written from them.
"""

from collections.abc import Iterator
from typing import Any

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

from .fulltext import DEFINITIONS, SEARCHED_WORDS
from .types import AnyText, IdText, UtcTime

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_2_name)s",
        "ix": "ix_%(table_name)s_%(column_2_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

OWNER = ("tenant_id", "conversation_id")


def _owner() -> tuple[Column[str], Column[str]]:
    return (
        Column("tenant_id", IdText, nullable=False, doc="whose row it is"),
        Column("conversation_id", IdText, nullable=False, doc="its conversation"),
    )


def _of_conversation() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        OWNER,
        ["conversations.tenant_id", "conversations.conversation_id"],
        ondelete="CASCADE",
    )


def _said() -> Iterator[Column[Any]]:
    """What a turn and a later version of it have in common."""
    yield Column("format", AnyText, nullable=False, doc="the shape in which it was posted")
    yield Column("model", AnyText, doc="the model, where it is known")
    packed = "what was posted, packed behind the blocks"
    yield Column("payload", LargeBinary, nullable=False, doc=packed)
    yield Column("blocks", LargeBinary, nullable=False, doc="the neutral form, packed")
    said = "of the caller and of the response, as JSON"
    yield Column("metadata", LargeBinary, nullable=False, doc=said)
    yield Column("content_hash", LargeBinary, nullable=False, doc="by which a retry is known")


_ORIGINALS = "bytes at the end of the blocks that say how messages were posted; NULL: none"


def _asked(question: str, where: str | None = None) -> dict[str, Any]:
    """What an index is for, and which rows it has."""
    rows = None if where is None else text(where)
    found = {} if rows is None else {"sqlite_where": rows, "postgresql_where": rows}
    return {"info": {"asked": question}, **found}


conversations = Table(
    "conversations",
    metadata,
    *_owner(),
    Column("title", AnyText, doc="for people"),
    Column("metadata", LargeBinary, nullable=False, doc="an object of the caller's, as JSON"),
    Column("version", BigInteger, nullable=False, doc="the number of turns"),
    Column("head_hash", LargeBinary, nullable=False, doc="the last hash of the chain"),
    Column("orphans", BigInteger, nullable=False, doc="results that wait for a call"),
    Column("created_at", UtcTime, nullable=False, doc="when it was stored"),
    Column("updated_at", UtcTime, nullable=False, doc="when it was changed last"),
    *(
        Column(
            f"{kind}_tokens",
            BigInteger,
            nullable=False,
            server_default="0",
            doc="of all responses together",
        )
        for kind in ("input", "output", "cached", "reasoning")
    ),
    Column(
        "indexed",
        BigInteger,
        nullable=False,
        server_default="0",
        doc="the turns up to this one are indexed",
    ),
    Column("tools_hash", LargeBinary, doc="the end of the chain of tool sets"),
    Column("seal", LargeBinary, doc="the hash of this row"),
    Column("expires_after", BigInteger, doc="seconds after the last turn; NULL: never"),
    Column("expires_at", UtcTime, doc="when that is"),
    Column(
        "open_calls",
        BigInteger,
        nullable=False,
        server_default="0",
        doc="calls that wait for a result",
    ),
    PrimaryKeyConstraint(*OWNER),
    Index(
        "ix_conversations_updated",
        "tenant_id",
        "updated_at",
        "conversation_id",
        **_asked("which changed last?"),
    ),
    Index(
        "ix_conversations_behind",
        "tenant_id",
        "conversation_id",
        **_asked("which have turns that are not indexed?", "indexed < version"),
    ),
    Index(
        "ix_conversations_expires",
        "tenant_id",
        "expires_at",
        **_asked("which have expired?", "expires_at IS NOT NULL"),
    ),
    Index(
        "ix_conversations_waiting",
        "tenant_id",
        "conversation_id",
        # SQLite asks for the number though all that are here have one.
        "open_calls",
        **_asked("which have calls that wait for a result?", "open_calls > 0"),
    ),
    info={"about": "the head of each conversation"},
)

turns = Table(
    "turns",
    metadata,
    *_owner(),
    Column("seq", BigInteger, nullable=False, doc="its place, from 1"),
    Column("turn_id", IdText, nullable=False, doc="its id, the caller's or derived"),
    Column("speaker", Text, nullable=False, doc="human, ai, tool, system or note"),
    Column("provider", AnyText, nullable=False, doc="who spoke"),
    *_said(),
    Column("hash", LargeBinary, nullable=False, doc="hash of this turn and of the chain before it"),
    Column("created_at", UtcTime, nullable=False, doc="when it was stored"),
    Column(
        "status", Text, nullable=False, server_default="complete", doc="complete or interrupted"
    ),
    Column("response_sha256", LargeBinary, doc="sha256 of the id of the response"),
    Column("originals", BigInteger, doc=_ORIGINALS),
    PrimaryKeyConstraint(*OWNER, "seq"),
    _of_conversation(),
    info={"about": "what was said, as it was posted"},
)

Index(
    "ix_turns_interrupted",
    *(turns.c[name] for name in (*OWNER, "seq")),
    **_asked("which turns are interrupted?", "status = 'interrupted'"),
)

# `ai` turns with a model, and those whose completion may bring one.
NAMES_MODEL = "speaker = 'ai' AND (length(model) > 0 OR status = 'interrupted')"
Index(
    "ix_turns_model",
    *(turns.c[name] for name in (*OWNER, "provider", "seq")),
    **_asked("which model of this provider spoke last?", NAMES_MODEL),
)

turn_revisions = Table(
    "turn_revisions",
    metadata,
    *_owner(),
    Column("number", BigInteger, nullable=False, doc="counts in the conversation, from 1"),
    Column("seq", BigInteger, nullable=False, doc="the turn"),
    Column("at_version", BigInteger, nullable=False, doc="the version of the conversation then"),
    *_said(),
    Column(
        "hash", LargeBinary, nullable=False, doc="hash of this revision and of the chain before it"
    ),
    Column("created_at", UtcTime, nullable=False, doc="when it was stored"),
    Column("status", Text, nullable=False, doc="complete or interrupted"),
    Column("response_sha256", LargeBinary, doc="sha256 of the id of the response"),
    Column("originals", BigInteger, doc=_ORIGINALS),
    PrimaryKeyConstraint(*OWNER, "number"),
    UniqueConstraint(
        *OWNER,
        "seq",
        "number",
        name="uq_turn_revisions_seq",
        **_asked("which revisions has this turn?"),
    ),
    _of_conversation(),
    info={"about": "later versions of interrupted turns; the turn itself stays as it was posted"},
)
for _table in (turns, turn_revisions):
    Index(
        f"ix_{_table.name}_response",
        _table.c.tenant_id,
        _table.c.response_sha256,
        **_asked("which turn is the response with this id?", "response_sha256 IS NOT NULL"),
    )
Index(
    "ix_turns_turn_id",
    *(turns.c[name] for name in ("tenant_id", "turn_id", "conversation_id")),
    unique=True,
    **_asked("where is the turn with this id?"),
)

turn_pieces = Table(
    "turn_pieces",
    metadata,
    *_owner(),
    Column("seq", BigInteger, nullable=False, doc="the turn"),
    Column("revision", BigInteger, nullable=False, doc="0: the turn itself; from 1: its revision"),
    Column("part", IdText, nullable=False, doc="blocks, originals or payload"),
    Column("place", BigInteger, nullable=False, doc="counts the pieces"),
    Column("data", LargeBinary, nullable=False, doc="a piece, packed"),
    PrimaryKeyConstraint(*OWNER, "seq", "revision", "part", "place"),
    _of_conversation(),
    info={"about": "what is too long for the row of a turn or revision, in pieces"},
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
    Column("call_id", IdText, nullable=False, doc="the canonical id"),
    Column("seq", BigInteger, nullable=False, doc="the turn that made it"),
    Column(
        "call_index", Integer, nullable=False, doc="its place there; below 0: not made any more"
    ),
    Column("turn_id", IdText, nullable=False, doc="the id of that turn"),
    Column("provider", AnyText, nullable=False, doc="who called"),
    Column("model", AnyText, doc="the model, where it is known"),
    Column("name", AnyText, nullable=False, doc="the tool"),
    Column("raw_id", AnyText, doc="the id that the provider gave"),
    Column("raw_sha256", LargeBinary, doc="sha256 of the raw id"),
    Column("normalized_sha256", LargeBinary, doc="sha256 of the raw id without prefix and state"),
    Column("answered", Boolean, nullable=False, doc="whether it has a result"),
    PrimaryKeyConstraint("tenant_id", "call_id", "conversation_id"),
    UniqueConstraint(
        *OWNER,
        "seq",
        "call_index",
        name="uq_tool_calls_place",
        **_asked("which calls does this turn make?"),
    ),
    _of_conversation(),
    info={"about": "the calls of the ledger"},
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
    **_asked("which calls have this raw id, and are they open?"),
)
Index(
    "ix_tool_calls_normalized",
    *(
        tool_calls.c[name]
        for name in (*OWNER, "normalized_sha256", "answered", "seq", "call_index")
    ),
    **_asked("which calls have this id, but for prefix and state?"),
)
Index(
    "ix_tool_calls_open",
    *(tool_calls.c[name] for name in (*OWNER, "answered", "seq", "call_index")),
    **_asked("which calls are open, and where is the newest?"),
)

tool_results = Table(
    "tool_results",
    metadata,
    *_owner(),
    Column("seq", BigInteger, nullable=False, doc="the turn that holds it"),
    Column("place", Integer, nullable=False, doc="its place there"),
    Column("turn_id", IdText, nullable=False, doc="the id of that turn"),
    Column("raw_id", AnyText, doc="the id that it came with"),
    Column("raw_sha256", LargeBinary, doc="sha256 of the raw id"),
    Column("normalized_sha256", LargeBinary, doc="sha256 of the raw id without prefix and state"),
    Column("name", AnyText, doc="the tool, where it is named"),
    Column("status", Text, nullable=False, doc="ok, error, denied, interrupted or unknown"),
    Column("call_id", IdText, doc="its call; NULL: it waits for one"),
    Column("matched_by", Text, nullable=False, doc="the rule that found the call"),
    Column("repeat", Boolean, nullable=False, doc="whether the call had one already"),
    PrimaryKeyConstraint(*OWNER, "seq", "place"),
    _of_conversation(),
    info={"about": "the results of the ledger, with the calls that they belong to"},
)
# Results with a call, and those that wait for one: each index serves only its own questions.
for _name, _columns, _when, _question in (
    (
        "ix_tool_results_call",
        (*OWNER, "call_id"),
        "call_id IS NOT NULL",
        "which results has this call?",
    ),
    (
        "ix_tool_results_waiting_raw",
        ("tenant_id", "raw_sha256", "conversation_id"),
        "call_id IS NULL AND raw_sha256 IS NOT NULL",
        "which results wait for a call with this raw id?",
    ),
    (
        "ix_tool_results_waiting_normalized",
        (*OWNER, "normalized_sha256"),
        "call_id IS NULL AND normalized_sha256 IS NOT NULL",
        "which wait for one with this id, but for prefix and state?",
    ),
):
    Index(_name, *(tool_results.c[name] for name in _columns), **_asked(_question, _when))

provider_ids = Table(
    "provider_ids",
    metadata,
    *_owner(),
    Column("call_id", IdText, nullable=False, doc="the canonical id"),
    Column("target", IdText, nullable=False, doc="kimi or mistral"),
    Column("provider_id", AnyText, nullable=False, doc="what the call is named there"),
    Column("provider_sha256", LargeBinary, nullable=False, doc="sha256 of that name"),
    Column("ordinal", BigInteger, doc="the number in a Kimi id"),
    PrimaryKeyConstraint(*OWNER, "call_id", "target"),
    # The target comes last, so that one probe finds an id whichever target showed it.
    UniqueConstraint(
        "tenant_id",
        "provider_sha256",
        "conversation_id",
        "target",
        name="uq_provider_ids_provider_id",
        **_asked("which call was shown under this id?"),
    ),
    _of_conversation(),
    info={"about": "ids of calls on Kimi and Mistral, kept: they depend on the calls before"},
)
Index(
    "ix_provider_ids_ordinal",
    *(provider_ids.c[name] for name in (*OWNER, "target", "ordinal")),
    sqlite_where=provider_ids.c.ordinal.is_not(None),
    postgresql_where=provider_ids.c.ordinal.is_not(None),
    **_asked("what is the highest number of a Kimi id so far?"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    *_owner(),
    Column("key_sha256", LargeBinary, nullable=False, doc="sha256 of the key"),
    Column("body_sha256", LargeBinary, nullable=False, doc="sha256 of the body that came with it"),
    Column("status", Integer, doc="what was answered"),
    Column("answer", LargeBinary, doc="the receipt"),
    Column("seal", LargeBinary, doc="the hash of this row"),
    Column("created_at", UtcTime, doc="when it was stored"),
    PrimaryKeyConstraint(*OWNER, "key_sha256"),
    Index(
        "ix_idempotency_keys_created",
        "tenant_id",
        "created_at",
        **_asked("which keys are old enough to be removed?"),
    ),
    _of_conversation(),
    info={"about": "receipts of posts, for retries"},
)

tool_sets = Table(
    "tool_sets",
    metadata,
    *_owner(),
    Column("number", BigInteger, nullable=False, doc="counts in the conversation, from 1"),
    Column("at_version", BigInteger, nullable=False, doc="in force from this version on"),
    Column("provider", AnyText, nullable=False, doc="whose request they stood in"),
    Column("format", AnyText, nullable=False, doc="the shape in which they were posted"),
    Column("payload", LargeBinary, nullable=False, doc="what was posted"),
    Column("definitions", LargeBinary, nullable=False, doc="the same in the neutral form"),
    Column("created_at", UtcTime, nullable=False, doc="when it was stored"),
    Column("hash", LargeBinary, doc="hash of this set and of the one before"),
    PrimaryKeyConstraint(*OWNER, "number"),
    _of_conversation(),
    info={"about": "tool definitions, and from which version on they are in force"},
)

conversation_facets = Table(
    "conversation_facets",
    metadata,
    *_owner(),
    Column("kind", IdText, nullable=False, doc="tool, provider or metadata"),
    Column(
        "value_sha256", LargeBinary, nullable=False, doc="sha256 of the name, or of key and value"
    ),
    PrimaryKeyConstraint(*OWNER, "kind", "value_sha256"),
    Index(
        "ix_conversation_facets_value",
        "tenant_id",
        "kind",
        "value_sha256",
        "conversation_id",
        **_asked("which conversations have this tool, provider or member?"),
    ),
    _of_conversation(),
    # It is all key, which SQLite would hold a second time.
    sqlite_with_rowid=False,
    info={"about": "what conversations are found by: tools, providers, members of the metadata"},
)

search_texts = Table(
    "search_texts",
    metadata,
    *_owner(),
    Column("part", BigInteger, nullable=False, doc="the turn; 0: title; -1: id; -2: metadata"),
    Column("words", SEARCHED_WORDS, nullable=False, doc="the words that are found"),
    Column("number", BigInteger, doc="for SQLite's index; empty elsewhere"),
    PrimaryKeyConstraint(*OWNER, "part"),
    _of_conversation(),
    info={"about": "the words of each turn, of titles, of conversation ids and of metadata"},
)
api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", IdText, nullable=False, doc="the part of the key that may be seen"),
    Column("tenant_id", IdText, nullable=False, doc="whose conversations it opens"),
    Column("name", AnyText, nullable=False, doc="for people"),
    Column("secret_sha256", LargeBinary, nullable=False, doc="sha256 of the other part"),
    Column("scopes", IdText, nullable=False, doc="read, write, admin, with blanks between"),
    Column("prefix", IdText, nullable=False, doc="which ids it may use; empty: all"),
    Column("created_at", UtcTime, nullable=False, doc="when it was made"),
    Column("expires_at", UtcTime, doc="NULL: never"),
    Column("revoked_at", UtcTime, doc="NULL: it holds"),
    *(
        Column(name, BigInteger, doc=f"{most}; NULL: any number")
        for name, most in (
            ("requests", "at most so many a minute"),
            ("body_bytes", "at most so many a minute"),
            ("conversations", "at most so many"),
        )
    ),
    Column("seal", LargeBinary, doc="the hash of this row"),
    PrimaryKeyConstraint("key_id"),
    info={"about": "who may ask; not a tenant's rows: the key says which tenant it is"},
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
