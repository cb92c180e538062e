import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text

from app.main import create_app
from app.settings import Settings
from app.storage.database import engine_url
from tests.api.conftest import Api, user


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


def test_metrics_count_requests_by_route_and_never_by_id(api: Api) -> None:
    api.post(user("x"), cid="secret-name")
    text_ = api.http.get("/metrics").text
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
