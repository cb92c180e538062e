"""Verify finds every change behind the service's back, or docs/trust.md says why it need not.

Generated from the tables: for each column one value is changed into another one that might stand
there; from each table a row is deleted, one is added, and two change places.
"""

import re
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.database.database import Database
from app.database.tables import api_keys
from app.verify.queries import verify
from tests.damage.stored import CID, COLUMNS, TABLES, key_of, keys, opened, owner, serve

TRUST = Path(__file__).parents[2] / "docs" / "trust.md"
LISTED = TRUST.read_text(encoding="utf-8").partition("## What verify does not see")[2]
EXEMPT = set(re.findall(r"`([a-z_]+\.[a-z_0-9]+)`", LISTED))
MAY_GO = set(re.findall(r"deleted rows of `([a-z_]+)`", LISTED))
OWNER = ("tenant_id", "conversation_id")


def found(url: str, cid: str) -> tuple[bool, bool]:
    """Whether the command finds something, and whether the route does."""
    with Database(url) as database:
        report = database.read_now(lambda store: verify(store, cid))
    return main(["verify", "--database-url", url]) == 1, not report["ok"]


def another(value: Any, column: str) -> Any:
    """A value of the same kind."""
    match value:
        case None:
            return b"x"
        case int():
            return 1 - value if column in ("answered", "repeat") else value + 1
        case bytes():
            return value[:-1] + bytes([value[-1] ^ 1]) if value else b"x"
        case str() if column.endswith("_at"):
            later = datetime.fromisoformat(value) + timedelta(seconds=1)
            return later.strftime("%Y-%m-%d %H:%M:%S.%f")
        case _:
            return f"{value}x"


def changed(url: str, table: str, column: str, change: Callable[[Any, str], Any]) -> bool:
    """Changes a value in the first row where the database lets it; False where it does nowhere."""
    with opened(url) as connection:
        for key in keys(connection, TABLES[table], owner(table)):
            where = key_of(TABLES[table])
            statement = f"SELECT {column} FROM {table} WHERE {where}"
            [(old,)] = connection.execute(statement, key)
            new = change(old, column)
            if new == old:
                continue
            statement = f"UPDATE {table} SET {column} = ? WHERE {where}"
            with suppress(sqlite3.IntegrityError):
                assert connection.execute(statement, (new, *key)).rowcount == 1
                return True
    return False


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_changed_value_is_found(url_for: str, table: str, column: str) -> None:
    assert changed(url_for, table, column, another)
    by_command, by_route = found(url_for, owner(table))
    assert by_command is (f"{table}.{column}" not in EXEMPT)
    # What is a row of another conversation now is found by the command, which sees all.
    if column not in OWNER:
        assert by_route is by_command


@pytest.mark.parametrize(
    ("table", "column"), [one for one in COLUMNS if TABLES[one[0]].c[one[1]].nullable]
)
def test_a_value_that_was_taken_away_is_found(url_for: str, table: str, column: str) -> None:
    if not changed(url_for, table, column, lambda *_: None):
        pytest.skip("no row has one")
    assert found(url_for, owner(table)) == ((f"{table}.{column}" not in EXEMPT),) * 2


@pytest.mark.parametrize("which", [0, -1])
@pytest.mark.parametrize("table", TABLES)
def test_a_deleted_row_is_found(url_for: str, table: str, which: int) -> None:
    with opened(url_for) as connection:
        key = keys(connection, TABLES[table], owner(table))[which]
        done = connection.execute(f"DELETE FROM {table} WHERE {key_of(TABLES[table])}", key)
        assert done.rowcount == 1
    assert found(url_for, owner(table)) == ((table not in MAY_GO),) * 2


@pytest.mark.parametrize("table", TABLES)
def test_a_row_that_nobody_wrote_is_found(url_for: str, table: str) -> None:
    """A copy of one, with another last part of its key."""
    names = [column.name for column in TABLES[table].columns]
    last = [column.name for column in TABLES[table].primary_key.columns][-1]
    if table == "tool_calls":
        last = "call_id"
    with opened(url_for) as connection:
        key = keys(connection, TABLES[table], owner(table))[0]
        statement = f"SELECT * FROM {table} WHERE {key_of(TABLES[table])}"
        [row] = connection.execute(statement, key)
        values = dict(zip(names, row, strict=True))
        values[last] = (
            values[last] + 1000 if isinstance(values[last], int) else another(values[last], "")
        )
        for column in ("turn_id", "call_index", "provider_sha256", "number"):
            if column in values and column != last:
                old = values[column]
                values[column] = old + 1000 if isinstance(old, int) else another(old, "")
        marks = ", ".join("?" * len(names))
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", [values[one] for one in names])
    by_command, by_route = found(url_for, owner(table))
    assert by_command
    assert by_route or table == "conversations"


def swap(connection: sqlite3.Connection, table: str, cid: str) -> bool:
    """Lets two rows change places: what is not their key."""
    source = TABLES[table]
    key_names = [column.name for column in source.primary_key.columns]
    names = [column.name for column in source.columns if column.name not in key_names]
    # Two rows may not have the same of these for a moment.
    unique = ("turn_id", "number", "seq", "call_index", "provider_sha256")
    names = [one for one in names if one not in unique]
    where = key_of(source)
    statement = f"SELECT {', '.join(names)} FROM {table} WHERE {where}"
    rows = [(key, *connection.execute(statement, key)) for key in keys(connection, source, cid)]
    if table == "conversations":
        rows += [
            (key, *connection.execute(statement, key)) for key in keys(connection, source, "c2")
        ]
    for (one, first), (other, second) in pairwise(rows):
        if first != second:
            update = (
                f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in names)} WHERE {where}"
            )
            connection.execute(update, (*second, *one))
            connection.execute(update, (*first, *other))
            return True
    return False


# All that a facet has is its key.
SWAPPED = [table for table in TABLES if table != "conversation_facets"]


@pytest.mark.parametrize("table", SWAPPED)
def test_two_rows_that_changed_places_are_found(url_for: str, table: str) -> None:
    with opened(url_for) as connection:
        assert swap(connection, table, owner(table))
    assert found(url_for, owner(table)) == (True, True)


def test_a_conversation_without_its_head_is_found(
    url: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with opened(url) as connection:
        connection.execute("DELETE FROM conversations")
    assert main(["verify", "--database-url", url]) == 1
    told = capfdbinary.readouterr()
    assert b"c1: the conversation is gone, but there are rows of it in" in told.out
    assert b"0 conversations agree, 3 do not." in told.err


def test_a_forged_receipt_is_not_given(url: str) -> None:
    with opened(url) as connection:
        connection.execute("UPDATE idempotency_keys SET answer = ?", (b'{"forged":true}',))
    with serve(url) as http:
        body = {"provider": "openai", "messages": [{"role": "user", "content": "x"}]}
        sent = http.post(
            f"/v1/conversations/{CID}/turns", json=body, headers={"Idempotency-Key": "key-1"}
        )
        assert (sent.status_code, sent.json()["code"]) == (409, "conversation_damaged")


def test_what_is_listed_is_there() -> None:
    assert {tuple(one.split(".")) for one in EXEMPT} <= set(COLUMNS)
    assert {*TABLES, api_keys.name} >= MAY_GO
