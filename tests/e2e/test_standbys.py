"""What is said of a PostgreSQL that has synchronous standbys, by how commits wait for them."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from fastapi.testclient import TestClient

from app.database.migrations import upgrade
from app.main import create_app
from app.settings import Settings
from tests.cli.conftest import served
from tests.e2e.server import turnkeep
from tests.postgres import START_SECONDS, fresh_database, postgres_of_our_own

STANDBYS = "SELECT current_setting('synchronous_standby_names')"


@pytest.fixture(scope="module")
def with_standbys() -> Iterator[str]:
    """A durable server that wants a standby. There is none, so nothing may be committed there."""
    with postgres_of_our_own(durable=True) as server, fresh_database(server.url) as url:
        upgrade(url)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            connection.execute("SELECT pg_reload_conf()")
            deadline = time.monotonic() + START_SECONDS
            while connection.execute(STANDBYS).fetchone() != ("standby",):
                assert time.monotonic() < deadline
        yield url
        with psycopg.connect(f"{server.url}?options=-csynchronous_commit%3Dlocal") as connection:
            connection.autocommit = True
            connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
            connection.execute("SELECT pg_reload_conf()")


def committing(url: str, how: str) -> str:
    return f"{url}?options=-csynchronous_commit%3D{how}"


def durability(tmp_path: Path, url: str) -> tuple[str, str]:
    looked = turnkeep("doctor", "--json", "--port", "0", "--database-url", url, cwd=tmp_path)
    [found] = [one for one in json.loads(looked.stdout)["checks"] if one["name"] == "durability"]
    return found["state"], found["said"]


@pytest.mark.parametrize("how", ["local", "off"])
def test_commits_that_do_not_wait_for_the_standbys_are_not_ready(
    with_standbys: str, tmp_path: Path, how: str
) -> None:
    url = committing(with_standbys, how)
    for allowed in (False, True):
        with TestClient(create_app(Settings(database_url=url, allow_unsafe=allowed))) as http:
            ready = http.get("/readyz")
        assert ready.status_code == (200 if allowed else 503)
        assert allowed or f"synchronous_commit is {how}" in ready.json()["detail"]
    state, said = durability(tmp_path, url)
    assert (state, f"synchronous_commit is {how}" in said) == ("bad", True)


def test_commits_that_the_standby_has_only_written_are_ready_with_a_note(
    with_standbys: str, tmp_path: Path
) -> None:
    url = committing(with_standbys, "remote_write")
    with TestClient(create_app(Settings(database_url=url))) as http:
        ready = http.get("/readyz")
    assert ready.status_code == 200
    note = ready.json()["note"]
    assert "synchronous_commit is remote_write" in note
    assert "operating system" in note
    state, said = durability(tmp_path, url)
    assert (state, said.startswith(note)) == ("warning", True)
    with served(url, filled=False) as world:
        looked = turnkeep("doctor", "--json", "--url", world.url, cwd=tmp_path)
    checks = {one["name"]: one for one in json.loads(looked.stdout)["checks"]}
    assert checks["database"] == {"name": "database", "state": "warning", "said": note}


@pytest.mark.parametrize("how", ["on", "remote_apply"])
def test_commits_that_the_standby_keeps_are_ready(
    with_standbys: str, tmp_path: Path, how: str
) -> None:
    url = committing(with_standbys, how)
    with TestClient(create_app(Settings(database_url=url))) as http:
        ready = http.get("/readyz")
    assert (ready.status_code, ready.json().keys()) == (200, {"status", "schema"})
    assert durability(tmp_path, url)[0] == "ok"


def test_commits_need_not_wait_where_there_is_no_standby(postgres_database_url: str) -> None:
    url = committing(postgres_database_url, "remote_write")
    with TestClient(create_app(Settings(database_url=url, allow_unsafe=True))) as http:
        ready = http.get("/readyz")
    assert (ready.status_code, ready.json().keys()) == (200, {"status", "schema"})
