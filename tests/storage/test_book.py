"""The ledger in the database answers as the one in memory, for any calls and any question."""

from dataclasses import replace
from functools import partial
from itertools import count
from typing import get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.ledger.matching import Call, CallBook, KeyKind, MemoryBook
from app.core.ledger.records import AssignedId
from app.storage.database import Database
from app.storage.store import Store
from tests.storage.specimens import call

# Few different ids, so that they repeat; some are each other's normalized form.
RAW_IDS = ["x", "call_x", "toolu_x", "x|1", "call_", "y", "functions.read:0", "\0", "\ud800"]
SHOWN = ["x", "y", "functions.read:0", "functions.read:1", "abcdefghi"]
TARGETS = ["kimi", "mistral", "other"]
numbers = count()


@st.composite
def ledgers(draw: st.DrawFn) -> list[Call]:
    calls: list[Call] = []
    free = {target: list(SHOWN) for target in TARGETS}
    for seq in range(1, draw(st.integers(1, 4)) + 1):
        for index in range(draw(st.integers(0, 3))):
            raw_id = draw(st.sampled_from([*RAW_IDS, None, ""]))
            made = call(seq, index, raw_id, answered=draw(st.booleans()))
            for target in draw(st.sets(st.sampled_from(TARGETS))):
                if free[target]:
                    shown = free[target].pop(draw(st.integers(0, len(free[target]) - 1)))
                    made = replace(made, shown={**made.shown, target: shown})
            calls.append(made)
    return calls


def stored(database: Database, calls: list[Call]) -> str:
    """Put the calls into a conversation of their own, in another order."""
    cid = f"ledger-{next(numbers)}"
    assigned = [
        AssignedId(target, shown, made.id) for made in calls for target, shown in made.shown.items()
    ]

    def deed(store: Store) -> None:
        store.create(cid, None, b"{}")
        store.insert_calls(cid, calls[::-1])
        store.insert_assigned(cid, assigned[::-1])

    database.write_now(deed)
    return cid


def answers(book: CallBook, calls: list[Call]) -> list[object]:
    kinds: tuple[KeyKind, ...] = get_args(KeyKind)
    questions = [(kind, key) for kind in kinds for key in (*RAW_IDS, *SHOWN)]
    return [
        *(book.open(kind, key) for kind, key in questions),
        *(book.answered(kind, key) for kind, key in questions),
        *(book.by_canonical(made.id) for made in calls),
        book.by_canonical("hist_tool_" + "0" * 24),
        list(book.newest_open()),
    ]


def unshown(found: list[object]) -> list[object]:
    """The database does not say what its calls are shown as."""
    return [
        replace(one, shown={})
        if isinstance(one, Call)
        else unshown(one)
        if isinstance(one, list)
        else one
        for one in found
    ]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(calls=ledgers())
def test_both_books_answer_the_same(database: Database, calls: list[Call]) -> None:
    cid = stored(database, calls)
    from_database = database.read_now(lambda store: answers(store.book(cid), calls))
    assert from_database == unshown(answers(MemoryBook(calls), calls))


def test_the_newest_turn_comes_first_and_inside_it_the_oldest_call(database: Database) -> None:
    calls = [call(seq, index) for seq in (1, 2) for index in (0, 1)]
    cid = stored(database, calls)
    for expected in (calls[2], calls[3], calls[0], calls[1]):
        assert database.read_now(lambda store: store.book(cid).open("raw", "call_0")) == expected
        database.write_now(partial(Store.mark_answered, cid=cid, call_ids=[expected.id]))
    assert database.read_now(lambda store: store.book(cid).open("raw", "call_0")) is None
    newest = database.read_now(lambda store: store.book(cid).answered("raw", "call_0"))
    assert newest == replace(calls[3], answered=True)
