"""A book over a database answers as one that knows everything, for any calls and any question."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.database.database import Database
from app.formats.registry import ID_RULES
from app.ledger.book import Book, KeyKind, whole_book
from app.ledger.load_request import Keys
from app.ledger.records import Call, ProviderId
from app.ledger.rules import match
from app.ledger.slice import Change
from app.model.conversation import ToolResult
from tests.database.specimens import Do, call, rows

# Few different ids, so that they repeat; some are each other's normalized form.
RAW_IDS = ["x", "call_x", "toolu_x", "x|1", "call_", "y", "functions.read:0", "\0", "\ud800"]
SHOWN = ["x", "y", "functions.read:0", "functions.read:1", "abcdefghi"]
NAMES = ["read", "write", "wr\0\ud800ite"]
TARGETS = ["kimi", "mistral", "other"]
numbers = count()


@st.composite
def ledgers(draw: st.DrawFn) -> list[Call]:
    calls: list[Call] = []
    free = {target: list(SHOWN) for target in TARGETS}
    for seq in range(1, draw(st.integers(1, 4)) + 1):
        for index in range(draw(st.integers(0, 3))):
            raw_id = draw(st.sampled_from([*RAW_IDS, None, ""]))
            name = draw(st.sampled_from(NAMES))
            made = call(seq, index, raw_id, name=name, answered=draw(st.booleans()))
            for target in draw(st.sets(st.sampled_from(TARGETS))):
                if free[target]:
                    shown = free[target].pop(draw(st.integers(0, len(free[target]) - 1)))
                    made = replace(made, provider_ids={**made.provider_ids, target: shown})
            calls.append(made)
    return calls


def stored(database: Database, calls: list[Call]) -> str:
    """Put the calls into a conversation of their own, in another order."""
    cid = f"ledger-{next(numbers)}"
    assigned = [
        ProviderId(target, shown, made.id)
        for made in calls
        for target, shown in made.provider_ids.items()
    ]
    database.write_now(rows(cid, (), calls[::-1], assigned[::-1]))
    return cid


def asked(database: Database, cid: str, question: Callable[[Book], list[object]]) -> list[object]:
    """What the book over the database says. It is loaded question by question."""
    return database.write_now(Do(cid, lambda known: Change(question(known.book.copy()))))


def everything(book: Book, calls: list[Call]) -> list[object]:
    kinds: tuple[KeyKind, ...] = get_args(KeyKind)
    questions = [(kind, key) for kind in kinds for key in (*RAW_IDS, *SHOWN, *NAMES)]
    return [
        *(book.open(kind, key) for kind, key in questions),
        *(book.answered(kind, key) for kind, key in questions),
        *(book.by_canonical(made.id) for made in calls),
        book.by_canonical("hist_tool_" + "0" * 24),
        book.newest_open(),
        *(book.taken(target, shown) for target in TARGETS for shown in SHOWN),
    ]


def in_turn(book: Book, results: list[ToolResult]) -> list[object]:
    """What each result is matched with, one after the other."""
    found: list[object] = []
    for result in results:
        matched = match(result, book, ID_RULES.prefixes)
        if matched.call:
            book.mark_answered(matched.call.id)
        found.append((matched.call and matched.call.id, matched.matched_by, matched.repeat))
    return found


def unshown(found: list[object]) -> list[object]:
    """A book need not know under which ids a call is shown that was found by another name."""
    return [replace(one, provider_ids={}) if isinstance(one, Call) else one for one in found]


def whole(calls: list[Call]) -> Book:
    book = whole_book([])
    assigned = [
        ProviderId(target, shown, made.id)
        for made in calls
        for target, shown in made.provider_ids.items()
    ]
    book.add_calls(calls, assigned)
    return book


some_results = st.lists(
    st.builds(
        ToolResult,
        st.sampled_from([*RAW_IDS, *SHOWN, None]),
        name=st.sampled_from([*NAMES, "other", None]),
    ),
    max_size=12,
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(calls=ledgers(), results=some_results)
def test_both_books_say_the_same(
    database: Database, calls: list[Call], results: list[ToolResult]
) -> None:
    cid = stored(database, calls)
    said = asked(database, cid, lambda book: everything(book, calls))
    assert unshown(said) == unshown(everything(whole(calls), calls))
    assert asked(database, cid, lambda book: in_turn(book, results)) == in_turn(
        whole(calls), results
    )


def test_the_newest_turn_comes_first_and_inside_it_the_oldest_call(database: Database) -> None:
    calls = [call(seq, index) for seq in (1, 2) for index in (0, 1)]
    cid = stored(database, calls)

    def in_order(book: Book) -> list[object]:
        found: list[object] = []
        while made := book.open("raw", "call_0"):
            found.append(made)
            book.mark_answered(made.id)
        return [*found, book.answered("raw", "call_0")]

    first, second, third, fourth = calls
    newest = replace(fourth, answered=True)
    assert asked(database, cid, in_order) == [third, fourth, first, second, newest]


def test_a_question_is_asked_for_as_many_calls_as_it_needs(database: Database) -> None:
    """A hundred open calls under one id, of which the last ten are wanted: no more are loaded."""
    cid = stored(database, [call(seq) for seq in range(1, 101)])
    loaded: list[int] = []

    def how(known: object) -> Change[None]:
        book = known.book.copy()  # type: ignore[attr-defined]
        loaded.append(len(book.calls))
        for _ in range(10):
            book.mark_answered(book.open("raw", "call_0").id)
        return Change(None)

    database.write_now(Do(cid, how, Keys(named={("open", "raw", "call_0"): 10})))
    # A power of two, and one more to see whether there are others.
    assert loaded == [17]
