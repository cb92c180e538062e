"""What a writer remembers is bounded, and only what one process writes to is learnt."""

import pytest

from app.database import memory as module
from app.database.memory import Memory
from app.ledger.book import Book, LedgerRows
from app.ledger.load_request import Keys
from app.ledger.records import ConversationRecord
from app.ledger.slice import Change
from tests.database.specimens import NOON, call, turn


def head(cid: str, head_hash: bytes = b"1", version: int = 1) -> ConversationRecord:
    return ConversationRecord(cid, None, b"{}", version, head_hash, 0, NOON, NOON)


def saying(*turn_ids: str) -> Change[object]:
    return Change(None, turns=tuple(turn(seq, name) for seq, name in enumerate(turn_ids, 1)))


def test_the_conversation_that_was_used_least_lately_is_forgotten_first() -> None:
    memory = Memory(12)
    for cid in ("a", "b", "c", "d"):
        memory.keep("default", head(cid), Book(), saying("t1", "t2", "t3"))
    assert memory.recall("default", head("a"))
    memory.keep("default", head("e"), Book(), saying("t1", "t2", "t3"))
    kept = [cid for cid in ("a", "b", "c", "d", "e") if memory.recall("default", head(cid))]
    assert kept == ["a", "c", "d", "e"]


def test_what_is_too_long_for_it_is_not_remembered() -> None:
    memory = Memory(12)
    memory.keep("default", head("a"), Book(), saying("t1", "t2", "t3", "t4"))
    assert memory.recall("default", head("a")) is None


def test_a_conversation_with_another_head_is_another_one() -> None:
    memory = Memory(12)
    memory.keep("default", head("a"), Book(), saying("t1"))
    assert memory.recall("default", head("a", b"2")) is None
    assert memory.recall("default", head("a")) is None


def test_names_are_learnt_when_nobody_else_writes_in_between() -> None:
    memory = Memory(1_000)
    first, second, third, theirs, ours = (head("a", b"%d" % number) for number in range(5))
    assert not memory.comes_back("default", first)
    memory.saw("default", first, second)
    assert not memory.comes_back("default", second)
    memory.saw("default", second, third)
    assert memory.comes_back("default", third)
    assert not memory.comes_back("default", theirs)
    memory.saw("default", theirs, ours)
    assert not memory.comes_back("default", ours)


def test_names_of_a_long_conversation_are_not_learnt() -> None:
    memory = Memory(1_000)
    for _ in range(3):
        memory.saw("default", head("a"), head("a"))
    assert memory.comes_back("default", head("a", version=20))
    assert not memory.comes_back("default", head("a", version=30))


def test_what_comes_back_takes_no_room_from_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversations that push each other out would be learnt anew each time."""
    memory = Memory(100)
    for cid in ("a", "b", "c", "d"):
        memory.keep("default", head(cid), Book(), saying(*(f"t{one}" for one in range(25))))
    for _ in range(3):
        memory.saw("default", head("e"), head("e"))
    assert not memory.comes_back("default", head("e"))
    assert len(memory.held()) == 4
    monkeypatch.setattr(module, "IDLE", 0.0)
    assert memory.comes_back("default", head("e"))
    assert {cid for _, cid, _ in memory.held()} == {"b", "c", "d"}


def test_a_call_that_had_to_be_loaded_is_not_remembered_beside_newer_ones() -> None:
    old, new = call(1), call(2)
    book = Book(whole=False, names={old.id}, start=2)
    book.add_calls([new], [])
    assert book.remembered({old.id, new.id}, frozenset()).calls == {new.id: new}
    book.load(LedgerRows(Keys(call_ids=frozenset({old.id})), {old.id: old}))
    assert book.remembered({old.id, new.id}, frozenset()).calls == {new.id: new}
