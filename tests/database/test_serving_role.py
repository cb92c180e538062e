"""The role of docker-compose.yml: what the service needs it may do, and policies bind it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml  # type: ignore[import-untyped]
from fastapi.testclient import TestClient
from sqlalchemy import make_url

from app.cli import main
from app.main import create_app
from app.settings import Settings
from tests.conversations.test_erasing import CANARY, tell
from tests.http_api import Api, user
from tests.postgres import candidates, connected

ROOT = Path(__file__).parents[2]
SQL = ROOT / "docker" / "postgres" / "serving.sql"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
PAST = datetime.now(UTC) - timedelta(hours=1)


@contextmanager
def role_of(url: str, name: str) -> Iterator[str]:
    """The URL of the role that the script of the Compose file makes, under a name of its own: roles
    belong to the server, which other processes use, too."""
    script = SQL.read_text("utf-8").replace("ROLE serving ", f"ROLE {name} ")
    psql = next(folder / "psql" for folder in candidates())
    secret = {"TURNKEEP_SERVING_PASSWORD": "it's"}
    subprocess.run([psql, url], input=script, env=os.environ | secret, text=True, check=True)
    try:
        yield make_url(url).set(username=name, password="it's").render_as_string(False)
    finally:
        with connected(url) as owner:
            owner.execute(f"DROP OWNED BY {name}")
            owner.execute(f"DROP ROLE {name}")


@pytest.fixture
def serving(postgres_database_url: str) -> Iterator[str]:
    name = f"compose_{os.getpid()}"
    with role_of(postgres_database_url, name) as url:
        assert main(["migrate", "--grant", name, "--database-url", postgres_database_url]) == 0
        yield url


def test_the_service_does_all_it_must_as_that_role(
    serving: str, postgres_database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # The commands of the container, in their order.
    assert main(["migrate", "--database-url", serving]) == 0
    key_of = {}
    for tenant in ("acme", "other"):
        capsys.readouterr()
        create = ["keys", "create", "--tenant", tenant, "--scopes", "admin"]
        assert main([*create, "--database-url", serving]) == 0
        key_of[tenant] = capsys.readouterr().out.strip()
    with TestClient(create_app(Settings(database_url=serving, allow_unsafe=True))) as http:
        assert http.get("/readyz").status_code == 200
        http.headers["Authorization"] = f"Bearer {key_of['acme']}"
        api = Api(http)
        for cid in ("c1", "c2", "c3"):
            tell(api, cid, f"{CANARY}{cid}_")
        assert api.get("verify").json()["ok"]
        assert api.replay("anthropic")["request"]
        body = {"provider": "openai", "messages": [user("one"), user("two")]}
        synced = http.post("/v1/conversations/synced/turns?mode=sync", json=body)
        assert synced.status_code == 201, synced.text
        assert http.delete("/v1/conversations/c1").status_code == 200
        with connected(postgres_database_url) as owner:
            owner.execute(
                "UPDATE conversations SET expires_at = %s WHERE conversation_id = 'c2'", [PAST]
            )
        assert main(["sweep", "--database-url", serving]) == 0
        kept = http.get("/v1/conversations", params={"order": "id"}).json()["data"]
        assert [one["id"] for one in kept] == ["c3", "synced"]
        http.headers["Authorization"] = f"Bearer {key_of['other']}"
        assert http.get("/v1/conversations").json()["data"] == []
    key_id = key_of["other"].split("_")[1]
    assert main(["keys", "revoke", key_id, "--database-url", serving]) == 0
    assert main(["verify", "--tenant", "acme", "--database-url", serving]) == 0
    with connected(serving) as forgetful:
        assert forgetful.execute("SELECT count(*) FROM turns").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            forgetful.execute("ALTER TABLE turns DISABLE ROW LEVEL SECURITY")


def test_doctor_says_whether_policies_keep_tenants_apart(
    serving: str, postgres_database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(url: str) -> list[str]:
        capsys.readouterr()
        main(["doctor", "--database-url", url])
        lines = capsys.readouterr().out.splitlines()
        return [one.split()[0] for one in lines if " tenants " in one]

    main(["keys", "create", "--tenant", "acme", "--database-url", serving])
    assert said(postgres_database_url) == said(serving) == []
    main(["keys", "create", "--tenant", "other", "--database-url", serving])
    assert said(postgres_database_url) == ["warning"]
    assert said(serving) == ["ok"]


@pytest.mark.parametrize(
    ("name", "writable"), [("migrate", ["/tmp", "/data"]), ("turnkeep", ["/tmp"])]
)
def test_compose_gives_the_program_no_more_than_it_needs(name: str, writable: list[str]) -> None:
    service = COMPOSE["services"][name]
    assert (service["read_only"], service["tmpfs"]) == (True, writable)
    # A stop is heard from the first moment on.
    assert service["init"] is True
    assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])


def test_compose_migrates_as_the_owner_and_serves_as_the_other_role() -> None:
    services = COMPOSE["services"]
    owner, serving = (
        services[name]["environment"]["TURNKEEP_DATABASE_URL"].split("://")[1].split(":")[0]
        for name in ("migrate", "turnkeep")
    )
    assert owner == services["postgres"]["environment"]["POSTGRES_USER"]
    assert f"CREATE ROLE {serving} " in SQL.read_text("utf-8")
    assert services["migrate"]["command"] == ["turnkeep", "migrate", "--grant", serving]
    place = f"./{SQL.relative_to(ROOT)}:/docker-entrypoint-initdb.d/"
    assert any(one.startswith(place) for one in services["postgres"]["volumes"])
    # One password, by one rule, on both sides.
    given = services["postgres"]["environment"]["TURNKEEP_SERVING_PASSWORD"]
    assert f"{serving}:{given}@" in services["turnkeep"]["environment"]["TURNKEEP_DATABASE_URL"]
