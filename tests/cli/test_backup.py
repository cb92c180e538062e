"""A backup is made under load, says when it is damaged, and gives back what was there."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.main import create_app
from app.settings import Settings
from tests.http_api import Api, answering, calling, user

Run = Callable[..., int]


@pytest.fixture
def run(sqlite_database_url: str) -> Run:
    def run(command: str, *args: object, url: str = sqlite_database_url) -> int:
        return main([command, *map(str, args), "--database-url", url])

    return run


@contextlib.contextmanager
def served(url: str) -> Iterator[Api]:
    with TestClient(create_app(Settings(database_url=url))) as http:
        yield Api(http)


def told(api: Api) -> list[Any]:
    api.post(user("a"), calling(("x", "read", "{}")), headers={"Idempotency-Key": "k"})
    api.post(answering("x", "1"), cid="c1")
    return [api.replay(provider)["prefix"] for provider in ("openai", "anthropic", "kimi")]


def test_what_is_restored_answers_as_before(
    run: Run, sqlite_database_url: str, tmp_path: Path
) -> None:
    copy, again = tmp_path / "copy.db", f"sqlite:///{tmp_path / 'again.db'}"
    with served(sqlite_database_url) as api:
        before = told(api)
        ending = threading.Event()

        def write() -> None:
            number = 0
            while not ending.is_set():
                assert api.post(user(str(number)), cid="busy").status_code == 201
                number += 1

        writing = threading.Thread(target=write)
        writing.start()
        try:
            assert run("backup", copy) == 0
        finally:
            ending.set()
            writing.join()
        # It does not hold what came later.
        api.post(user("later"))
    assert run("restore", copy, url=again) == 0
    assert run("verify", url=again) == 0
    with served(again) as api:
        body = {"provider": "openai", "messages": [user("a"), calling(("x", "read", "{}"))]}
        retried = api.http.post(
            "/v1/conversations/c1/turns", json=body, headers={"Idempotency-Key": "k"}
        )
        assert (retried.status_code, retried.headers["idempotent-replayed"]) == (200, "true")
        assert [api.replay(one)["prefix"] for one in ("openai", "anthropic", "kimi")] == before
        assert api.post(user("new")).json()["version"] == 4


def test_nothing_is_overwritten(
    run: Run, sqlite_database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.db"
    copy.write_text("mine")
    assert run("backup", copy) == 2
    assert copy.read_text() == "mine"
    assert run("backup", tmp_path / "good.db") == 0
    assert run("restore", tmp_path / "good.db") == 2
    assert "nothing is overwritten" in capsys.readouterr().err
    log = tmp_path / "again.db-wal"
    log.write_text("of another one")
    assert run("restore", tmp_path / "good.db", url=f"sqlite:///{tmp_path / 'again.db'}") == 2


@pytest.mark.parametrize("where", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_changed_bit_is_noticed_and_nothing_is_left_behind(
    run: Run, tmp_path: Path, where: float, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, again = tmp_path / "copy.db", tmp_path / "again.db"
    assert run("backup", copy) == 0
    held = bytearray(copy.read_bytes())
    held[int(len(held) * where)] ^= 1
    copy.write_bytes(held)
    assert run("restore", copy, url=f"sqlite:///{again}") == 1
    assert "is damaged" in capsys.readouterr().err
    assert not again.exists()


def test_a_backup_without_its_checksum_is_not_finished(run: Run, tmp_path: Path) -> None:
    copy, again = tmp_path / "copy.db", tmp_path / "again.db"
    assert run("backup", copy) == 0
    (tmp_path / "copy.db.sha256").unlink()
    assert run("restore", copy, url=f"sqlite:///{again}") == 1
    assert not again.exists()


def test_a_backup_of_what_does_not_agree_says_so(
    run: Run, sqlite_database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(sqlite_database_url) as api:
        told(api)
    file = sqlite_database_url.removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE turns SET model = 'other' WHERE seq = 1")
    assert run("backup", tmp_path / "copy.db") == 1
    assert "HASH_MISMATCH" in capsys.readouterr().out


def test_postgresql_has_its_own_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("backup", "restore"):
        url = "postgresql://nobody@127.0.0.1:1/nothing"
        assert main([command, str(tmp_path / "copy.db"), "--database-url", url]) == 2
        assert "pg_dump" in capsys.readouterr().err
