"""An anchor that was kept elsewhere shows what a chain that is sound again cannot show."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from app.cli import main
from app.database.database import engine_url
from tests.http_api import Api, api, calling, user

__all__ = ["api"]


@pytest.fixture
def anchor(api: Api, database_url: str, tmp_path: Path) -> Path:
    """That of two conversations, of which one has gone on since."""
    for cid in ("c1", "c2"):
        for said in ("one", "two", "three"):
            api.post(user(said), cid=cid)
    tools = {"provider": "anthropic", "tools": [{"name": "f", "input_schema": {"type": "object"}}]}
    assert api.http.put("/v1/conversations/c1/tools", json=tools).status_code == 200
    file = tmp_path / "anchor.jsonl"
    assert main(["verify", "--write-anchor", str(file), "--database-url", database_url]) == 0
    api.post(calling(("a", "f", "{}")), cid="c2")
    return file


def verified(url: str, anchor: Path) -> int:
    return main(["verify", "--anchor", str(anchor), "--database-url", url])


def run(url: str, *statements: str, **values: Any) -> None:
    engine = create_engine(engine_url(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement), values)
    engine.dispose()


def test_what_has_gone_on_agrees(anchor: Path, database_url: str) -> None:
    lines = [json.loads(line) for line in anchor.read_text().splitlines()]
    assert [(one["conversation_id"], one["version"]) for one in lines] == [("c1", 3), ("c2", 3)]
    assert verified(database_url, anchor) == 0


def test_a_tail_that_was_cut_off_is_found(
    api: Api, anchor: Path, database_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The head is made to fit, as one would who knows how."""
    api.http.delete("/v1/conversations/c1")
    for said in ("one", "two"):
        api.post(user(said))
    assert main(["verify", "--database-url", database_url]) == 0
    assert verified(database_url, anchor) == 1
    assert "it has 2 turns, and had 3" in capfd.readouterr().out


def test_a_history_that_was_written_anew_is_found(
    api: Api, anchor: Path, database_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    api.http.delete("/v1/conversations/c2")
    for said in ("one", "TWO", "three", "four"):
        api.post(user(said), cid="c2")
    assert main(["verify", "--database-url", database_url]) == 0
    assert verified(database_url, anchor) == 1
    out = capfd.readouterr().out
    assert "c2: " in out
    assert "ANCHOR_MISMATCH" in out
    assert "c1: " not in out


def test_tools_that_were_kept_anew_are_found(api: Api, anchor: Path, database_url: str) -> None:
    api.http.delete("/v1/conversations/c1")
    for said in ("one", "two", "three"):
        api.post(user(said))
    assert main(["verify", "--database-url", database_url]) == 0
    assert verified(database_url, anchor) == 1


def test_a_conversation_that_is_gone_is_found(
    anchor: Path, api: Api, database_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    api.http.delete("/v1/conversations/c1")
    assert verified(database_url, anchor) == 1
    assert "c1: the conversation of the anchor is gone" in capfd.readouterr().out


def test_a_conversation_that_does_not_agree_is_not_anchored(
    anchor: Path, database_url: str, tmp_path: Path
) -> None:
    run(database_url, "UPDATE turns SET model = :x WHERE conversation_id = 'c1'", x=b"x")
    file = tmp_path / "second.jsonl"
    assert main(["verify", "--write-anchor", str(file), "--database-url", database_url]) == 1
    assert [json.loads(line)["conversation_id"] for line in file.read_text().splitlines()] == ["c2"]


def test_an_anchor_that_cannot_be_written_is_told_before_anything_is_verified(
    anchor: Path, database_url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none" / "anchor.jsonl"
    words = ["verify", "--json", "--write-anchor", str(file), "--database-url", database_url]
    capfd.readouterr()
    assert main(words) == 2
    told = capfd.readouterr()
    assert (told.out, told.err) == ("", f"turnkeep: {file}: No such file or directory\n")


@pytest.mark.parametrize("content", ["{}", "nothing", '{"conversation_id":"c1","version":"1"}'])
def test_a_file_that_is_no_anchor_is_named(
    sqlite_database_url: str, tmp_path: Path, content: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text(content)
    assert verified(sqlite_database_url, file) == 2
    assert "Traceback" not in capfd.readouterr().err
    assert verified(sqlite_database_url, tmp_path / "absent.jsonl") == 2
    assert "absent.jsonl: No such file or directory" in capfd.readouterr().err
