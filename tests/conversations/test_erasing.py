"""What is erased is gone: from all tables, and from the bytes of the SQLite file and its log."""

import contextlib
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partialmethod
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text
from sqlalchemy.engine.interfaces import DBAPIConnection

from app.cli import main
from app.conversations import http as conversations
from app.database import sqlite
from app.database.database import Database, engine_url
from app.database.tables import TENANTS_ROWS
from app.ledger.records import PARTS, SMALL
from app.main import create_app
from app.model.errors import Unavailable
from app.settings import Settings
from tests.database.broken_index import add_levels
from tests.http_api import Api, answering, calling, user
from tests.postgres import candidates

CANARY = "canary_"
# Texts of others are kept as bytes, which a dump shows in hexadecimal.
FORMS = CANARY.encode(), CANARY.encode().hex().encode()


def tell(api: Api, cid: str, canary: str) -> None:
    """A conversation with a canary in every kind of content."""
    here = f"/v1/conversations/{cid}"
    api.http.post("/v1/conversations", json={"id": cid, "title": f"{canary}title"})
    api.http.patch(here, json={"metadata": {f"{canary}key": f"{canary}value"}})
    tool = {"name": f"{canary}tool", "description": f"{canary}told", "input_schema": {}}
    api.http.put(f"{here}/tools", json={"provider": "anthropic", "tools": [tool]})
    done = api.post(
        user(f"{canary}text"),
        calling((f"{canary}id", f"{canary}name", f'{{"a": "{canary}argument"}}')),
        answering(f"{canary}id", f"{canary}result"),
        cid=cid,
        model=f"{canary}model",
        metadata={"m": f"{canary}metadata"},
        turn_ids=[f"{canary}turn", None, None],
        headers={"Idempotency-Key": f"{canary}idempotent"},
    )
    assert done.status_code == 201
    part = b'{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"%s"}}]}\n'
    stream = f"{here}/turns/stream?provider=openai&turn_id=t"
    for end in (b"", b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n'):
        said = part % f"{canary}stream".encode() + end
        kind = {"content-type": "application/x-ndjson"}
        assert api.http.post(stream, content=said, headers=kind).is_success
    # The words are indexed before a search answers.
    assert len(api.http.get("/v1/conversations", params={"q": f"{canary}text"}).json()["data"]) == 1


def rows(url: str) -> dict[str, list[Any]]:
    engine = create_engine(engine_url(url))
    with engine.connect() as connection:
        found = {
            name: list(connection.execute(text(f"SELECT * FROM {name}")))
            for name in (table.name for table in TENANTS_ROWS)
        }
    engine.dispose()
    return found


def left(url: str) -> int:
    """How many canaries are in the file and in its log; texts are indexed in lower case."""
    file = Path(url.removeprefix("sqlite:///"))
    log = file.with_name(f"{file.name}-wal")
    return sum(one.read_bytes().lower().count(CANARY.encode()) for one in (file, log))


def comes_true(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + 30
    while not (done := condition()) and time.monotonic() < until:
        time.sleep(0.02)
    return done


def test_erasing_leaves_no_row(api: Api, database_url: str) -> None:
    tell(api, "c1", CANARY)
    before = rows(database_url)
    empty = {name for name, found in before.items() if not found}
    assert empty == {"turn_pieces"}
    assert api.http.delete("/v1/conversations/c1").status_code == 200
    assert {name for name, found in rows(database_url).items() if found} == set()


@pytest.mark.parametrize("turns", [0, SMALL], ids=["at once", "in steps"])
def test_the_receipt_says_what_was_removed_and_no_word_of_it(
    api: Api, database_url: str, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Somebody else removes rows, too: the counts are those of what there was.
    monkeypatch.setattr(Database, "sweep_now", partialmethod(by_somebody_else, Database.sweep_now))
    tell(api, "c1", CANARY)
    api.post(*[user("x")] * (turns or 1), headers={"Idempotency-Key": "k"})
    api.post(user("other"), cid="other")
    before = rows(database_url)
    erased = api.http.delete("/v1/conversations/c1")
    assert CANARY not in erased.text
    told = erased.json()
    assert told["conversation_id"] == "c1"
    assert datetime.fromisoformat(told["erased_at"]) <= datetime.now(UTC)
    tables = {"revisions": "turn_revisions"}
    assert told["removed"] == {
        part: sum(cid == "c1" for _, cid, *_ in before[tables.get(part, part)]) for part in PARTS
    }
    assert all(told["removed"].values())
    again = api.http.delete("/v1/conversations/c1")
    assert (again.status_code, again.json()["code"]) == (404, "conversation_not_found")


def behead(url: str, cid: str) -> None:
    """Removes a head by hand, and leaves its rows."""
    engine = create_engine(engine_url(url))
    unbound = "PRAGMA foreign_keys = OFF"
    if engine.dialect.name == "postgresql":
        unbound = "SET session_replication_role = replica"
    with engine.connect() as connection:
        connection.execute(text(unbound))
        connection.execute(text(f"DELETE FROM conversations WHERE conversation_id = '{cid}'"))
        connection.commit()
    engine.dispose()


def test_rows_without_their_conversation_are_erased(api: Api, database_url: str) -> None:
    """With a receipt; then there is room for another one under the id."""
    tell(api, "c1", CANARY)
    tell(api, "c2", "other_")
    before = rows(database_url)
    behead(database_url, "c1")
    assert api.get("verify").json()["problems"][0]["code"] == "HEAD_MISSING"
    asked = api.http.delete("/v1/conversations/c1", headers={"If-Match": '"1"'})
    assert (asked.status_code, asked.json()["code"]) == (409, "conversation_damaged")
    erased = api.http.delete("/v1/conversations/c1")
    assert erased.status_code == 200
    mine = {name: [row for row in found if row[1] == "c1"] for name, found in before.items()}
    tables = {"revisions": "turn_revisions"}
    removed = {part: len(mine[tables.get(part, part)]) for part in PARTS}
    assert erased.json()["removed"] == removed
    assert all(removed.values())
    assert rows(database_url) == {
        name: [row for row in found if row not in mine[name]] for name, found in before.items()
    }
    again = api.http.delete("/v1/conversations/c1")
    assert (again.status_code, again.json()["code"]) == (404, "conversation_not_found")
    assert api.post(user("x")).json()["version"] == 1
    assert api.get("verify").json()["ok"]


def test_a_damaged_head_has_no_version_to_compare(lite: Api, sqlite_database_url: str) -> None:
    tell(lite, "c1", CANARY)
    engine = create_engine(engine_url(sqlite_database_url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE conversations SET version = 'x'"))
    engine.dispose()
    asked = lite.http.delete("/v1/conversations/c1", headers={"If-Match": '"1"'})
    assert (asked.status_code, asked.json()["code"]) == (409, "conversation_damaged")
    assert lite.http.delete("/v1/conversations/c1").status_code == 200


def test_erasing_goes_on_when_somebody_else_removes_rows_at_the_moment(
    api: Api, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL waits a quarter of a second for a row that another process has locked."""
    refused = iter([True, True, False, True])

    def locked(database: Database, sweep: Callable[..., Any], **what: Any) -> Any:
        if what.get("cid") and next(refused, False):
            raise Unavailable.silent("locked")
        return sweep(database, **what)

    monkeypatch.setattr(Database, "sweep_now", partialmethod(locked, Database.sweep_now))
    api.post(*[user("x")] * (SMALL + 1))
    assert api.http.delete("/v1/conversations/c1").status_code == 200
    assert {name for name, found in rows(database_url).items() if found} == set()


def by_somebody_else(database: Database, sweep: Callable[..., Any], **what: Any) -> Any:
    sweep(database, most=3)
    return sweep(database, **what)


@contextlib.contextmanager
def locked(url: str) -> Iterator[None]:
    """Another session keeps the rows of turns from being removed, and lets them be read."""
    if url.startswith("postgresql"):
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE turns IN SHARE MODE")
            yield
            other.rollback()
        return
    file = url.removeprefix("sqlite:///")
    driver = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    with contextlib.closing(driver) as other_file:
        other_file.execute("BEGIN IMMEDIATE")
        yield


def test_a_receipt_says_what_could_not_be_removed_yet(
    api: Api, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "_MOST_FAILURES", 1)
    sweep = Database.sweep_now
    api.post(*[user("x")] * (SMALL + 1), headers={"Idempotency-Key": "k"})
    with contextlib.ExitStack() as other:

        def held(database: Database, **what: Any) -> Any:
            # The conversation is absent already; on SQLite it could not be made so after this.
            other.enter_context(locked(database_url))
            return sweep(database, **what)

        monkeypatch.setattr(Database, "sweep_now", held)
        erased = api.http.delete("/v1/conversations/c1")
        assert erased.status_code == 202
        told = erased.json()
        assert set(told["removed"].values()) == {0}
        assert told["left"] == dict.fromkeys(PARTS, 0) | {"turns": SMALL + 1, "idempotency_keys": 1}
        assert len(rows(database_url)["turns"]) == SMALL + 1
        assert api.get("").status_code == 404
    monkeypatch.undo()
    assert main(["sweep", "--database-url", database_url]) == 0
    assert not any(rows(database_url).values())


def test_a_receipt_counts_what_was_removed_before_the_database_refused(
    postgres_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "_MOST_FAILURES", 1)
    sweep = partialmethod(Database.sweep_now, most=SMALL)
    monkeypatch.setattr(Database, "sweep_now", sweep)
    settings = Settings(database_url=postgres_database_url, allow_unsafe=True)
    with TestClient(create_app(settings)) as http:
        api = Api(http)
        tell(api, "c1", CANARY)
        api.post(*[user("x")] * 3 * SMALL)
        before = rows(postgres_database_url)
        with psycopg.connect(postgres_database_url) as other:
            # The last turn is removed last.
            other.execute("SELECT 1 FROM turns ORDER BY seq DESC LIMIT 1 FOR UPDATE")
            erased = http.delete("/v1/conversations/c1")
        after = rows(postgres_database_url)
    assert erased.status_code == 202
    told, tables = erased.json(), {"revisions": "turn_revisions"}
    for part in PARTS:
        name = tables.get(part, part)
        assert told["left"][part] == len(after[name])
        assert told["removed"][part] == len(before[name]) - len(after[name])
    assert {name for name, found in after.items() if found} == {"conversations", "turns"}
    assert len(after["turns"]) < len(before["turns"])


@pytest.mark.parametrize("many", [False, True], ids=["few levels", "nearly too many levels"])
def test_erasing_leaves_no_byte_in_the_file_or_its_log(
    lite: Api, sqlite_database_url: str, many: bool
) -> None:
    """The full-text index is merged if it has few levels, and rebuilt otherwise."""
    tell(lite, "c1", CANARY)
    tell(lite, "other", "sparrow_")
    if many:
        add_levels(sqlite_database_url)
    assert left(sqlite_database_url) > 0
    assert lite.http.delete("/v1/conversations/c1").status_code == 200
    assert comes_true(lambda: left(sqlite_database_url) == 0)
    assert lite.get("verify", cid="other").json()["ok"]
    found = lite.http.get("/v1/conversations", params={"q": "sparrow_text"}).json()["data"]
    assert [one["id"] for one in found] == ["other"]


def dumped(url: str, *options: str) -> bytes:
    """What the first `pg_dump` writes that knows this server."""
    tried = []
    for folder in candidates():
        done = subprocess.run(
            [folder / "pg_dump", "--dbname", url, *options], check=False, capture_output=True
        )
        if done.returncode == 0:
            return done.stdout
        tried.append(f"{folder}: {done.stderr.decode()}")
    raise AssertionError(f"no pg_dump works: {tried}")


def test_erasing_leaves_no_byte_in_a_dump(postgres_database_url: str) -> None:
    with TestClient(create_app(Settings(database_url=postgres_database_url))) as http:
        api = Api(http)
        tell(api, "c1", CANARY)
        tell(api, "other", "sparrow_")
        before = dumped(postgres_database_url).lower()
        assert all(before.count(form) > 0 for form in FORMS)
        assert api.http.delete("/v1/conversations/c1").status_code == 200
        after = dumped(postgres_database_url).lower()
    assert [after.count(form) for form in FORMS] == [0, 0]
    assert b"sparrow_" in after


def test_what_a_reader_still_sees_is_removed_when_it_has_ended(
    lite: Api, sqlite_database_url: str
) -> None:
    tell(lite, "c1", CANARY)
    file = sqlite_database_url.removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turns").fetchone()
        assert lite.http.delete("/v1/conversations/c1").status_code == 200
        # Others write meanwhile.
        assert lite.post(user("x"), cid="c2").status_code == 201
        assert left(sqlite_database_url) > 0
        reader.execute("ROLLBACK")
        assert comes_true(lambda: left(sqlite_database_url) == 0)


def test_pages_are_overwritten_however_sqlite_was_built(sqlite_database_url: str) -> None:
    file = sqlite_database_url.removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as driver:
        driver.execute("PRAGMA secure_delete = OFF")
        sqlite.on_connect(cast(DBAPIConnection, driver), "write")
        assert driver.execute("PRAGMA secure_delete").fetchone() == (1,)
