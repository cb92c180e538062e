"""Law 9 on every route: one damaged value hides nothing beside its own conversation.

For each column of each table one value is changed into something that cannot stand there. No
request fails but with the problem that says so, and whatever is asked of another conversation is
answered as before.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from tests.damage.stored import CID, COLUMNS, OTHER, TABLES, key_of, keys, opened, owner, serve
from tests.database.broken_index import break_index
from tests.http_api import user
from tests.long import IS_LONG

VALUES = {"bytes": "x'ff'", "text": "'no such value'", "not UTF-8": "CAST(x'ff41' AS TEXT)"}
PATHS = (
    "",
    "/turns",
    "/turns?raw=true",
    "/turns/broken",
    "/verify",
    "/tool-calls",
    "/tools?provider=openai",
    "/replay?provider=openai",
    "/replay?provider=kimi&since=1",
    "/replay?provider=neutral&last=2",
)
# What people look at; a problem is a page there.
PAGES = ("", "/turns?after=0", "/turns/broken", "/identity", "/replay", "/picture", "/verify")
LISTS = (
    "/v1/conversations",
    "/v1/conversations?order=updated&limit=3",
    "/v1/conversations?q=apple",
    "/v1/conversations?provider=openai&tool=f&metadata.k=v",
    "/v1/tool-calls/lookup?id=a",
    "/v1/tool-calls/lookup?id=nobody",
    "/v1/tool-calls/lookup?id=resp_1",
    "/v1/tool-calls/lookup?id=broken",
)


def spoil(url: str, table: str, column: str, value: str) -> None:
    with opened(url) as connection:
        first = keys(connection, TABLES[table], owner(table))[0]
        statement = f"UPDATE {table} SET {column} = {value} WHERE {key_of(TABLES[table])}"
        assert connection.execute(statement, first).rowcount == 1


def some(things: Sequence[Any], table: str, column: str) -> Sequence[Any]:
    """Every third of them, others for the next column, and all where there is time."""
    return things if IS_LONG else things[COLUMNS.index((table, column)) % 3 :: 3]


def others(listed: Any) -> list[Any]:
    """What a list says of the other conversation, but for what changes by itself."""
    return [one for one in listed["data"] if OTHER in (one.get("id"), one.get("conversation_id"))]


def asked(
    http: TestClient, paths: Sequence[str] = PATHS, lists: Sequence[str] = LISTS
) -> Iterator[tuple[str, Any]]:
    """Everything that can be asked of the other conversation."""
    for path in paths:
        yield path, http.get(f"/v1/conversations/{OTHER}{path}").json()
    for path in lists:
        listed = http.get(path)
        assert listed.status_code == 200, path
        yield path, others(listed.json())


@pytest.fixture(scope="module")
def healthy(filled: Path) -> dict[str, Any]:
    with serve(f"sqlite:///{filled}") as http:
        return dict(asked(http))


# Each column in one of these ways, and in all of them where there is time (`make test-long`).
DAMAGE = [
    pytest.param(table, column, value, id=f"{table}-{column}-{kind}")
    for number, (table, column) in enumerate(COLUMNS)
    for place, (kind, value) in enumerate(VALUES.items())
    if number % len(VALUES) == place or IS_LONG
]


@pytest.mark.parametrize(("table", "column", "value"), DAMAGE)
def test_a_damaged_value_is_contained(
    url_for: str,
    healthy: dict[str, Any],
    table: str,
    column: str,
    value: str,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    try:
        spoil(url_for, table, column, value)
    except sqlite3.IntegrityError:
        pytest.skip("the database itself refuses it")
    with serve(url_for) as http:
        damaged = owner(table)
        for path in PATHS:
            answer = http.get(f"/v1/conversations/{damaged}{path}")
            named = answer.status_code == 409 and answer.json()["code"] == "conversation_damaged"
            assert named or answer.status_code in (200, 404), (path, answer.text)
        body = {"provider": "openai", "messages": [user("more")]}
        answer = http.post(f"/v1/conversations/{damaged}/turns", json=body)
        assert answer.status_code in (201, 409), answer.text
        # A column shows up in the other conversation only where both are read together, as lists
        # are; pages and commands read as the paths above do, and each says what it found damaged.
        assert dict(asked(http, some(PATHS, table, column))).items() <= healthy.items()
        look(http, damaged, some(PAGES, table, column))
        for command in some(COMMANDS, table, column):
            command(url_for, capfdbinary)
        erase(url_for, http, damaged)
        # Verify reads all that there is of the other one.
        assert dict(asked(http, ("", "/verify"), LISTS[:2])).items() <= healthy.items()


def look(http: TestClient, damaged: str, pages: Sequence[str]) -> None:
    for path in pages:
        answer = http.get(f"/c/{damaged}{path}")
        assert answer.status_code in (200, 404, 409), (path, answer.text)
    assert http.get("/").status_code == 200


def verify(url: str, _: pytest.CaptureFixture[bytes]) -> None:
    assert main(["verify", "--database-url", url]) in (0, 1)


def reindex(url: str, _: pytest.CaptureFixture[bytes]) -> None:
    assert main(["reindex", "--database-url", url]) in (0, 1)


def export(url: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    capfdbinary.readouterr()
    assert main(["export", "--all", "--database-url", url]) in (0, 1)
    lines = capfdbinary.readouterr().out.splitlines()
    [line] = [one for one in map(json.loads, lines) if one["conversation_id"] == OTHER]
    assert [turn["turn_id"] for turn in line["turns"]][-4:-1] == ["resp", "broken", "broken-2"]


# Each gets through all conversations, and the other one is exported.
COMMANDS = (verify, export, reindex)


def erase(url: str, http: TestClient, damaged: str) -> None:
    """What is damaged can be erased, also where its head is not found any more."""
    erased = http.delete(f"/v1/conversations/{damaged}")
    assert erased.status_code == 200, erased.text
    owned = "tenant_id = 'default' AND conversation_id = ?"
    with opened(url) as connection:
        for name in TABLES:
            count = f"SELECT count(*) FROM {name} WHERE {owned}"
            assert connection.execute(count, (damaged,)).fetchone() == (0,), name


def test_a_list_names_what_it_cannot_show(url: str) -> None:
    spoil(url, "conversations", "created_at", "'yesterday'")
    with serve(url) as http:
        listed = http.get("/v1/conversations").json()
        assert [one["id"] for one in listed["data"]] == [OTHER, "long"]
        assert listed["damaged"] == [CID]
        page = http.get("/v1/conversations?limit=1").json()
        assert ([one["id"] for one in page["data"]], page["next_cursor"]) == ([OTHER], OTHER)
        report = http.get(f"/v1/conversations/{CID}/verify").json()
        assert report["problems"][0] == {
            "code": "VALUE_DAMAGED",
            "turn_id": None,
            "detail": "conversations.created_at holds what cannot stand there",
        }
        told = http.get(f"/v1/conversations/{CID}/replay?provider=openai")
        assert (told.status_code, told.json()["code"]) == (409, "conversation_damaged")


def test_a_lookup_names_what_it_cannot_show(url: str) -> None:
    spoil(url, "turns", "created_at", "'1999 or so'")
    with serve(url) as http:
        turn = http.get(f"/v1/conversations/{OTHER}/turns").json()["data"][0]
        assert turn["seq"] == 1
        with opened(url) as connection:
            connection.execute(
                "UPDATE turns SET turn_id = 'same' WHERE seq = 1 AND conversation_id != 'long'"
            )
        found = http.get("/v1/tool-calls/lookup?id=same").json()
        assert [one["conversation_id"] for one in found["data"]] == [OTHER]
        assert found["damaged"] == [CID]


def test_verify_and_export_name_the_damaged_and_go_on(
    url: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    spoil(url, "turns", "model", "x'ff'")
    assert main(["verify", "--database-url", url]) == 1
    told = capfdbinary.readouterr()
    assert told.out.startswith(b'c1: [{"code":"VALUE_DAMAGED"')
    assert b"2 conversations agree, 1 do not." in told.err
    assert main(["export", "--all", "--database-url", url]) == 1
    told = capfdbinary.readouterr()
    assert [json.loads(one)["conversation_id"] for one in told.out.splitlines()] == [OTHER, "long"]
    assert b"c1: it is damaged and left out" in told.err


@pytest.mark.parametrize(
    ("table", "column"), [("conversations", "created_at"), ("turns", "blocks")]
)
def test_reindex_names_the_damaged_and_goes_on(
    url: str, table: str, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(url, table, column, "'no such value'")
    with opened(url) as connection:
        connection.execute("DELETE FROM search_texts")
    for named in ([], [CID, OTHER, "long"]):
        assert main(["reindex", *named, "--database-url", url]) == 1
        told = capsys.readouterr()
        assert told.err == "c1: it is damaged; turnkeep verify says where\n"
        assert told.out == "2 conversations can be found, with their texts.\n"
    with serve(url) as http:
        found = http.get("/v1/conversations?q=apple").json()["data"]
        assert [one["id"] for one in found] == [OTHER]


def test_reindex_makes_a_damaged_number_of_the_index_again(url: str) -> None:
    spoil(url, "search_texts", "number", "'no such value'")
    assert main(["reindex", "--database-url", url]) == 0
    with opened(url) as connection:
        kinds = connection.execute("SELECT DISTINCT typeof(number) FROM search_texts").fetchall()
    assert kinds == [("integer",)]


def test_verify_names_a_broken_index_and_goes_on(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    break_index(url)
    assert main(["verify", "--database-url", url]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("the full-text index is broken")
    assert "turnkeep reindex" in told.out
    assert told.err == "3 conversations agree, 0 do not.\n"
    assert main(["verify", "--json", "--database-url", url]) == 1
    *reports, index = map(json.loads, capsys.readouterr().out.splitlines())
    assert [one["ok"] for one in reports] == [True, True, True]
    assert (index["index"], index["ok"]) == ("search", False)
    assert main(["reindex", "--database-url", url]) == 0
    assert main(["verify", "--database-url", url]) == 0


def test_what_is_damaged_and_has_expired_is_swept_with_the_others(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(url) as connection:
        connection.execute("UPDATE conversations SET expires_at = '2020-01-01 00:00:00.000000'")
    spoil(url, "conversations", "version", "CAST(x'ff41' AS TEXT)")
    assert main(["sweep", "--database-url", url]) == 0
    assert capsys.readouterr().out.startswith("3 conversations were removed")


def test_what_is_no_damage_is_still_a_defect(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.replay.http.Replaying.of", lambda *_: int("no number"))
    with serve(url) as http, pytest.raises(ValueError, match="no number"):
        http.get(f"/v1/conversations/{CID}/replay?provider=openai")
