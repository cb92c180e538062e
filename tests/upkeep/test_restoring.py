"""A database that was restored from a `pg_dump` is the one that was dumped."""

import hashlib
import subprocess
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.main import create_app
from app.settings import Settings
from tests.conversations.test_erasing import CANARY, tell
from tests.http_api import Api, user
from tests.postgres import candidates, fresh_database

TARGETS = ("openai", "anthropic", "kimi", "gemini")
KEY = {"Idempotency-Key": "once"}


def copied(url: str, other: str, file: Path) -> None:
    """By the first programs that know this server, as docs/operations.md says."""
    tried = []
    for folder in candidates():
        done = subprocess.run(
            [folder / "pg_dump", "-Fc", "-f", file, url], check=False, capture_output=True
        )
        if done.returncode == 0:
            subprocess.run([folder / "pg_restore", "-d", other, file], check=True)
            return
        tried.append(f"{folder}: {done.stderr.decode()}")
    raise AssertionError(f"no pg_dump works: {tried}")


def replays(api: Api) -> list[str]:
    answers = [api.get("replay", provider=target) for target in TARGETS]
    assert {one.status_code for one in answers} == {200}
    return [hashlib.sha256(one.content).hexdigest() for one in answers]


def test_a_restored_dump_is_the_same(
    postgres_url: str, postgres_database_url: str, tmp_path: Path
) -> None:
    with TestClient(create_app(Settings(database_url=postgres_database_url))) as http:
        api = Api(http)
        tell(api, "c1", CANARY)
        assert api.post(user("once"), headers=KEY).status_code == 201
        repeated = api.post(user("once"), headers=KEY)
        before = replays(api)
    with fresh_database(postgres_url) as restored:
        copied(postgres_database_url, restored, tmp_path / "turnkeep.dump")
        assert main(["verify", "--database-url", restored]) == 0
        with TestClient(create_app(Settings(database_url=restored))) as http:
            api = Api(http)
            assert replays(api) == before
            again = api.post(user("once"), headers=KEY)
            assert (again.status_code, again.content) == (repeated.status_code, repeated.content)
            assert api.post(user("other"), headers=KEY).status_code == 422
            assert replays(api) == before
            assert api.post(user("new")).status_code == 201
            assert api.get("verify").json()["ok"]


def test_a_dump_that_was_changed_on_its_way_is_found(
    postgres_url: str,
    postgres_database_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with TestClient(create_app(Settings(database_url=postgres_database_url))) as http:
        tell(Api(http), "c1", CANARY)
    with fresh_database(postgres_url) as restored:
        copied(postgres_database_url, restored, tmp_path / "turnkeep.dump")
        statement = ["-c", "UPDATE turns SET model = 'x' WHERE seq = 1"]
        subprocess.run([next(candidates()) / "psql", restored, *statement], check=True)
        assert main(["verify", "--database-url", restored]) == 1
        assert capsys.readouterr().out.startswith("c1:")
