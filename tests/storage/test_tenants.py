"""Tenants share writers and transactions, and nothing else."""

import asyncio

from app.storage.database import Database
from tests.storage.specimens import append, labels

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
