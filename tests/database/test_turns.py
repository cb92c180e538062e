from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.database.database import Database
from app.ledger.records import TurnRecord
from app.ledger.slice import Change
from app.model.errors import Unavailable
from tests.database.specimens import Do, rows, turn


def insert(database: Database, *records: TurnRecord) -> None:
    database.write_now(rows("c1", records))


def seqs(records: Sequence[TurnRecord]) -> list[int]:
    return [record.seq for record in records]


@pytest.mark.usefixtures("conversation")
class TestTurns:
    def test_a_turn_comes_back_as_it_was(self, database: Database) -> None:
        written = replace(turn(1, payload=bytes(range(256))), blocks=b"\0", metadata=b"\xff")
        insert(database, written)
        assert database.read_now(lambda store: store.turns.page("c1")) == [written]
        assert database.read_now(lambda store: store.turns.one("c1", "turn-1")) == written

    def test_a_turn_that_is_not_there_is_none(self, database: Database) -> None:
        assert database.read_now(lambda store: store.turns.one("c1", "turn-1")) is None

    def test_turns_come_in_order_and_in_windows(self, database: Database) -> None:
        insert(database, turn(3), turn(1), turn(2), turn(4))
        read = database.read_now
        assert seqs(read(lambda store: store.turns.page("c1"))) == [1, 2, 3, 4]
        assert seqs(read(lambda store: store.turns.page("c1", after=1))) == [2, 3, 4]
        assert seqs(read(lambda store: store.turns.page("c1", after=1, until=3))) == [2, 3]
        assert seqs(read(lambda store: store.turns.page("c1", after=1, limit=1))) == [2]
        assert seqs(read(lambda store: store.turns.page("c1", limit=0))) == []

    def test_payloads_can_be_left_out(self, database: Database) -> None:
        written = turn(1, payload=b"long")
        insert(database, written)
        [read] = database.read_now(lambda store: store.turns.page("c1", payloads=False))
        assert read == replace(written, payload=b"")

    def test_a_taken_seq_or_turn_id_is_refused_and_nothing_of_the_batch_is_there(
        self, database: Database
    ) -> None:
        """Who decides looks first; what another process did since is found here."""
        insert(database, turn(1, "taken"))
        for batch in ([turn(1, "a")], [turn(2, "b"), turn(3, "taken")], [turn(2), turn(2, "c")]):
            with pytest.raises(Unavailable):
                insert(database, *batch)
        assert seqs(database.read_now(lambda store: store.turns.page("c1"))) == [1]

    def test_an_empty_change_is_no_row(self, database: Database) -> None:
        insert(database)
        assert database.read_now(lambda store: store.turns.page("c1")) == []


def test_a_turn_needs_its_conversation(database: Database) -> None:
    homeless = Do("absent", lambda known: Change(None, turns=(turn(1),)))
    with pytest.raises(Unavailable):
        database.write_now(homeless)
