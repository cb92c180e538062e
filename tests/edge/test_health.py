import logging
import os
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text

from app.access.http import Access
from app.database.database import engine_url
from app.edge import problems
from app.main import create_app
from app.model.errors import Unavailable
from app.settings import Settings
from tests.database.broken_index import break_index
from tests.http_api import Api, user


def test_a_living_service_says_so_without_a_database() -> None:
    settings = Settings(database_url="postgresql://nobody@127.0.0.1:1/none")
    with TestClient(create_app(settings)) as http:
        assert http.get("/healthz").status_code == 200
        refused = http.get("/readyz")
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        assert refused.headers["retry-after"] == "1"


def test_a_ready_service_names_its_schema(api: Api) -> None:
    assert api.http.get("/readyz").json()["status"] == "ready"


@pytest.mark.own_database
def test_a_schema_behind_head_is_not_ready(api: Api, database_url: str) -> None:
    engine = create_engine(engine_url(database_url))
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM alembic_version"))
    engine.dispose()
    refused = api.http.get("/readyz")
    assert refused.status_code == 503
    assert "turnkeep migrate" in refused.json()["detail"]


def test_a_service_with_a_broken_index_is_not_ready_until_something_is_written(
    lite: Api, sqlite_database_url: str
) -> None:
    assert lite.post(user("pears")).status_code == 201
    assert lite.http.get("/readyz").status_code == 200
    # A search waits until all words are indexed; afterwards the indexer has nothing to write.
    assert lite.http.get("/v1/conversations", params={"q": "pears"}).status_code == 200
    break_index(sqlite_database_url)
    refused = lite.http.get("/readyz")
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert "turnkeep reindex" in refused.json()["detail"]
    assert lite.post(user("plums"), cid="new").status_code == 201
    assert lite.http.get("/readyz").status_code == 200
    assert lite.http.delete("/v1/conversations/new").status_code == 200
    page = lite.http.get("/v1/conversations", params={"q": "pears"}).json()
    assert len(page["data"]) == 1


def test_metrics_count_requests_by_route_and_never_by_id(database_url: str) -> None:
    # Indexing words is a command, too, and nobody knows when it comes.
    settings = Settings(database_url=database_url, allow_unsafe=True, search=False)
    with TestClient(create_app(settings)) as http:
        assert Api(http).post(user("x"), cid="secret-name").status_code == 201
        text_ = http.get("/metrics").text
    assert 'route="/v1/conversations/{cid}/turns",status="201"' in text_
    assert "turnkeep_commits_total 1.0" in text_
    assert "turnkeep_commands_total 1.0" in text_
    assert "secret-name" not in text_


def test_unknown_paths_and_methods_are_problems(lite: Api) -> None:
    absent = lite.http.get("/v1/nothing")
    assert (absent.status_code, absent.json()["code"]) == (404, "no_such_path")
    wrong = lite.http.put("/v1/conversations/c1/turns", json={})
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert wrong.headers["content-type"] == "application/problem+json"


def test_a_defect_is_counted_as_a_500(sqlite_database_url: str) -> None:
    app = create_app(Settings(database_url=sqlite_database_url))

    @app.get("/defect")
    async def defect() -> None:
        raise RuntimeError("planted")

    with TestClient(app, raise_server_exceptions=False) as http:
        assert http.get("/defect").json()["code"] == "internal"
        counted = 'turnkeep_requests_total{method="GET",route="/defect",status="500"} 1.0'
        assert counted in http.get("/metrics").text


def test_every_503_has_one_line_in_the_log_with_its_reason(
    sqlite_database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with TestClient(create_app(Settings(database_url=sqlite_database_url))) as http:
        api = Api(http)
        api.post(user("SECRET"), cid="secret-name")
        file = Path(sqlite_database_url.removeprefix("sqlite:///"))
        file.rename(file.with_suffix(".moved"))
        caplog.clear()
        answers = [
            api.post(user("SECRET"), cid="secret-name"),
            api.get("replay", cid="secret-name", provider="openai"),
            http.get("/readyz"),
        ]
        assert {answer.status_code for answer in answers} == {503}
        told = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
        gone = f"the file {file.name} is not there"
        here = "/v1/conversations/{cid}"
        assert [one for one in told if one.startswith("503")] == [
            f"503 on POST {here}/turns: {gone}",
            f"503 on GET {here}/replay: {gone}",
            f"503 on GET /readyz: {gone}",
        ]
        assert "secret" not in caplog.text.lower()


def test_a_database_that_may_lose_what_it_took_is_not_ready_unless_that_is_allowed(
    postgres_database_url: str,
) -> None:
    with psycopg.connect(postgres_database_url) as connection:
        (fsync,) = connection.execute("SHOW fsync").fetchone() or ("on",)
    for allowed in (False, True):
        settings = Settings(database_url=postgres_database_url, allow_unsafe=allowed)
        with TestClient(create_app(settings)) as http:
            ready = http.get("/readyz")
            assert ready.status_code == (200 if allowed or fsync == "on" else 503)
            assert allowed or fsync == "on" or "fsync is off" in ready.json()["detail"]


def test_what_is_refused_in_great_numbers_has_few_lines_that_count_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter((0.0, 0.1, 0.2, 1.3, 1.4))
    monkeypatch.setattr(problems, "time", SimpleNamespace(monotonic=lambda: next(times)))
    refusals = problems.Refusals()
    for _ in range(5):
        assert refusals.response(Unavailable("Too many.")).status_code == 503
    refusals.tell_rest()
    refusals.tell_rest()
    assert [record.args for record in caplog.records] == [
        (number, "Too many.") for number in (1, 3, 1)
    ]


def test_a_login_that_cannot_be_answered_has_a_line_in_the_log(
    lite: Api, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unanswered(*_: object) -> None:
        raise Unavailable.silent("the disk is gone")

    monkeypatch.setattr(Access, "key_named", unanswered)
    assert lite.http.post("/login", data={"key": "tk_secret"}).status_code == 503
    assert "503 on POST /login: the disk is gone" in caplog.text
    assert "tk_secret" not in caplog.text


@pytest.mark.own_database
def test_readers_that_have_no_connection_hear_503_until_there_is_one(
    postgres_database_url: str,
) -> None:
    server, _, name = postgres_database_url.rpartition("/")
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
    app = create_app(Settings(database_url=postgres_database_url, allow_unsafe=True))
    with TestClient(app) as http, psycopg.connect(f"{server}/postgres", autocommit=True) as other:
        api = Api(http)
        assert api.post(user("x")).status_code == 201
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        other.execute(end, [name])
        for refused in (api.get("turns"), http.get("/readyz")):
            assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
            assert refused.headers["Retry-After"] == "1"
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())
        assert len(api.get("turns").json()["data"]) == 1
        assert http.get("/readyz").status_code == 200
        assert api.post(user("y")).json()["version"] == 2


def test_a_read_only_file_is_not_ready_until_it_can_be_written(
    lite: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lite.post(user("x")).status_code == 201
    # To root every file can be written; so the system is asked in its place.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    refused = lite.http.get("/readyz")
    assert (refused.status_code, "read-only" in refused.json()["detail"]) == (503, True)
    assert len(lite.get("turns").json()["data"]) == 1
    monkeypatch.undo()
    assert lite.http.get("/readyz").status_code == 200
