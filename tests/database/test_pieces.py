"""Long turns stand in pieces: what is read of them is all of it, or nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, delete, select

from app.database import driver
from app.database.database import Database, engine_url
from app.database.scope import TooLong
from app.database.tables import turn_pieces
from app.jsontext.reading import loads_object
from app.model.large import PIECE
from app.model.limits import Limits
from app.turns.commands import Append
from app.turns.posting import read_post
from app.turns.turnform import made_ready, read_turn
from tests.statements import row_count


def said(text: str) -> Append:
    body = json.dumps({"provider": "openai", "messages": [{"role": "user", "content": text}]})
    post = read_post(*loads_object(body, Limits()), Limits())
    return Append("c1", made_ready(post.drafts))


def pieces(url: str) -> list[tuple[str, int]]:
    with beginning(url) as connection:
        found = connection.execute(select(turn_pieces.c.part, turn_pieces.c.place))
        return sorted((part, place) for part, place in found)


@contextmanager
def beginning(url: str) -> Iterator[Connection]:
    engine = create_engine(engine_url(url))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


@pytest.mark.parametrize("text", ["x" * (2 * PIECE), "\U0001f600" * (PIECE // 2)])
def test_what_is_long_by_its_bytes_stands_in_pieces(
    text: str, database: Database, database_url: str
) -> None:
    database.write_now(said(text))
    assert {part for part, _ in pieces(database_url)} == {"payload", "blocks"}
    (record,) = database.read_now(lambda store: store.turns.page("c1"))
    (block,) = read_turn(record).blocks or ()
    assert block.text == text  # type: ignore[union-attr]


def test_what_is_short_stands_in_its_row(database: Database, database_url: str) -> None:
    database.write_now(said("x" * PIECE))
    assert pieces(database_url) == []


@pytest.mark.parametrize("place", [0, 1, -1])
def test_a_turn_of_which_a_piece_is_lost_is_not_shown_as_if_it_were_whole(
    place: int, database: Database, database_url: str
) -> None:
    # Whichever piece in the middle is taken out, what is left is JSON.
    database.write_now(said("x" * (3 * PIECE)))
    places = [number for part, number in pieces(database_url) if part == "blocks"]
    with beginning(database_url) as connection:
        gone = (turn_pieces.c.part == "blocks", turn_pieces.c.place == places[place])
        assert connection.execute(delete(turn_pieces).where(*gone)).rowcount == 1
    (record,) = database.read_now(lambda store: store.turns.page("c1", payloads=False))
    assert read_turn(record).blocks is None


def test_one_long_turn_makes_a_long_read(database: Database) -> None:
    database.write_now(said("x" * (3 * PIECE)))

    def page(store: object) -> None:
        store.turns._short = True  # type: ignore[attr-defined]
        with pytest.raises(TooLong):
            store.turns.page("c1")  # type: ignore[attr-defined]

    database.read_now(page)


def test_many_rows_are_written_in_lots(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    execute = driver.execute

    def noted(connection: Connection, text: str, values: Any, *, many: bool = False) -> Any:
        sizes.append(row_count(values) if many else 0)
        return execute(connection, text, values, many=many)

    monkeypatch.setattr(driver, "execute", noted)
    made = [
        {"id": f"k{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for number in range(2 * driver._LOT + 1)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    body = json.dumps({"provider": "openai", "messages": [message]})
    post = read_post(*loads_object(body, Limits()), Limits())
    database.write_now(Append("c1", made_ready(post.drafts)))
    assert max(sizes) == driver._LOT
    calls = database.read_now(lambda store: store.ledger.made_in("c1", after=0, until=1))
    assert len(calls) == len(made)
