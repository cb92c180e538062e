from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from app.core.ledger.records import TurnRecord
from app.storage.database import Database
from app.storage.store import Store, TurnIdCollision
from tests.storage.specimens import turn


def insert(database: Database, *records: TurnRecord) -> None:
    database.write_now(lambda store: store.insert_turns("c1", records))


def seqs(records: Sequence[TurnRecord]) -> list[int]:
    return [record.seq for record in records]


@pytest.mark.usefixtures("conversation")
class TestTurns:
    def test_a_turn_comes_back_as_it_was(self, database: Database) -> None:
        written = replace(turn(1, payload=bytes(range(256))), blocks=b"\0", metadata=b"\xff")
        insert(database, written)
        assert database.read_now(lambda store: store.turns("c1")) == [written]
        assert database.read_now(lambda store: store.turn("c1", "turn-1")) == written

    def test_a_turn_that_is_not_there_is_none(self, database: Database) -> None:
        assert database.read_now(lambda store: store.turn("c1", "turn-1")) is None

    def test_turns_come_in_order_and_in_windows(self, database: Database) -> None:
        insert(database, turn(3), turn(1), turn(2), turn(4))
        read = database.read_now
        assert seqs(read(lambda store: store.turns("c1"))) == [1, 2, 3, 4]
        assert seqs(read(lambda store: store.turns("c1", after=1))) == [2, 3, 4]
        assert seqs(read(lambda store: store.turns("c1", after=1, until=3))) == [2, 3]
        assert seqs(read(lambda store: store.turns("c1", after=1, limit=1))) == [2]
        assert seqs(read(lambda store: store.turns("c1", limit=0))) == []

    def test_payloads_can_be_left_out(self, database: Database) -> None:
        written = turn(1, payload=b"long")
        insert(database, written)
        [read] = database.read_now(lambda store: store.turns("c1", payloads=False))
        assert read == replace(written, payload=b"")

    @pytest.mark.parametrize(
        "batch",
        [
            [turn(2, "taken")],
            [turn(2), turn(3, "taken")],
            [turn(2, "taken"), turn(3)],
            [turn(2), turn(3), turn(4, "taken"), turn(5)],
        ],
    )
    def test_a_taken_turn_id_stops_the_batch_and_nothing_else(
        self, database: Database, batch: list[TurnRecord]
    ) -> None:
        insert(database, turn(1, "taken"))

        def deed(store: Store) -> str:
            with pytest.raises(TurnIdCollision) as collision:
                store.insert_turns("c1", batch)
            store.insert_turns("c1", [turn(2, "free")])
            return collision.value.turn_id

        assert database.write_now(deed) == "taken"
        turns = database.read_now(lambda store: store.turns("c1"))
        assert [turn.turn_id for turn in turns] == ["taken", "free"]

    def test_a_turn_id_twice_in_one_batch_collides(self, database: Database) -> None:
        with pytest.raises(TurnIdCollision, match="twice"):
            insert(database, turn(1, "twice"), turn(2, "twice"))
        assert database.read_now(lambda store: store.turns("c1")) == []

    def test_a_taken_seq_is_a_fault_and_no_collision(self, database: Database) -> None:
        insert(database, turn(1))
        for batch in ([turn(1, "a")], [turn(1, "a"), turn(2, "b")]):
            with pytest.raises(IntegrityError):
                insert(database, *batch)

    def test_a_turn_needs_its_conversation(self, database: Database) -> None:
        with pytest.raises(IntegrityError):
            database.write_now(lambda store: store.insert_turns("absent", [turn(1)]))

    def test_an_empty_batch_is_no_row(self, database: Database) -> None:
        def deed(store: Store) -> None:
            store.insert_turns("c1", [])
            store.insert_calls("c1", [])
            store.insert_results("c1", [])
            store.insert_assigned("c1", [])
            store.mark_answered("c1", [])
            store.adopt("c1", [])

        database.write_now(deed)
        assert database.read_now(lambda store: store.turns("c1")) == []
