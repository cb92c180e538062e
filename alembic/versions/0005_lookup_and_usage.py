"""Ids are found in whatever conversation they stand, and conversations say what responses took.

Revision 0005, after 0004.

The keys of calls and of provider ids get another order of their columns, so that they serve the
search through all conversations too. What turns already hold is read once: the ids of responses,
and their usage.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
KINDS = ("input", "output", "cached", "reasoning")
Owner = tuple[str, str]
# Rows that are read at a time.
BATCH = 1000

# By table: its constraint, the columns of that before, and now.
KEYS = {
    "tool_calls": (
        "pk_tool_calls",
        ["tenant_id", "conversation_id", "call_id"],
        ["tenant_id", "call_id", "conversation_id"],
    ),
    "provider_ids": (
        "uq_provider_ids_provider_id",
        ["tenant_id", "conversation_id", "provider_sha256", "target"],
        ["tenant_id", "provider_sha256", "conversation_id", "target"],
    ),
}
CALLS_RAW = ["raw_sha256", "answered", "seq", "call_index"]
WAITING = sa.text("call_id IS NULL AND raw_sha256 IS NOT NULL")
RESPONDED = sa.text("response_sha256 IS NOT NULL")

NOT_FILLED = """\
-- Not in this script: the ids and the usage of the responses that are stored already. Only
-- `turnkeep migrate` reads them; after this script they are neither found nor counted."""
PASSING_ROWS = """
INSERT INTO conversations
    (tenant_id, conversation_id, metadata, version, head_hash, orphans, created_at, updated_at)
    SELECT n, n, '', 0, '', 0, now(), now() FROM sample_0005;
INSERT INTO turns
    (tenant_id, conversation_id, seq, turn_id, speaker, provider, format, payload, blocks, metadata,
     content_hash, hash, created_at)
    SELECT n, n, n, n, 'ai', '', '', '', '', '', sha256('a'), sha256('b'), now() FROM sample_0005;
INSERT INTO tool_calls
    (tenant_id, conversation_id, call_id, seq, call_index, turn_id, provider, name, raw_sha256,
     normalized_sha256, answered)
    SELECT n, n, n, n, n % 2, n, '', '', hash, hash, n % 2 = 0 FROM sample_0005;
INSERT INTO tool_results
    (tenant_id, conversation_id, seq, place, turn_id, raw_sha256, normalized_sha256, status,
     call_id, matched_by, repeat)
    SELECT n, n, n, n % 2, n, hash, hash, 'ok', nullif(n % 8, 0), 'raw', false FROM sample_0005;
INSERT INTO provider_ids
    (tenant_id, conversation_id, call_id, target, provider_id, provider_sha256, ordinal)
    SELECT n, n, n, CASE n % 2 WHEN 0 THEN 'kimi' ELSE 'mistral' END, '', hash, n FROM sample_0005;
"""


def upgrade() -> None:
    change_keys(now=True)
    for table in ("turns", "turn_revisions"):
        op.add_column(table, sa.Column("response_sha256", sa.LargeBinary()))
    for kind in KINDS:
        count = sa.Column(f"{kind}_tokens", sa.BigInteger(), nullable=False, server_default="0")
        op.add_column("conversations", count)
    if op.get_context().as_sql:
        op.get_context().impl.static_output(NOT_FILLED)
    else:
        fill(op.get_bind())
    for table in ("turns", "turn_revisions"):
        op.create_index(
            f"ix_{table}_response",
            table,
            ["tenant_id", "response_sha256"],
            sqlite_where=RESPONDED,
            postgresql_where=RESPONDED,
        )
    op.create_index("ix_turns_turn_id", "turns", ["tenant_id", "turn_id"])
    if op.get_context().dialect.name == "postgresql":
        remind_postgresql()


def downgrade() -> None:
    op.drop_index("ix_turns_turn_id", "turns")
    for table in ("turns", "turn_revisions"):
        op.drop_index(f"ix_{table}_response", table)
        op.drop_column(table, "response_sha256")
    for kind in KINDS:
        op.drop_column("conversations", f"{kind}_tokens")
    change_keys(now=False)
    if op.get_context().dialect.name == "postgresql":
        remind_postgresql()


def remind_postgresql() -> None:
    """Tell the planner again what revision 0001 told it: that one conversation can be long.

    Making an index counts the rows of its table anew. In an empty one it finds none, and with that
    the planner forgets; so there are rows for a moment, as in 0001. Not where conversations are,
    or may be: nobody knows which database a printed script will meet.
    """
    empty = not op.get_context().as_sql and is_empty(op.get_bind())
    if empty:
        op.execute(
            "CREATE TEMPORARY TABLE sample_0005 ON COMMIT DROP AS"
            " SELECT n, sha256(int4send(n)) AS hash FROM generate_series(1, 400) AS n"
        )
        op.execute(PASSING_ROWS)
    op.execute("ANALYZE turns, tool_calls, tool_results, provider_ids")
    if empty:
        op.execute(
            "DELETE FROM conversations USING sample_0005"
            " WHERE tenant_id = n::text AND conversation_id = n::text"
        )


def is_empty(connection: sa.Connection) -> bool:
    found = connection.execute(sa.text("SELECT EXISTS (SELECT 1 FROM conversations)"))
    return not found.scalar()


def change_keys(*, now: bool) -> None:
    for name in ("raw", "normalized", "open"):
        op.drop_index(f"ix_tool_calls_{name}", "tool_calls")
    op.drop_index("ix_tool_results_waiting_raw", "tool_results")
    op.drop_index("ix_provider_ids_ordinal", "provider_ids")
    if op.get_context().dialect.name == "postgresql":
        change_constraints(now=now)
    else:
        rebuild("tool_calls", lambda: create_tool_calls(KEYS["tool_calls"][1 + now]))
        rebuild("provider_ids", lambda: create_provider_ids(KEYS["provider_ids"][1 + now]))
    owner = ["tenant_id", "conversation_id"]
    raw = ["tenant_id", "raw_sha256", "conversation_id"] if now else [*owner, "raw_sha256"]
    op.create_index("ix_tool_calls_raw", "tool_calls", [*raw, *CALLS_RAW[1:]])
    normalized = ["normalized_sha256", *CALLS_RAW[1:]]
    op.create_index("ix_tool_calls_normalized", "tool_calls", [*owner, *normalized])
    op.create_index("ix_tool_calls_open", "tool_calls", [*owner, *CALLS_RAW[1:]])
    op.create_index(
        "ix_tool_results_waiting_raw",
        "tool_results",
        raw,
        sqlite_where=WAITING,
        postgresql_where=WAITING,
    )
    op.create_index("ix_provider_ids_ordinal", "provider_ids", [*owner, "target", "ordinal"])


def change_constraints(*, now: bool) -> None:
    for table, (name, *columns) in KEYS.items():
        kind = "PRIMARY KEY" if name.startswith("pk_") else "UNIQUE"
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT {name},"
            f" ADD CONSTRAINT {name} {kind} ({', '.join(columns[now])})"
        )


def rebuild(table: str, create: Callable[[], object]) -> None:
    """SQLite changes a key only by copying its table."""
    op.rename_table(table, f"{table}_before")
    create()
    op.execute(f"INSERT INTO {table} SELECT * FROM {table}_before")
    op.drop_table(f"{table}_before")


def create_tool_calls(key: list[str]) -> None:
    op.create_table(
        "tool_calls",
        sa.Column("tenant_id", ID, nullable=False),
        sa.Column("conversation_id", ID, nullable=False),
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
        sa.PrimaryKeyConstraint(*key, name="pk_tool_calls"),
        sa.UniqueConstraint(
            "tenant_id", "conversation_id", "seq", "call_index", name="uq_tool_calls_place"
        ),
        of_conversation("tool_calls"),
    )


def create_provider_ids(key: list[str]) -> None:
    op.create_table(
        "provider_ids",
        sa.Column("tenant_id", ID, nullable=False),
        sa.Column("conversation_id", ID, nullable=False),
        sa.Column("call_id", ID, nullable=False),
        sa.Column("target", ID, nullable=False),
        sa.Column("provider_id", sa.LargeBinary(), nullable=False),
        sa.Column("provider_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("ordinal", sa.BigInteger()),
        sa.PrimaryKeyConstraint(
            "tenant_id", "conversation_id", "call_id", "target", name="pk_provider_ids"
        ),
        sa.UniqueConstraint(*key, name="uq_provider_ids_provider_id"),
        of_conversation("provider_ids"),
    )


def of_conversation(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant_id", "conversation_id"],
        ["conversations.tenant_id", "conversations.conversation_id"],
        name=f"fk_{table}_conversations",
        ondelete="CASCADE",
    )


def fill(connection: sa.Connection) -> None:
    """The ids of the responses that are stored, and what each conversation took."""
    revised = {
        tuple(row)
        for row in connection.execute(
            sa.text("SELECT tenant_id, conversation_id, seq FROM turn_revisions")
        )
    }
    newest: dict[tuple[Any, ...], tuple[int, ...]] = {}
    taken: dict[Owner, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for tenant, cid, seq, form, provider, response in rows_of(connection, "turns", "seq", "seq"):
        save_id(connection, "turns", "seq", (tenant, cid, seq), response)
        took = usage(form, provider, response)
        if (tenant, cid, seq) in revised:
            newest[tenant, cid, seq] = took
        if any(took):
            add(taken[tenant, cid], took)
    for tenant, cid, number, seq, form, provider, response in rows_of(
        connection, "turn_revisions", "number", "number, seq"
    ):
        save_id(connection, "turn_revisions", "number", (tenant, cid, number), response)
        before = newest[tenant, cid, seq]
        newest[tenant, cid, seq] = usage(form, provider, response)
        add(taken[tenant, cid], [-count for count in before])
        add(taken[tenant, cid], newest[tenant, cid, seq])
    columns = ", ".join(f"{kind}_tokens = :{kind}" for kind in KINDS)
    statement = sa.text(
        f"UPDATE conversations SET {columns}"
        " WHERE tenant_id = :tenant AND conversation_id = :conversation"
    )
    for (tenant, cid), counts in taken.items():
        values = dict(zip(KINDS, counts, strict=True))
        connection.execute(statement, {**values, "tenant": tenant, "conversation": cid})


def add(counts: list[int], more: Any) -> None:
    counts[:] = [one + other for one, other in zip(counts, more, strict=True)]


def rows_of(
    connection: sa.Connection, table: str, place: str, columns: str
) -> Iterator[tuple[Any, ...]]:
    """All rows: owner, the columns, format and provider of the turn, its response (or {})."""
    provider = "provider"
    if table == "turn_revisions":
        same = " AND ".join(
            f"turns.{name} = turn_revisions.{name}"
            for name in ("tenant_id", "conversation_id", "seq")
        )
        provider = f"(SELECT provider FROM turns WHERE {same})"
    statement = sa.text(
        f"SELECT tenant_id, conversation_id, {columns}, format, {provider}, metadata FROM {table}"
        f" WHERE (tenant_id, conversation_id, {place}) > (:tenant, :conversation, :place)"
        f" ORDER BY tenant_id, conversation_id, {place} LIMIT {BATCH}"
    )
    names = ("tenant", "conversation", "place")
    last: tuple[Any, ...] = ("", "", 0)
    while True:
        rows = connection.execute(statement, dict(zip(names, last, strict=True))).all()
        for *known, form, speaker, metadata in rows:
            yield (*known, as_text(form), as_text(speaker), response_of(bytes(metadata)))
        if len(rows) < BATCH:
            return
        last = tuple(rows[-1][:3])


def as_text(value: Any) -> str:
    return bytes(value or b"").decode("utf-8", "surrogatepass")


def response_of(metadata: bytes) -> dict[str, Any]:
    if b'"response"' not in metadata:
        return {}
    try:
        response = json.loads(metadata).get("response")
    except (ValueError, RecursionError, AttributeError):
        return {}
    return response if isinstance(response, dict) else {}


def save_id(
    connection: sa.Connection,
    table: str,
    place: str,
    key: tuple[str, str, int],
    response: dict[str, Any],
) -> None:
    given = response.get("id")
    if not isinstance(given, str) or not given:
        return
    statement = sa.text(
        f"UPDATE {table} SET response_sha256 = :hash WHERE tenant_id = :tenant"
        f" AND conversation_id = :conversation AND {place} = :place"
    )
    hashed = hashlib.sha256(given.encode("utf-8", "surrogatepass")).digest()
    names = ("tenant", "conversation", "place")
    connection.execute(statement, {"hash": hashed, **dict(zip(names, key, strict=True))})


def usage(form: str, provider: str, response: dict[str, Any]) -> tuple[int, int, int, int]:
    """Input, output, cached, reasoning, as the release of this migration reads them."""
    counted = response.get("usage")

    def n(*path: str) -> int:
        value: Any = counted
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        is_count = isinstance(value, int) and not isinstance(value, bool)
        return value if is_count and 0 <= value <= 10**12 else 0

    match form if form in FORMATS else provider:
        case "anthropic":
            cached = n("cache_read_input_tokens")
            fresh = n("input_tokens") + n("cache_creation_input_tokens")
            thought = n("output_tokens_details", "thinking_tokens")
            return fresh + cached, n("output_tokens"), cached, thought
        case "openai-responses":
            cached = n("input_tokens_details", "cached_tokens")
            thought = n("output_tokens_details", "reasoning_tokens")
            return n("input_tokens"), n("output_tokens"), cached, thought
        case "bedrock":
            cached = n("cacheReadInputTokens")
            fresh = n("inputTokens") + n("cacheWriteInputTokens")
            return fresh + cached, n("outputTokens"), cached, 0
        case "gemini":
            thought = n("thoughts_token_count")
            asked = n("prompt_token_count") + n("tool_use_prompt_token_count")
            cached = n("cached_content_token_count")
            return asked, n("candidates_token_count") + thought, cached, thought
        case chat if chat in FORMATS:
            cached = (
                n("prompt_tokens_details", "cached_tokens")
                or n("prompt_cache_hit_tokens")
                or n("cached_tokens")
            )
            thought = n("completion_tokens_details", "reasoning_tokens")
            return n("prompt_tokens"), n("completion_tokens"), cached, thought
        case _:
            return 0, 0, 0, 0


# The wires that have responses.
FORMATS = (
    "openai",
    "openai-responses",
    "anthropic",
    "kimi",
    "mistral",
    "gemini",
    "bedrock",
    "deepseek",
    "qwen",
    "openrouter",
)
