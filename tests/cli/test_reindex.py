"""`turnkeep reindex`."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from app.cli import main
from app.cli.reindex import catch_up
from app.conversations.commands import Describe
from app.conversations.queries import Asked, listed
from app.database.database import Database
from app.verify.queries import verify
from tests.database.broken_index import BREAKS, break_index, check_index, opened
from tests.search.test_finding import run
from tests.turns.test_append_work import append, rounds


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database(database_url) as database:
        yield database


def found(database: Database, **wish: Any) -> list[str]:
    """What is indexed is found; nothing is indexed for it."""
    page: Any = database.read_now(partial(listed, wish=Asked(**wish)))
    return [one["id"] for one in page["data"]]


def test_a_conversation_is_found_by_everything_after_reindex(
    database: Database, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By words, title, tool and metadata: nothing but the turns and the head is needed."""
    append(database, "old", rounds(1, 30))
    database.write_now(Describe("old", "Aged", {"a": 1}, frozenset({"title", "metadata"})))
    catch_up(database)
    wishes: tuple[dict[str, Any], ...] = (
        {"q": "call_7"},
        {"title": "aged"},
        {"tool": ["f"]},
        {"metadata": [("a", "1")]},
    )
    assert [found(database, **wish) for wish in wishes] == [["old"]] * len(wishes)
    for table in ("search_texts", "conversation_facets"):
        run(database, f"DELETE FROM {table}")
    assert [found(database, **wish) for wish in wishes] == [[]] * len(wishes)
    assert main(["reindex", "--database-url", database_url]) == 0
    assert "1 conversations" in capsys.readouterr().out
    assert [found(database, **wish) for wish in wishes] == [["old"]] * len(wishes)
    assert database.read_now(partial(verify, cid="old"))["ok"]


def test_named_conversations_alone_are_made_again(
    database: Database, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for cid in ("a", "b"):
        append(database, cid, rounds(1, 1))
    catch_up(database)
    run(database, "DELETE FROM search_texts")
    assert main(["reindex", "b", "--database-url", database_url]) == 0
    assert found(database, q="call_1") == ["b"]
    assert main(["reindex", "nowhere", "--database-url", database_url]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_the_setting_decides_whether_words_are_kept(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(database, "a", rounds(1, 1))
    catch_up(database)
    assert found(database, q="call_1") == ["a"]
    monkeypatch.setenv("TURNKEEP_SEARCH", "false")
    assert main(["reindex", "--database-url", database_url]) == 0
    assert found(database, q="call_1") == []
    assert found(database, tool=["f"]) == ["a"]


@pytest.mark.parametrize("how", BREAKS)
def test_the_index_of_sqlite_is_built_from_nothing(sqlite_database_url: str, how: str) -> None:
    with Database(sqlite_database_url) as database:
        append(database, "a", rounds(1, 1))
        catch_up(database)
        break_index(sqlite_database_url, how)
        assert main(["reindex", "--database-url", sqlite_database_url]) == 0
        assert found(database, q="call_1") == ["a"]
    check_index(sqlite_database_url)


def test_words_that_no_table_has_leave_the_index_of_sqlite(sqlite_database_url: str) -> None:
    with Database(sqlite_database_url) as database:
        append(database, "a", rounds(1, 1))
        catch_up(database)
        with opened(sqlite_database_url) as driver:
            driver.execute("INSERT INTO search_words (rowid, words) VALUES (99, 'stray')")
        assert main(["reindex", "--database-url", sqlite_database_url]) == 0
    check_index(sqlite_database_url)
