from dataclasses import replace

import pytest

from app.core.ledger.records import AssignedId
from app.storage.database import Database
from app.storage.lookup import NEWEST
from app.storage.store import Store
from tests.storage.specimens import call, result, turn

STRANGE = ["\0", "a\0b", "\ud800", "\udfff\ud800", "é\U0001f600", "", " ", "x" * 70_000]


@pytest.mark.parametrize("text", STRANGE, ids=ascii)
def test_any_text_survives_in_every_column_that_comes_from_outside(
    database: Database, conversation: str, text: str
) -> None:
    odd_turn = replace(turn(1), provider=text, format=text, model=text)
    odd_call = replace(call(1, raw_id=text), name=text, provider=text, model=text)
    odd_result = replace(result(1, raw_id=text), name=text)
    assigned = AssignedId("kimi", text, odd_call.id, 0)

    def deed(store: Store) -> None:
        store.update(conversation, text, b"{}")
        store.insert_turns(conversation, [odd_turn])
        store.insert_calls(conversation, [odd_call])
        store.insert_results(conversation, [odd_result])
        store.insert_assigned(conversation, [assigned])

    database.write_now(deed)
    read = database.read_now
    assert [head.title for head in read(lambda store: store.conversations(1))] == [text]
    assert read(lambda store: store.turns(conversation)) == [odd_turn]
    [record] = read(lambda store: store.calls(conversation))
    assert record.call == replace(odd_call, shown={"kimi": text})
    assert read(lambda store: store.results(conversation)) == [odd_result]
    [spot] = read(lambda store: store.spots("provider_id", text, before=NEWEST, limit=1))
    assert (spot.conversation_id, spot.seq, spot.place) == (conversation, 1, 0)
    assert read(lambda store: store.taken_ids(conversation, "kimi", [text])) == {text}


@pytest.mark.parametrize("text", [text for text in STRANGE if text], ids=ascii)
def test_any_raw_id_finds_its_call(database: Database, conversation: str, text: str) -> None:
    made = call(1, raw_id=text)
    database.write_now(lambda store: store.insert_turns(conversation, [turn(1)]))
    database.write_now(lambda store: store.insert_calls(conversation, [made]))
    read = database.read_now
    assert read(lambda store: store.book(conversation).open("raw", text)) == made
    [spot] = read(lambda store: store.spots("raw", text, before=NEWEST, limit=1))
    assert read(lambda store: store.calls_at(conversation, spot.seq, spot.place)) == [made]


def test_a_missing_raw_id_is_not_an_empty_one(database: Database, conversation: str) -> None:
    calls = [call(1, 0, None), call(1, 1, "")]
    database.write_now(lambda store: store.insert_calls(conversation, calls))
    records = database.read_now(lambda store: store.calls(conversation))
    assert [record.call.raw_id for record in records] == [None, ""]
