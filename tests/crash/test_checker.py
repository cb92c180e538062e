import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.crash.checker import damages, faults, stored
from tests.crash.posts import Post

POSTS = 4


@pytest.fixture
def posts(sqlite_database_url: str) -> list[Post]:
    """Four posts to two conversations, each acknowledged."""
    made = [Post(f"c{number % 2}", f"0-{number}") for number in range(POSTS)]
    with TestClient(create_app(Settings(database_url=sqlite_database_url))) as http:
        for post in made:
            response = http.post(post.path, content=post.body(), headers=post.headers)
            assert response.status_code == 201
            post.receipt = response.json()
    return made


@pytest.fixture
def kinds(posts: list[Post], sqlite_database_url: str) -> Callable[[str], set[str]]:
    """What the checker says of the store after a statement."""

    def said(statement: str) -> set[str]:
        _change(sqlite_database_url, statement)
        return {fault.kind for fault in faults(posts, stored(sqlite_database_url))}

    return said


def test_nothing_is_said_of_a_good_store(
    posts: list[Post], sqlite_database_url: str, tmp_path: Path
) -> None:
    assert faults(posts, stored(sqlite_database_url)) == []
    assert damages(sqlite_database_url, tmp_path) == []


def test_a_deleted_row_is_noticed(kinds: Callable[[str], set[str]]) -> None:
    deleted = "DELETE FROM turns WHERE conversation_id = 'c0' AND seq = 2"
    assert kinds(deleted) == {"lost", "gap", "half"}


def test_a_lost_end_is_noticed_though_it_leaves_no_gap(kinds: Callable[[str], set[str]]) -> None:
    assert kinds("DELETE FROM turns WHERE conversation_id = 'c0' AND seq > 3") == {"lost"}


def test_a_doubled_turn_is_noticed(
    kinds: Callable[[str], set[str]], posts: list[Post], sqlite_database_url: str, tmp_path: Path
) -> None:
    assert kinds(_doubled(sqlite_database_url, seq=6)) == {"twice"}
    assert damages(sqlite_database_url, tmp_path)


def test_a_half_batch_is_noticed_though_nobody_was_told_of_it(
    kinds: Callable[[str], set[str]], posts: list[Post]
) -> None:
    posts[2].receipt = None
    assert kinds("DELETE FROM turns WHERE conversation_id = 'c0' AND seq = 6") == {"half"}


def test_a_post_that_nobody_was_told_of_may_be_absent(
    kinds: Callable[[str], set[str]], posts: list[Post]
) -> None:
    posts[2].receipt = None
    assert kinds("DELETE FROM turns WHERE conversation_id = 'c0' AND seq > 3") == set()


def test_a_turn_in_another_place_than_its_receipt_says_is_noticed(
    kinds: Callable[[str], set[str]],
) -> None:
    assert kinds("UPDATE turns SET turn_id = 'other' WHERE seq = 1") == {"wrong"}


def test_a_turn_that_nobody_posted_is_noticed(posts: list[Post], sqlite_database_url: str) -> None:
    said = faults(posts[1:], stored(sqlite_database_url))
    assert {fault.kind for fault in said} == {"wrong"}


def test_a_row_without_its_conversation_is_a_damage(
    posts: list[Post], sqlite_database_url: str, tmp_path: Path
) -> None:
    _change(sqlite_database_url, "DELETE FROM conversations WHERE conversation_id = 'c0'")
    assert any("foreign_key_check" in line for line in damages(sqlite_database_url, tmp_path))


def test_an_index_that_lost_a_page_is_a_damage(
    posts: list[Post], sqlite_database_url: str, tmp_path: Path
) -> None:
    root = "SELECT rootpage FROM sqlite_master WHERE name = 'ix_turns_turn_id'"
    ((page,),) = _change(sqlite_database_url, root)
    ((size,),) = _change(sqlite_database_url, "PRAGMA page_size")
    with Path(sqlite_database_url.removeprefix("sqlite:///")).open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))
    assert any("integrity_check" in line for line in damages(sqlite_database_url, tmp_path))


def _change(url: str, statement: str) -> list[tuple[int, ...]]:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    try:
        with connection:
            return connection.execute(statement).fetchall()
    finally:
        connection.close()


def _doubled(url: str, seq: int) -> str:
    """The statement that stores a turn of c0 once more, behind the last one."""
    names = [str(row[1]) for row in _change(url, "PRAGMA table_info(turns)")]
    values = {"seq": "seq + 1", "turn_id": "'again'"}
    copied = ", ".join(values.get(name, name) for name in names)
    return (
        f"INSERT INTO turns ({', '.join(names)}) SELECT {copied} FROM turns"
        f" WHERE conversation_id = 'c0' AND seq = {seq}"
    )
