"""SQLite's full-text index: it keeps few levels, and a broken one is rebuilt and blocks nothing."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from app.cli.reindex import catch_up
from app.conversations.commands import Erase
from app.conversations.queries import Asked, listed
from app.database.database import Database
from app.database.migrations import rebuild_index, upgrade
from app.database.sqlite import LONGEST
from app.model.errors import Unavailable
from tests.conversations.test_erasing import comes_true
from tests.database.broken_index import BREAKS, add_levels, break_index, check_index, levels, opened
from tests.turns.test_append_work import append


@pytest.fixture
def url(sqlite_database_url: str) -> str:
    """A database with two conversations that are indexed."""
    with Database(sqlite_database_url) as database:
        say(database, "a", "pears")
        say(database, "b", "plums")
        catch_up(database)
    return sqlite_database_url


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with Database(url) as database:
        yield database


def say(database: Database, cid: str, text: str) -> None:
    append(database, cid, {"provider": "kimi", "messages": [{"role": "user", "content": text}]})


def found(database: Database, q: str) -> list[str]:
    page: Any = database.read_now(partial(listed, wish=Asked(q=q)))
    return [one["id"] for one in page["data"]]


def scrubbed(database: Database) -> bool:
    return comes_true(lambda: not database._threads[0]._transactions.scrubs)


@pytest.mark.parametrize("how", BREAKS)
def test_appends_go_on_with_a_broken_index(url: str, database: Database, how: str) -> None:
    break_index(url, how)
    say(database, "new", "pears")
    catch_up(database)
    # Lost pages are noticed where they are read, at the latest at the next start.
    upgrade(url)
    assert found(database, "pears") == ["a", "new"]
    check_index(url)


@pytest.mark.parametrize("how", BREAKS)
def test_erasing_goes_on_with_a_broken_index(url: str, database: Database, how: str) -> None:
    break_index(url, how)
    database.write_now(Erase("a"))
    assert scrubbed(database)
    assert found(database, "pears") == []
    assert found(database, "plums") == ["b"]
    check_index(url)


@pytest.mark.parametrize("how", BREAKS)
def test_expired_conversations_are_removed_with_a_broken_index(
    url: str, database: Database, how: str
) -> None:
    with opened(url) as driver:
        expires_at = "UPDATE conversations SET expires_at = '2020-01-01 00:00:00.000000'"
        driver.execute(f"{expires_at} WHERE conversation_id = 'a'")
    break_index(url, how)
    assert database.sweep_now()["conversations"] == 1
    assert scrubbed(database)
    check_index(url)


def test_writing_goes_on_if_the_index_breaks_meanwhile(url: str, database: Database) -> None:
    say(database, "c", "pears")
    catch_up(database)
    assert found(database, "pears") == ["a", "c"]
    break_index(url)
    database.write_now(Erase("a"))
    say(database, "d", "pears")
    catch_up(database)
    assert found(database, "pears") == ["c", "d"]
    check_index(url)


def test_a_start_that_cannot_rebuild_the_index_says_so(url: str) -> None:
    break_index(url)
    with opened(url) as driver:
        driver.execute("DROP TABLE search_words_idx")
    with pytest.raises(Unavailable, match="cannot be rebuilt: no such table"):
        upgrade(url)


@pytest.mark.parametrize("how", [how for how in BREAKS if how != "no averages"])
def test_an_index_that_cannot_be_read_is_rebuilt_at_the_start(url: str, how: str) -> None:
    break_index(url, how)
    upgrade(url)
    check_index(url)
    with Database(url) as database:
        assert found(database, "pears") == ["a"]


def test_an_index_of_nearly_too_many_levels_is_rebuilt_at_the_start(url: str) -> None:
    add_levels(url)
    check_index(url)
    upgrade(url)
    assert levels(url) < 10
    check_index(url)


def test_a_sound_index_is_left_alone_at_the_start(url: str) -> None:
    with opened(url) as driver:
        before = driver.execute("SELECT * FROM search_words_data").fetchall()
        upgrade(url)
        assert driver.execute("SELECT * FROM search_words_data").fetchall() == before


def test_erasing_keeps_the_levels_of_the_index_few(url: str, database: Database) -> None:
    """SQLite 3.40.1 adds up to two with each scrub."""
    add_levels(url, LONGEST // 2 - 10)
    most = 0
    for number in range(12):
        say(database, f"stays{number}", f"pears {number}")
        say(database, f"goes{number}", f"plums {number}")
        catch_up(database)
        database.write_now(Erase(f"goes{number}"))
        assert scrubbed(database)
        most = max(most, levels(url))
    assert most <= LONGEST // 2 + 2
    assert levels(url) < 100
    assert len(found(database, "pears")) == 13
    check_index(url)


def test_the_index_says_that_it_is_broken(url: str, database: Database) -> None:
    break_index(url)
    assert "turnkeep reindex" in (database.index_fault() or "")
    with pytest.raises(Unavailable):
        found(database, "pears")
    rebuild_index(url)
    assert database.index_fault() is None


def test_a_command_is_refused_if_the_index_cannot_be_rebuilt(url: str, database: Database) -> None:
    break_index(url)
    with opened(url) as driver:
        [(table,)] = driver.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'search_words_idx'"
        ).fetchall()
        driver.execute("DROP TABLE search_words_idx")
        with pytest.raises(Unavailable):
            database.write_now(Erase("a"))
        driver.execute(table)
    database.write_now(Erase("a"))
    check_index(url)
