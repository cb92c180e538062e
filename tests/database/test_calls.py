from dataclasses import replace

import pytest

from app.database.database import Database
from app.ledger.load_request import Keys
from app.ledger.pairing import Link
from app.ledger.records import Call, CallRecord, ProviderId, ResultRecord
from app.ledger.slice import Change, Slice
from tests.database.specimens import Do, call, result, rows

FIRST, SECOND, THIRD = call(1, 0, "a"), call(1, 1, "b"), call(2, 0, "a")
KIMI = ProviderId("kimi", "functions.read:0", FIRST.id, 0)
MISTRAL = ProviderId("mistral", "abcdefghi", FIRST.id)


@pytest.fixture
def ledger(database: Database, conversation: str) -> Database:
    """Three calls, the first shown under two names and answered twice."""

    results = [
        result(4, 2, "a", call_id=FIRST.id),
        result(3, 0, "a", call_id=FIRST.id),
        result(3, 1, "x"),
        result(3, 2, None),
    ]
    database.write_now(rows(conversation, (), [THIRD, SECOND, FIRST], [KIMI, MISTRAL], results))
    return database


def test_calls_come_in_order_with_all_that_is_known(ledger: Database) -> None:
    first, second, third = ledger.read_now(lambda store: store.ledger.calls("c1"))
    assert first.call == replace(
        FIRST, provider_ids={"kimi": "functions.read:0", "mistral": "abcdefghi"}
    )
    assert [(answer.seq, answer.place) for answer in first.results] == [(3, 0), (4, 2)]
    assert (second, third) == (CallRecord(SECOND), CallRecord(THIRD))


def test_calls_come_in_pages(ledger: Database) -> None:
    everything = ledger.read_now(lambda store: store.ledger.calls("c1"))
    first = ledger.read_now(lambda store: store.ledger.calls("c1", limit=2))
    rest = ledger.read_now(lambda store: store.ledger.calls("c1", limit=2, after=(1, 1)))
    assert first + rest == everything
    assert ledger.read_now(lambda store: store.ledger.calls("c1", after=(2, 0))) == []


def test_results_come_in_order(ledger: Database) -> None:
    results = ledger.read_now(lambda store: store.ledger.results("c1"))
    assert results == [
        result(3, 0, "a", call_id=FIRST.id),
        result(3, 1, "x"),
        result(3, 2, None),
        result(4, 2, "a", call_id=FIRST.id),
    ]


def test_links_are_the_matched_results(ledger: Database) -> None:
    links = ledger.read_now(lambda store: store.ledger.links("c1"))
    assert links == {(3, 0): Link(FIRST.id, "raw"), (4, 2): Link(FIRST.id, "raw")}
    assert ledger.read_now(lambda store: store.ledger.links("c1", until=3)).keys() == {(3, 0)}


def test_marked_calls_are_answered(ledger: Database) -> None:
    def how(known: Slice) -> Change[None]:
        book = known.book.copy()
        for one in (FIRST, THIRD):
            book.mark_answered(one.id)
        return Change(None, book=book, entries=book.entries())

    ledger.write_now(Do("c1", how, Keys(call_ids=frozenset({FIRST.id, THIRD.id}))))
    calls = ledger.read_now(lambda store: store.ledger.calls("c1"))
    assert [record.call.answered for record in calls] == [True, False, True]


def test_a_target_knows_what_it_shows(ledger: Database) -> None:
    assert ledger.read_now(lambda store: store.ledger.provider_ids("c1", "mistral")) == {
        FIRST.id: "abcdefghi"
    }


def test_an_orphan_finds_its_call(ledger: Database) -> None:
    def how(known: Slice) -> Change[list[ResultRecord]]:
        book = known.book.copy()
        waiting = book.waiting({("raw", "x"), ("normalized", "x")})
        for one in waiting:
            book.adopt(replace(one, call_id=SECOND.id, matched_by="normalized", repeat=True))
        return Change(waiting, book=book, entries=book.entries())

    assert ledger.write_now(Do("c1", how)) == [result(3, 1, "x")]
    assert ledger.write_now(Do("c1", how)) == []
    _, second, _ = ledger.read_now(lambda store: store.ledger.calls("c1"))
    adopted = result(3, 1, "x", call_id=SECOND.id, matched_by="normalized")
    assert second.results == [replace(adopted, repeat=True)]


def test_a_call_takes_the_place_that_another_leaves(ledger: Database) -> None:
    late = call(1, 0, "late")

    def how(known: Slice) -> Change[None]:
        book = known.book.copy()
        book.supersede(1, [FIRST.id])
        book.add_calls([late], [])
        return Change(None, book=book, entries=book.entries())

    ledger.write_now(Do("c1", how, Keys(ledgers_of=frozenset({1}))))
    calls = ledger.read_now(lambda store: store.ledger.calls("c1", limit=10))
    assert [(one.call.id, one.call.call_index) for one in calls if one.call.seq == 1] == [
        (FIRST.id, -1),
        (late.id, 0),
        (SECOND.id, 1),
    ]
    results = ledger.read_now(lambda store: store.ledger.results("c1"))
    assert {one.call_id for one in results} == {None}

    def back(known: Slice) -> Change[list[Call]]:
        book = known.book.copy()
        book.supersede(1, [late.id])
        return Change(book.bring_back({FIRST.id: 0}), book=book, entries=book.entries())

    [again] = ledger.write_now(Do("c1", back, Keys(ledgers_of=frozenset({1}))))
    assert (again.id, again.call_index, again.answered) == (FIRST.id, 0, False)
