"""Less on disk: turns are stored compressed, and keys that say the same are stored once.

Turns that are there stay as they are (`app/storage/packing.py`). An earlier release cannot read
packed ones: whoever goes back to one gets them unpacked. PostgreSQL need not compress them again.

One unique index finds a turn id in its conversation and in all. On SQLite a constraint goes only
with its table, and so does the hidden number that every row has beside its key; tables that hold
rows are not rewritten for that.

Revision 0007, after 0006.
"""

from collections.abc import Callable, Sequence

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

from app.storage.packing import unpacked, unpacked_piece

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

OWNER = ("tenant_id", "conversation_id")
BOTH = ("payload", "blocks")
PIECE = (*OWNER, "seq", "revision", "part", "place")
Unpack = Callable[..., tuple[bytes, ...]]
PACKED: Sequence[tuple[str, Sequence[str], Sequence[str], Unpack]] = (
    ("turns", (*OWNER, "seq"), BOTH, unpacked),
    ("turn_revisions", (*OWNER, "number"), BOTH, unpacked),
    ("turn_pieces", PIECE, ("data",), lambda data: (unpacked_piece(data),)),
)


# As in revision 0005: rows that are there while the index is made. It counts the rows of its table
# anew; if it found none, the planner of PostgreSQL would take long conversations for short ones.
EMPTY = "NOT EXISTS (SELECT 1 FROM conversations)"
PASSING_ROWS = f"""
CREATE TEMPORARY TABLE sample_0007 ON COMMIT DROP AS
    SELECT n::text AS n FROM generate_series(1, 400) AS n WHERE {EMPTY};
INSERT INTO conversations
    (tenant_id, conversation_id, metadata, version, head_hash, orphans, created_at, updated_at)
    SELECT n, n, '', 0, '', 0, now(), now() FROM sample_0007;
INSERT INTO turns
    (tenant_id, conversation_id, seq, turn_id, speaker, provider, format, payload, blocks, metadata,
     content_hash, hash, created_at)
    SELECT n, n, 1, n, 'ai', '', '', '', '', '', '', '', now() FROM sample_0007;
"""
THEY_PASS = """
DELETE FROM conversations USING sample_0007 WHERE tenant_id = n AND conversation_id = n;
DROP TABLE sample_0007;
"""
ALL_KEY = " WITHOUT ROWID"
UNIQUE = "CONSTRAINT uq_turns_turn_id UNIQUE (tenant_id, conversation_id, turn_id), "


def upgrade() -> None:
    store("EXTERNAL")
    if op.get_context().dialect.name == "postgresql":
        op.drop_constraint("uq_turns_turn_id", "turns")
    else:
        op.execute("DROP INDEX IF EXISTS uq_turns_turn_id")
        build_anew("turns", lambda sql: sql.replace(UNIQUE, ""))
        build_anew("conversation_facets", lambda sql: sql.removesuffix(ALL_KEY) + ALL_KEY)
    find_turns("turn_id", "conversation_id", unique=True)


def downgrade() -> None:
    if context.is_offline_mode():
        raise CommandError("going back needs the database itself: packed turns must be unpacked")
    store("EXTENDED")
    find_turns("turn_id", unique=False)
    columns = [*OWNER, "turn_id"]
    if op.get_context().dialect.name == "postgresql":
        op.create_unique_constraint("uq_turns_turn_id", "turns", columns)
    else:
        op.create_index("uq_turns_turn_id", "turns", columns, unique=True)
    for table, key, names, unpack in PACKED:
        rewrite(table, key, names, unpack)


def find_turns(*columns: str, unique: bool) -> None:
    """The index that finds turns by their id."""
    on_postgresql = op.get_context().dialect.name == "postgresql"
    op.drop_index("ix_turns_turn_id", "turns")
    if on_postgresql:
        op.execute(PASSING_ROWS)
    op.create_index("ix_turns_turn_id", "turns", ["tenant_id", *columns], unique=unique)
    if on_postgresql:
        op.execute(THEY_PASS)


def store(how: str) -> None:
    if op.get_context().dialect.name == "postgresql":
        for table, _, names, _ in PACKED:
            for name in names:
                op.execute(f"ALTER TABLE {table} ALTER COLUMN {name} SET STORAGE {how}")


def build_anew(name: str, changed: Callable[[str], str]) -> None:
    """An SQLite table in another form, with its indexes, if nothing is in it."""
    if context.is_offline_mode() or op.get_bind().exec_driver_sql(f"SELECT 1 FROM {name}").first():
        return
    about = f"FROM sqlite_master WHERE tbl_name = '{name}' AND sql IS NOT NULL"
    table = op.get_bind().exec_driver_sql(f"SELECT sql {about} AND type = 'table'").scalar_one()
    indexes = op.get_bind().exec_driver_sql(f"SELECT sql {about} AND type = 'index'").scalars()
    statements = [changed(" ".join(table.split())), *indexes]
    op.drop_table(name)
    for statement in statements:
        op.execute(statement)


def rewrite(name: str, key: Sequence[str], names: Sequence[str], unpack: Unpack) -> None:
    """One row after the other: each may be long."""
    table = sa.table(name, *map(sa.column, (*key, *names)))
    for row in op.get_bind().execute(sa.select(*(table.c[one] for one in key))).all():
        mine = [table.c[one] == value for one, value in zip(key, row, strict=True)]
        held = op.get_bind().execute(sa.select(*(table.c[one] for one in names)).where(*mine)).one()
        found = unpack(*held)
        if found != tuple(held):
            changed = dict(zip(names, found, strict=True))
            op.get_bind().execute(sa.update(table).where(*mine).values(changed))
