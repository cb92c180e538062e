from app.storage.database import Database
from app.storage.lookup import NEWEST, IdKind, Spot
from tests.storage.specimens import NOON, append, call, result, turn


def test_a_new_conversation_is_empty(database: Database) -> None:
    database.write_now(lambda store: store.create("c1", "Title", b'{"a": 1}'))
    head = database.read_now(lambda store: store.conversation("c1"))
    assert head
    assert (head.id, head.title, head.metadata) == ("c1", "Title", b'{"a": 1}')
    assert (head.version, head.head_hash, head.orphans) == (0, b"", 0)
    assert head.created_at == head.updated_at
    assert head.created_at.utcoffset() == NOON.utcoffset()


def test_an_unknown_conversation_is_none(database: Database) -> None:
    assert database.read_now(lambda store: store.conversation("c1")) is None
    assert database.write_now(lambda store: store.lock("c1")) is None


def test_only_the_first_creates(database: Database) -> None:
    assert database.write_now(lambda store: store.create("c1", "first", b"{}"))
    assert not database.write_now(lambda store: store.create("c1", "second", b"{}"))
    head = database.read_now(lambda store: store.conversation("c1"))
    assert head
    assert head.title == "first"


def test_the_head_advances(database: Database, conversation: str) -> None:
    database.write_now(
        lambda store: store.advance(conversation, version=3, head_hash=b"\0h", orphans=2)
    )
    head = database.write_now(lambda store: store.lock(conversation))
    assert head
    assert (head.version, head.head_hash, head.orphans) == (3, b"\0h", 2)
    assert head.updated_at > head.created_at


def test_title_and_metadata_can_be_changed(database: Database, conversation: str) -> None:
    assert database.write_now(lambda store: store.update(conversation, "new", b"[]"))
    head = database.read_now(lambda store: store.conversation(conversation))
    assert head
    assert (head.title, head.metadata) == ("new", b"[]")


def test_what_is_not_there_can_be_neither_changed_nor_erased(database: Database) -> None:
    assert not database.write_now(lambda store: store.update("c1", None, b"{}"))
    assert not database.write_now(lambda store: store.delete("c1"))


def test_conversations_come_in_pages_by_id(database: Database) -> None:
    for cid in ("b", "a", "C", "é", "_"):
        database.write_now(append(cid))
    first = database.read_now(lambda store: store.conversations(3, None))
    second = database.read_now(lambda store: store.conversations(3, first[-1].id))
    # By bytes, whatever language the database speaks.
    assert [head.id for head in first + second] == ["C", "_", "a", "b", "é"]


def test_erasing_a_conversation_leaves_no_row(database: Database) -> None:
    database.write_now(append("c1"))
    database.write_now(append("c2"))
    database.write_now(lambda store: store.claim_key("c1", "key", b"body"))
    database.write_now(lambda store: store.insert_results("c1", [result(1)]))
    assert database.write_now(lambda store: store.delete("c1"))
    assert database.read_now(lambda store: store.conversation("c1")) is None
    assert database.read_now(lambda store: store.turns("c1")) == []
    assert database.read_now(lambda store: store.calls("c1")) == []
    assert database.read_now(lambda store: store.results("c1")) == []
    assert database.read_now(lambda store: store.idempotent_answer("c1", "key")) is None
    assert len(database.read_now(lambda store: store.turns("c2"))) == 1


def spots(database: Database, kind: IdKind, known_as: str) -> list[Spot]:
    return database.read_now(lambda store: store.spots(kind, known_as, before=NEWEST, limit=10))


def test_another_tenant_sees_nothing(database: Database, database_url: str) -> None:
    database.write_now(append("c1"))
    raw_id, canonical = "call_0", call(1).id
    with Database(database_url, tenant_id="other") as other:
        assert other.read_now(lambda store: store.conversation("c1")) is None
        assert other.read_now(lambda store: store.conversations(10, None)) == []
        assert other.read_now(lambda store: store.turns("c1")) == []
        assert other.read_now(lambda store: store.book("c1").open("raw", raw_id)) is None
        known: tuple[tuple[IdKind, str], ...]
        known = (("raw", raw_id), ("canonical", canonical), ("turn", "turn-1"))
        assert all(spots(database, kind, known_as) for kind, known_as in known)
        assert not any(spots(other, kind, known_as) for kind, known_as in known)
        assert other.write_now(lambda store: store.create("c1", None, b"{}"))
        other.write_now(lambda store: store.insert_turns("c1", [turn(1)]))


def test_a_key_is_claimed_once(database: Database, conversation: str) -> None:
    assert database.write_now(lambda store: store.claim_key(conversation, "k\ud800", b"body"))
    assert not database.write_now(lambda store: store.claim_key(conversation, "k\ud800", b"other"))
    assert database.write_now(lambda store: store.claim_key(conversation, "k" * 50_000, b"body"))


def test_the_answer_of_a_key_is_kept(database: Database, conversation: str) -> None:
    assert database.read_now(lambda store: store.idempotent_answer(conversation, "k")) is None
    database.write_now(lambda store: store.claim_key(conversation, "k", b"body"))
    answer = database.read_now(lambda store: store.idempotent_answer(conversation, "k"))
    assert answer == (b"body", None, None)
    database.write_now(lambda store: store.save_answer(conversation, "k", 201, b"\0answer"))
    answer = database.read_now(lambda store: store.idempotent_answer(conversation, "k"))
    assert answer == (b"body", 201, b"\0answer")
