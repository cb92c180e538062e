"""Two replays side by side: rows by turns, and what differs."""

from collections.abc import Sequence

from app.jsontext.writing import dumps
from app.model.json_values import Json, JsonObject
from app.pages.aligned import Row, Told, aligned, unplaced


def told(*messages: tuple[Json, Sequence[str]], repairs: Sequence[JsonObject] = ()) -> Told:
    return Told(
        [dumps(message) for message, _ in messages],
        [turns for _, turns in messages],
        [7 for _ in messages],
        repairs,
    )


def counts(rows: Sequence[Row]) -> list[tuple[list[str], int, int]]:
    return [(list(row.turns), len(row.left.messages), len(row.right.messages)) for row in rows]


def marked(row: Row) -> tuple[list[str], list[str]]:
    return tuple(  # type: ignore[return-value]
        [line.text.strip() for message in side.messages for line in message.lines if line.differs]
        for side in (row.left, row.right)
    )


def test_messages_of_one_turn_stand_in_one_row() -> None:
    left = told((1, ["a"]), (2, ["b"]), (3, ["c"]))
    right = told((1, ["a"]), (2, ["b", "c"]))
    assert counts(aligned(left, right)) == [(["a"], 1, 1), (["b", "c"], 2, 1)]


def test_what_one_side_leaves_out_leaves_a_gap() -> None:
    left = told((1, ["a"]), (3, ["c"]))
    right = told((1, ["a"]), (2, ["b"]), (3, ["c"]))
    assert counts(aligned(left, right)) == [(["a"], 1, 1), (["b"], 0, 1), (["c"], 1, 1)]


def test_what_is_of_no_turn_stands_with_the_message_before_it() -> None:
    left = told((1, ["a"]), ("bridge", []), (2, ["b"]))
    right = told((1, ["a"]), (2, ["b"]))
    assert counts(aligned(left, right)) == [(["a"], 2, 1), (["b"], 1, 1)]
    first = aligned(told(("bridge", []), (1, ["a"])), told((1, ["a"])))
    assert counts(first) == [([], 1, 0), (["a"], 1, 1)]


def test_only_values_that_the_other_side_lacks_are_marked() -> None:
    left = told(({"role": "user", "id": "toolu_1", "text": "the same"}, ["a"]))
    right = told(({"role": "user", "call_id": "call_1", "content": ["the same"]}, ["a"]))
    [row] = aligned(left, right)
    assert marked(row) == (['"id": "toolu_1",'], ['"call_id": "call_1",'])


def test_repairs_stand_with_their_turn_or_above_all() -> None:
    here: JsonObject = {"code": "ID_REMAPPED", "turn_id": "b", "detail": ""}
    nowhere: JsonObject = {"code": "EMPTY_HISTORY", "turn_id": None, "detail": ""}
    left = told((1, ["a"]), (2, ["b"]), repairs=[here, nowhere])
    rows = aligned(left, told((1, ["a"]), (2, ["b"])))
    assert [row.left.repairs for row in rows] == [[], [here]]
    assert [row.right.repairs for row in rows] == [[], []]
    assert unplaced(left, rows) == [nowhere]


def test_nothing_beside_nothing() -> None:
    assert aligned(told(), told()) == []


def test_a_very_long_message_is_cut_and_says_so() -> None:
    [row] = aligned(told((list(range(1000)), ["a"])), told())
    [message] = row.left.messages
    assert (len(message.lines), message.left_out) == (400, 602)
