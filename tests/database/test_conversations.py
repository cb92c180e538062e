import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from app.audit.sql import NEWEST, IdKind, Spot
from app.conversations.commands import Create, Describe, Erase
from app.database.database import Database
from app.ledger.records import ConversationRecord, KeyRecord
from app.ledger.slice import Change, Slice
from app.model.errors import ConversationExists, ConversationNotFound
from tests.database.specimens import NOON, Do, append, call, labels, result, rows


def head_of(database: Database, cid: str = "c1") -> ConversationRecord:
    head = database.read_now(lambda store: store.conversations.head(cid))
    assert head is not None
    return head


def test_a_new_conversation_is_empty(database: Database) -> None:
    database.write_now(Create("c1", "Title", {"a": 1}))
    head = head_of(database)
    assert (head.id, head.title, head.metadata) == ("c1", "Title", b'{"a":1}')
    assert (head.version, head.head_hash, head.orphans) == (0, b"", 0)
    assert head.created_at == head.updated_at
    assert head.created_at.utcoffset() == NOON.utcoffset()


def test_an_unknown_conversation_is_none(database: Database) -> None:
    assert database.read_now(lambda store: store.conversations.head("c1")) is None
    seen = database.write_now(Do("c1", lambda known: Change((known.head, known.whole))))
    assert seen == (None, True)


def test_only_the_first_creates(database: Database) -> None:
    database.write_now(Create("c1", "first", {}))
    with pytest.raises(ConversationExists):
        database.write_now(Create("c1", "second", {}))
    assert head_of(database).title == "first"


def test_the_head_advances(database: Database, conversation: str) -> None:
    def how(known: Slice) -> Change[None]:
        assert known.head
        return Change(
            None,
            head=replace(known.head, version=3, head_hash=b"\0h", orphans=2, updated_at=known.now),
        )

    database.write_now(Do(conversation, how))
    head = head_of(database)
    assert (head.version, head.head_hash, head.orphans) == (3, b"\0h", 2)
    assert head.updated_at > head.created_at


def test_title_and_metadata_can_be_changed(database: Database, conversation: str) -> None:
    given = frozenset({"title", "metadata"})
    database.write_now(Describe(conversation, "new", {"b": []}, given))
    assert (head_of(database).title, head_of(database).metadata) == ("new", b'{"b":[]}')


def test_what_is_not_there_can_be_neither_changed_nor_erased(database: Database) -> None:
    for command in (Describe("c1", None, {}, frozenset()), Erase("c1")):
        with pytest.raises(ConversationNotFound):
            database.write_now(command)


def test_conversations_come_in_pages_by_id(database: Database) -> None:
    for cid in ("b", "a", "C", "é", "_"):
        database.write_now(append(cid))
    first = database.read_now(lambda store: store.conversations.ids(3))
    second = database.read_now(lambda store: store.conversations.ids(3, first[-1]))
    # By bytes, whatever language the database speaks.
    assert first + second == ["C", "_", "a", "b", "é"]


def test_erasing_a_conversation_leaves_no_row(database: Database) -> None:
    database.write_now(append("c1"))
    database.write_now(append("c2"))
    key = KeyRecord("key", b"body", 201, b"{}")
    database.write_now(rows("c1", results=[result(1)], keys=[key]))
    database.write_now(Erase("c1"))
    assert database.read_now(lambda store: store.conversations.head("c1")) is None
    assert database.read_now(lambda store: store.turns.page("c1")) == []
    assert database.read_now(lambda store: store.ledger.calls("c1")) == []
    assert database.read_now(lambda store: store.ledger.results("c1")) == []
    assert not database.read_now(lambda store: store.conversations.has_key("c1", "key"))
    assert len(database.read_now(lambda store: store.turns.page("c2"))) == 1


def spots(database: Database, kind: IdKind, known_as: str) -> list[Spot]:
    return database.read_now(
        lambda store: store.lookup.spots(kind, known_as, before=NEWEST, limit=10)
    )


def test_another_tenant_sees_nothing(database: Database, database_url: str) -> None:
    database.write_now(append("c1"))
    raw_id, canonical = "call_0", call(1).id
    with Database(database_url, tenant_id="other") as other:
        assert other.read_now(lambda store: store.conversations.head("c1")) is None
        assert other.read_now(lambda store: store.conversations.ids(10)) == []
        assert other.read_now(lambda store: store.turns.page("c1")) == []
        assert other.read_now(lambda store: store.ledger.calls("c1")) == []
        known: tuple[tuple[IdKind, str], ...]
        known = (("raw", raw_id), ("canonical", canonical), ("turn", "turn-1"))
        assert all(spots(database, kind, known_as) for kind, known_as in known)
        assert not any(spots(other, kind, known_as) for kind, known_as in known)
        assert other.write_now(append("c1")) == 1


@pytest.mark.parametrize("key", ["k", "k\ud800", "k" * 50_000], ids=ascii)
def test_the_receipt_of_a_key_is_kept(database: Database, conversation: str, key: str) -> None:
    def known(key: str) -> KeyRecord | None:
        return database.write_now(Do(conversation, lambda known: Change(known.used_key(key))))

    assert known(key) is None
    record = KeyRecord(key, b"body", 201, b"\0receipt")
    database.write_now(rows(conversation, keys=[record]))
    assert known(key) == record
    assert known(key + "2") is None


def test_what_was_erased_and_made_again_in_one_group_is_new(database: Database) -> None:
    database.write_now(append("c1", "old"))

    async def story() -> list[Any]:
        gate = threading.Event()
        held = asyncio.ensure_future(database.write(Do("c1", lambda _: Change(gate.wait()))))
        writes = [
            asyncio.ensure_future(database.write(command))
            for command in (append("c1", "lost"), Erase("c1"), append("c1", "new"), append("c1"))
        ]
        await asyncio.sleep(0)
        gate.set()
        await held
        return await asyncio.gather(*writes)

    lost, erased, new, last = asyncio.run(story())
    assert (lost, new, last) == (2, 1, 2)
    # What was not saved yet when it was erased counts as well.
    assert (erased.is_gone, erased.counts["turns"]) == (True, 2)
    assert labels(database, "c1") == ["new", ""]
