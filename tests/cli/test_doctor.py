"""`turnkeep doctor`: each thing it looks at, well and not well."""

import json
import shutil
import socket
import sqlite3
from collections import namedtuple
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.cli import databasechecks
from app.cli.doctor import newest
from tests.cli.conftest import Run, World
from tests.cli.test_asking import PAGE, answering
from tests.database.broken_index import break_index
from tests.e2e.server import free_port


def checks(run: Run, *args: str) -> dict[str, tuple[str, str]]:
    """The worst that was said of each thing."""
    done = run("doctor", "--json", *args)
    told = json.loads(done.out)
    bad = any(check["state"] == "bad" for check in told["checks"])
    assert told["ok"] == (not bad)
    assert done.code == bad
    found: dict[str, tuple[str, str]] = {}
    for check in told["checks"]:
        if found.get(check["name"], ("ok", ""))[0] == "ok":
            found[check["name"]] = (check["state"], check["said"])
    return found


@pytest.fixture
def port() -> list[str]:
    return ["--port", str(free_port())]


def test_all_is_well(world: World, run: Run, port: list[str]) -> None:
    found = checks(run, *port, "--database-url", world.database_url)
    # The PostgreSQL of the tests syncs nothing.
    unsafe = "postgresql" in world.database_url
    assert found.pop("durability")[0] == ("bad" if unsafe else "ok")
    assert {state for state, _ in found.values()} == {"ok"}
    index = [] if unsafe else ["index"]
    assert list(found) == ["database", "schema", "disk", *index, "clock", "keys", "port"]


def test_what_is_unsafe_may_be_accepted(
    postgres_database_url: str, run: Run, port: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNKEEP_ALLOW_UNSAFE", "true")
    state, said = checks(run, *port, "--database-url", postgres_database_url)["durability"]
    assert state == "warning"
    assert "fsync is off" in said


def test_an_old_schema_is_told_what_to_run(run: Run, tmp_path: Path, port: list[str]) -> None:
    (tmp_path / "empty.db").touch()
    state, said = checks(run, *port, "--database-url", "sqlite:///empty.db")["schema"]
    assert state == "bad"
    assert "turnkeep migrate" in said


def test_what_is_no_database_is_told(run: Run, tmp_path: Path, port: list[str]) -> None:
    (tmp_path / "notes.txt").write_text("hello " * 1000)
    state, said = checks(run, *port, "--database-url", "sqlite:///notes.txt")["database"]
    assert state == "bad"
    assert "not a database" in said


def test_another_journal_is_told(sqlite_database_url: str, run: Run, port: list[str]) -> None:
    driver = sqlite3.connect(sqlite_database_url.removeprefix("sqlite:///"))
    driver.execute("PRAGMA journal_mode = DELETE")
    driver.close()
    state, said = checks(run, *port, "--database-url", sqlite_database_url)["durability"]
    assert state == "warning"
    assert "turnkeep migrate" in said
    assert run("migrate", "--database-url", sqlite_database_url).code == 0
    assert checks(run, *port, "--database-url", sqlite_database_url)["durability"][0] == "ok"


def test_a_broken_index_is_told(sqlite_database_url: str, run: Run, port: list[str]) -> None:
    where = ["--database-url", sqlite_database_url]
    assert checks(run, *port, *where)["index"] == ("ok", "the full-text index can be read")
    break_index(sqlite_database_url)
    state, said = checks(run, *port, *where)["index"]
    assert state == "bad"
    assert "turnkeep reindex" in said
    assert run("reindex", *where).code == 0
    assert checks(run, *port, *where)["index"][0] == "ok"


@pytest.mark.parametrize(("free", "expected"), [(10**12, "ok"), (10**9, "warning"), (10**7, "bad")])
def test_a_full_disk_is_told(
    free: int,
    expected: str,
    sqlite_database_url: str,
    run: Run,
    port: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**13, 0, free))
    assert checks(run, *port, "--database-url", sqlite_database_url)["disk"][0] == expected


def test_a_port_in_use_is_told_by_whom(world: World, sqlite_database_url: str, run: Run) -> None:
    where = ["--database-url", sqlite_database_url]
    ours = checks(run, *where, "--port", world.url.rpartition(":")[2])["port"]
    assert ours[0] == "ok"
    assert "a service runs on" in ours[1]
    with answering(200, PAGE) as (url, _):
        theirs = checks(run, *where, "--port", url.rpartition(":")[2])["port"]
    assert theirs[0] == "bad"
    assert "choose another" in theirs[1]


def test_the_port_that_the_setting_names_is_looked_at(
    sqlite_database_url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = str(free_port())
    monkeypatch.setenv("TURNKEEP_PORT", port)
    assert (
        f"port {port} on 127.0.0.1" in checks(run, "--database-url", sqlite_database_url)["port"][1]
    )


def test_a_host_that_is_not_ours_is_told(sqlite_database_url: str, run: Run) -> None:
    run("keys", "create", "--database-url", sqlite_database_url)
    where = ["--database-url", sqlite_database_url, "--host", "192.0.2.1"]
    assert checks(run, *where)["port"][0] == "bad"


def test_a_clock_that_is_behind_is_told() -> None:
    now = datetime.now(UTC)
    assert newest((now - timedelta(days=9)).isoformat()).state == "ok"
    late = newest((now + timedelta(hours=1)).isoformat())
    assert late.state == "warning"
    assert "clock" in late.said


def test_the_clock_of_postgresql_is_compared(
    postgres_database_url: str, run: Run, port: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "datetime":  # type: ignore[override]
            return datetime.now(tz) + timedelta(minutes=2)

    monkeypatch.setattr(databasechecks, "datetime", Late)
    state, said = checks(run, *port, "--database-url", postgres_database_url)["clock"]
    assert state == "warning"
    assert "120 s apart" in said


def test_keys_are_looked_at(sqlite_database_url: str, run: Run, port: list[str]) -> None:
    where = ["--database-url", sqlite_database_url]
    assert checks(run, *port, *where)["keys"][0] == "ok"
    state, said = checks(run, *port, *where, "--host", "0.0.0.0")["keys"]
    assert (state, "turnkeep keys create" in said) == ("bad", True)
    key = run("keys", "create", *where).out.split("_")[1]
    assert checks(run, *port, *where, "--host", "0.0.0.0")["keys"] == ("ok", "1 of 1 hold")
    run("keys", "revoke", key, *where)
    assert checks(run, *port, *where)["keys"][0] == "bad"


def test_a_service_is_asked(world: World, run: Run) -> None:
    found = checks(run, "--url", world.url)
    assert list(found) == ["service", "database", "key", "clock"]
    assert {state for state, _ in found.values()} == {"ok"}


def test_a_service_without_its_key_is_told(run: Run) -> None:
    problem = {"code": "unauthorized", "detail": "Send an API key. `turnkeep keys create` …"}
    with answering(401, json.dumps(problem).encode()) as (url, _):
        [(name, (state, said))] = checks(run, "--url", url).items()
    assert (name, state) == ("service", "bad")
    assert "TURNKEEP_API_KEY" in said


def test_it_changes_nothing(run: Run, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = str(probe.getsockname()[1])
    assert run("doctor", "--port", free).code == 1
    assert list(tmp_path.iterdir()) == []
