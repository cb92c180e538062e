"""Tenants share writers and transactions, and nothing else."""

import asyncio
import os
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import make_url

from app.database.database import Database
from app.database.migrations import grant
from app.database.tables import TENANTS_ROWS
from tests.database.specimens import append, labels
from tests.postgres import connected

TENANTS = ("default", "acme", "o'brien; --")


def test_tenants_of_one_transaction_have_conversations_of_their_own(database: Database) -> None:
    views = {name: database.of(name) for name in TENANTS}

    async def all_at_once() -> list[int]:
        writes = [view.write(append("same", name)) for name, view in views.items()]
        writes += [view.write(append("same", f"{name} again")) for name, view in views.items()]
        return await asyncio.gather(*writes)

    assert asyncio.run(all_at_once()) == [1, 1, 1, 2, 2, 2]
    assert database.counts().commits < len(TENANTS) * 2
    for name, view in views.items():
        assert labels(view, "same") == [name, f"{name} again"]


def test_what_is_remembered_of_a_conversation_is_of_its_tenant(database: Database) -> None:
    other = database.of("other")
    for number in range(4):
        database.write_now(append("busy", f"mine {number}"))
    # With the names of the other conversation in mind, its calls would be found here.
    assert other.write_now(append("busy", "theirs")) == 1
    assert database.write_now(append("busy", "mine 4")) == 5
    assert labels(other, "busy") == ["theirs"]


@pytest.fixture
def not_the_owner(postgres_database_url: str) -> Iterator[str]:
    """The URL of a database for a role that may read and write, and owns nothing."""
    url = make_url(postgres_database_url)
    # Roles belong to the server, which other processes use, too.
    role = f"serving_{os.getpid()}"
    with connected(postgres_database_url) as owner:
        owner.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{url.password}'")
    try:
        grant(postgres_database_url, role)
        yield url.set(username=role).render_as_string(hide_password=False)
    finally:
        with connected(postgres_database_url) as owner:
            owner.execute(f"DROP OWNED BY {role}")
            owner.execute(f"DROP ROLE {role}")


def test_a_query_that_forgets_the_tenant_sees_nothing_of_others(not_the_owner: str) -> None:
    with Database(not_the_owner) as database:
        for name in TENANTS:
            database.of(name).write_now(append("c", name))
    with connected(not_the_owner) as connection:
        for table in TENANTS_ROWS:
            assert connection.execute(f"SELECT count(*) FROM {table.name}").fetchone() == (0,)
        connection.execute("SELECT set_config('turnkeep.tenant', 'acme', false)")
        assert connection.execute("SELECT tenant_id FROM turns").fetchall() == [("acme",)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE conversations SET tenant_id = 'default'")


def test_the_service_works_as_a_role_that_owns_nothing(not_the_owner: str) -> None:
    with Database(not_the_owner) as database:
        views = [database.of(name) for name in TENANTS]

        async def all_at_once() -> None:
            await asyncio.gather(*(view.write(append("c", "x")) for view in views for _ in "123"))

        asyncio.run(all_at_once())
        assert [labels(view, "c") for view in views] == [["x"] * 3] * len(TENANTS)
        # None had to be tried alone because it was saved as if it were another's.
        assert database.counts().retries == 0
