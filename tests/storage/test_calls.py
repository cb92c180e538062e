from dataclasses import replace

import pytest

from app.core.ledger.records import AssignedId, CallRecord
from app.core.render.pairing import Link
from app.storage.database import Database
from app.storage.store import Store
from tests.storage.specimens import call, result

FIRST, SECOND, THIRD = call(1, 0, "a"), call(1, 1, "b"), call(2, 0, "a")
KIMI = AssignedId("kimi", "functions.read:0", FIRST.id, 0)
MISTRAL = AssignedId("mistral", "abcdefghi", FIRST.id)


@pytest.fixture
def ledger(database: Database, conversation: str) -> Database:
    """Three calls, the first shown under two names and answered twice."""

    def deed(store: Store) -> None:
        store.insert_calls(conversation, [THIRD, SECOND, FIRST])
        store.insert_assigned(conversation, [KIMI, MISTRAL])
        store.insert_results(
            conversation,
            [
                result(4, 2, "a", call_id=FIRST.id),
                result(3, 0, "a", call_id=FIRST.id),
                result(3, 1, "x"),
                result(3, 2, None),
            ],
        )

    database.write_now(deed)
    return database


def test_calls_come_in_order_with_all_that_is_known(ledger: Database) -> None:
    first, second, third = ledger.read_now(lambda store: store.calls("c1"))
    assert first.call == replace(FIRST, shown={"kimi": "functions.read:0", "mistral": "abcdefghi"})
    assert [(answer.seq, answer.place) for answer in first.results] == [(3, 0), (4, 2)]
    assert (second, third) == (CallRecord(SECOND), CallRecord(THIRD))


def test_calls_come_in_pages(ledger: Database) -> None:
    everything = ledger.read_now(lambda store: store.calls("c1"))
    first = ledger.read_now(lambda store: store.calls("c1", limit=2))
    rest = ledger.read_now(lambda store: store.calls("c1", limit=2, after=(1, 1)))
    assert first + rest == everything
    assert ledger.read_now(lambda store: store.calls("c1", after=(2, 0))) == []


def test_results_come_in_order(ledger: Database) -> None:
    results = ledger.read_now(lambda store: store.results("c1"))
    assert results == [
        result(3, 0, "a", call_id=FIRST.id),
        result(3, 1, "x"),
        result(3, 2, None),
        result(4, 2, "a", call_id=FIRST.id),
    ]


def test_links_are_the_matched_results(ledger: Database) -> None:
    links = ledger.read_now(lambda store: store.links("c1"))
    assert links == {(3, 0): Link(FIRST.id, "raw"), (4, 2): Link(FIRST.id, "raw")}
    assert ledger.read_now(lambda store: store.links("c1", until=3)).keys() == {(3, 0)}


def test_marked_calls_are_answered(ledger: Database) -> None:
    ledger.write_now(lambda store: store.mark_answered("c1", [FIRST.id, THIRD.id]))
    calls = ledger.read_now(lambda store: store.calls("c1"))
    assert [record.call.answered for record in calls] == [True, False, True]


def test_a_target_knows_what_it_shows(ledger: Database) -> None:
    assert ledger.read_now(lambda store: store.shown_ids("c1", "mistral")) == {
        FIRST.id: "abcdefghi"
    }
    assert ledger.read_now(lambda store: store.highest_ordinal("c1", "kimi")) == 0
    assert ledger.read_now(lambda store: store.highest_ordinal("c1", "mistral")) == -1
    assert ledger.read_now(lambda store: store.highest_ordinal("c2", "kimi")) == -1
    candidates = ["abcdefghi", "jklmnopqr"]
    taken = ledger.read_now(lambda store: store.taken_ids("c1", "mistral", candidates))
    assert taken == {"abcdefghi"}
    assert ledger.read_now(lambda store: store.taken_ids("c1", "kimi", candidates)) == set()


def test_used_canonical_ids_are_known_in_lists_of_any_length(ledger: Database) -> None:
    asked = [FIRST.id, THIRD.id, *(f"hist_tool_{number}" for number in range(2000))]
    assert ledger.read_now(lambda store: store.used_canonical("c1", asked)) == {FIRST.id, THIRD.id}
    assert ledger.read_now(lambda store: store.used_canonical("c1", [])) == set()


def test_orphans_are_the_unmatched_results_with_an_id(ledger: Database) -> None:
    assert ledger.read_now(lambda store: store.orphans("c1")) == [result(3, 1, "x")]


def test_orphans_are_found_by_what_they_may_be_called(
    database: Database, conversation: str
) -> None:
    waiting = [result(1, 0, "call_x"), result(1, 1, "x"), result(2, 0, "toolu_x|1")]
    database.write_now(lambda store: store.insert_results(conversation, waiting))

    def found(raw_ids: list[str], normalized: list[str]) -> list[tuple[int, int]]:
        orphans = database.read_now(
            lambda store: store.waiting_orphans(conversation, raw_ids, normalized)
        )
        return [(orphan.seq, orphan.place) for orphan in orphans]

    assert found(["x", "other"], []) == [(1, 1)]
    assert found([], ["x"]) == [(1, 0), (1, 1), (2, 0)]
    assert found(["x"], ["x"]) == [(1, 0), (1, 1), (2, 0)]
    assert found(["y"], ["y"]) == []


def test_an_orphan_finds_its_call(ledger: Database) -> None:
    ledger.write_now(lambda store: store.adopt("c1", [(3, 1, SECOND.id, "normalized", True)]))
    assert ledger.read_now(lambda store: store.orphans("c1")) == []
    assert ledger.read_now(lambda store: store.waiting_orphans("c1", ["x"], ["x"])) == []
    _, second, _ = ledger.read_now(lambda store: store.calls("c1"))
    adopted = result(3, 1, "x", call_id=SECOND.id, matched_by="normalized")
    assert second.results == [replace(adopted, repeat=True)]
