"""PostgreSQL's tables may be partitioned by conversation: removing rows touches no other one."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.database.migrations import head
from app.database.tables import TENANTS_ROWS
from app.ledger.records import SMALL
from app.main import create_app
from app.settings import Settings
from tests.conversations.test_erasing import dumped, rows
from tests.http_api import Api, answering, calling, user

PARTITIONS = 8
NAMES = [f"v{number}" for number in range(50)]
LONG_AGO = datetime.now(UTC) - timedelta(days=10_000)

pytestmark = pytest.mark.own_database


@pytest.fixture
def partitioned(postgres_database_url: str) -> str:
    """The URL of a database whose tables of conversations are partitioned."""
    dump = dumped(postgres_database_url, "--schema-only").decode()
    with psycopg.connect(postgres_database_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.execute(in_partitions(dump).encode())
        connection.execute("INSERT INTO public.alembic_version VALUES (%s)", [head()])
    return postgres_database_url


def in_partitions(dump: str) -> str:
    """A schema as `pg_dump` writes it, with partitions for each table of conversations."""
    # What a partitioned table is given, its partitions get; commands begin with a backslash.
    ddl = re.sub(r"^\\.*", "", dump.replace("ALTER TABLE ONLY", "ALTER TABLE"), flags=re.MULTILINE)
    for table in TENANTS_ROWS:
        made = re.compile(rf"(CREATE TABLE public\.{table.name} \(.*?\n\));", re.DOTALL)
        assert made.search(ddl), table.name
        parts = "".join(
            f"CREATE TABLE public.{table.name}_{number} PARTITION OF public.{table.name}"
            f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number});\n"
            for number in range(PARTITIONS)
        )
        by = " PARTITION BY HASH (tenant_id, conversation_id);\n"
        ddl = made.sub(rf"\g<1>{by}{parts}", ddl)
    return ddl


@pytest.fixture
def full(partitioned: str) -> Iterator[Api]:
    """A service with 50 conversations, each too long to be removed in one transaction."""
    settings = Settings(database_url=partitioned, allow_unsafe=True)
    with TestClient(create_app(settings)) as http:
        api = Api(http)
        said = [user("red"), calling(("call_1", "read", "{}")), answering("call_1", "1")]
        said += [user("green")] * SMALL
        for cid in NAMES:
            stored = api.post(*said, cid=cid, headers={"Idempotency-Key": cid})
            assert stored.status_code == 201
        # The words are indexed before a search answers.
        assert http.get("/v1/conversations", params={"q": "green"}).json()["data"]
        yield api


def without(found: dict[str, list[Any]], cid: str) -> dict[str, list[Any]]:
    return {name: sorted(row for row in some if row[1] != cid) for name, some in found.items()}


def change(url: str, statement: str, *values: object) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute(statement.encode(), values).rowcount > 0


def test_erasing_removes_the_rows_of_one_conversation(full: Api, partitioned: str) -> None:
    before = rows(partitioned)
    erased = full.http.delete("/v1/conversations/v7")
    assert (erased.status_code, erased.json()["removed"]["turns"]) == (200, SMALL + 3)
    assert without(rows(partitioned), "") == without(before, "v7")


def test_a_sweep_removes_what_has_expired_and_nothing_else(full: Api, partitioned: str) -> None:
    expire = "UPDATE conversations SET expires_at = %s WHERE conversation_id = %s"
    change(partitioned, expire, LONG_AGO, "v7")
    age = "UPDATE idempotency_keys SET created_at = %s WHERE conversation_id = %s"
    change(partitioned, age, LONG_AGO, "v8")
    before = rows(partitioned)
    assert main(["sweep", "--database-url", partitioned]) == 0
    kept = without(before, "v7")
    kept["idempotency_keys"] = [row for row in kept["idempotency_keys"] if row[1] != "v8"]
    assert without(rows(partitioned), "") == kept
