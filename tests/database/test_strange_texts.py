from dataclasses import replace

import pytest

from app.audit.sql import NEWEST
from app.conversations.commands import Describe
from app.database.database import Database
from app.ledger.records import ProviderId
from app.ledger.slice import Change
from app.model.json_values import ReadText
from tests.database.specimens import Do, call, result, rows, turn

STRANGE = ["\0", "a\0b", "\ud800", "\udfff\ud800", "é\U0001f600", "", " ", "x" * 70_000, "NULL"]
# What means something in an array of PostgreSQL.
SIGNS = ["NULL", "null", "{}", '{"a",b}', 'a"b', "a\\b", "a\\", " a ", "a,b", "\\x00"]


@pytest.mark.parametrize("text", STRANGE, ids=ascii)
def test_any_text_survives_in_every_column_that_comes_from_outside(
    database: Database, conversation: str, text: str
) -> None:
    odd_turn = replace(turn(1), provider=text, format=text, model=text)
    odd_call = replace(call(1, raw_id=text), name=text, provider=text, model=text)
    odd_result = replace(result(1, raw_id=text), name=text)
    assigned = ProviderId("kimi", text, odd_call.id, 0)

    database.write_now(Describe(conversation, text, None, frozenset({"title"})))
    database.write_now(rows(conversation, [odd_turn], [odd_call], [assigned], [odd_result]))
    read = database.read_now
    heads = read(lambda store: store.conversations.heads([conversation]))
    assert [head.title for head in heads.values()] == [text]
    assert read(lambda store: store.turns.page(conversation)) == [odd_turn]
    [record] = read(lambda store: store.ledger.calls(conversation))
    assert record.call == replace(odd_call, provider_ids={"kimi": text})
    assert read(lambda store: store.ledger.results(conversation)) == [odd_result]
    [spot] = read(lambda store: store.lookup.spots("provider_id", text, before=NEWEST, limit=1))
    assert (spot.conversation_id, spot.seq, spot.place) == (conversation, 1, 0)
    taken = Do(conversation, lambda known: Change(known.book.taken("kimi", text)))
    assert database.write_now(taken)


def test_ids_may_hold_any_sign_and_stay_apart(database: Database, conversation: str) -> None:
    # Text that was read as JSON is text, too.
    signs = [*SIGNS, ReadText.of("null", None)]
    made = [
        replace(call(number), turn_id=text, model=None if number % 2 else text)
        for number, text in enumerate(signs, 1)
    ]
    database.write_now(rows(conversation, [turn(one.seq) for one in made], made))
    records = database.read_now(lambda store: store.ledger.calls(conversation))
    assert [record.call for record in records] == made


@pytest.mark.parametrize("text", [text for text in STRANGE if text], ids=ascii)
def test_any_raw_id_finds_its_call(database: Database, conversation: str, text: str) -> None:
    made = call(1, raw_id=text)
    database.write_now(rows(conversation, [turn(1)], [made]))
    read = database.read_now
    found = Do(conversation, lambda known: Change(known.book.open("raw", text)))
    assert database.write_now(found) == made
    [spot] = read(lambda store: store.lookup.spots("raw", text, before=NEWEST, limit=1))
    assert read(lambda store: store.ledger.calls_at(conversation, spot.seq, spot.place)) == [made]


def test_a_missing_raw_id_is_not_an_empty_one(database: Database, conversation: str) -> None:
    calls = [call(1, 0, None), call(1, 1, "")]
    database.write_now(rows(conversation, (), calls))
    records = database.read_now(lambda store: store.ledger.calls(conversation))
    assert [record.call.raw_id for record in records] == [None, ""]
