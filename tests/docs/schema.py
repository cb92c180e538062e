"""docs/schema.md, written from the tables and from what they say of themselves."""

import re
from collections.abc import Iterator

from sqlalchemy import Column, Dialect, Index, Table, UniqueConstraint
from sqlalchemy.dialects import postgresql, sqlite

from app.database.fulltext import DEFINITIONS
from app.database.tables import metadata, search_texts
from tests.docs.reference import table

_HEAD = """\
# The SQL schema

Written from `app/database/tables.py` and checked by a test; write it anew with
`TURNKEEP_REWRITE_GOLDEN=1 make test ARGS="tests/docs"`. The migrations in `alembic/` make these
tables, on SQLite and on PostgreSQL alike.

The tables are not an interface: they change with releases, by migrations. Read them for reports and
for repairs, write through the service: `verify` finds rows that were changed by hand
([what it does not see](trust.md#what-verify-does-not-see)).

- `tenant_id` leads every key and every index but the key of `api_keys`; `conversation_id` comes
  next, but where an id is looked for in all conversations ([0013](decisions/0013-finding-ids.md)).
- What comes from outside is stored as bytes, texts too
  ([0003](decisions/0003-bytes-not-jsonb.md)); of texts that may be long, the sha256 is indexed.
- *Packed*: blocks and payload of a turn are one zstd frame, cut in two
  ([0019](decisions/0019-packed-turns.md)). Long ones stand in `turn_pieces`.
- Rows of a conversation go with it (`ON DELETE CASCADE`).
- On PostgreSQL row level security shows the rows of one tenant (`turnkeep.tenant`) to whoever does
  not own the tables ([API keys](operations.md#api-keys)).
"""
_LITE, _POSTGRES = sqlite.dialect(), postgresql.dialect()  # type: ignore[no-untyped-call]
_NAMED = re.compile(r"CREATE (?:VIRTUAL )?(\w+) (\w+)")


def written() -> str:
    return _HEAD + "".join(_section(one) for one in _tables())


def _tables() -> list[Table]:
    """In the order in which they are written down."""
    return list(metadata.tables.values())


def unsaid() -> list[str]:
    """Tables, columns, keys and indexes that do not say what they are."""
    tables = _tables()
    columns = [f"{one.name}.{column.name}" for one in tables for column in one.c if not column.doc]
    silent = [str(one.name) for one in tables if not one.info.get("about")]
    return silent + columns + [str(one.name) for one in _asked(tables) if "asked" not in one.info]


def _asked(tables: list[Table]) -> Iterator[Index | UniqueConstraint]:
    for one in tables:
        yield from sorted(
            (key for key in one.constraints if isinstance(key, UniqueConstraint)),
            key=lambda key: str(key.name),
        )
        yield from sorted(one.indexes, key=lambda index: str(index.name))


def _section(one: Table) -> str:
    rows = [
        [
            f"`{column.name}`",
            _type(column, _LITE),
            _type(column, _POSTGRES),
            "yes" if column.nullable else "",
            str(column.doc),
        ]
        for column in one.c
    ]
    about = str(one.info["about"])
    return (
        f"\n## {one.name}\n\n{about[0].upper()}{about[1:]}.\n\n"
        + table(["column", "SQLite", "PostgreSQL", "may be NULL", "meaning"], rows)
        + "\n"
        + table(["key or index", "columns", "the question"], list(_keys(one)))
        + ("" if one is not search_texts else _beside())
    )


def _type(column: Column[object], dialect: Dialect) -> str:
    return column.type.compile(dialect)


def _keys(one: Table) -> Iterator[list[str]]:
    yield ["primary key", _names(one.primary_key.columns), _first_question(one)]
    for key in _asked([one]):
        where = key.dialect_options["sqlite"].get("where") if isinstance(key, Index) else None
        unique = isinstance(key, UniqueConstraint) or key.unique
        kind = ", unique" if unique else ""
        condition = f"; where `{where}`" if where is not None else ""
        yield [f"`{key.name}`{kind}", _names(key.columns) + condition, str(key.info["asked"])]


def _first_question(one: Table) -> str:
    """That of the primary key, which its columns say."""
    names = [column.name for column in one.primary_key.columns if column.name != "tenant_id"]
    if names[0] == "conversation_id" and len(names) > 1:
        return "which rows has this conversation?"
    return f"which row has this {names[0]}?"


def _names(columns: object) -> str:
    return ", ".join(column.name for column in columns)  # type: ignore[attr-defined]


def _beside() -> str:
    """What the databases keep for the search, in words of their own."""
    said = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
    lines = [
        f"- {said[dialect]}: "
        + ", ".join(
            f"`{name}` ({kind.lower()})" for one in made for kind, name in _NAMED.findall(one)
        )
        for dialect, made in DEFINITIONS.items()
    ]
    return (
        "\nBeside it, for the question which turns have these words:\n\n" + "\n".join(lines) + "\n"
    )
