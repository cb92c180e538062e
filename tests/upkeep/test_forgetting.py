"""What is erased or has expired leaves the memory of every process, whichever erased it."""

import gc
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text

from app.database.database import engine_url
from app.database.tables import conversations
from app.main import create_app, serving
from app.model.ids import canonical_id
from app.model.large import PIECE
from app.settings import Settings
from app.tools import commands as tooldefs
from app.upkeep import sweeper
from tests.conversations.test_erasing import CANARY, comes_true, tell
from tests.http_api import Api, user
from tests.upkeep.test_expiry import PAST, change

HERE = "/v1/conversations/c1"


@pytest.fixture
def workers(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Api, Api]]:
    """Two services on one database that know nothing of each other; they sweep nothing."""
    monkeypatch.setattr(sweeper, "_LOOK", 0.01)
    monkeypatch.setattr(sweeper, "_SAID", 0.01)
    monkeypatch.setattr(sweeper, "_PAUSE", 3_600)
    settings = Settings(database_url=database_url)
    with TestClient(create_app(settings)) as one, TestClient(create_app(settings)) as other:
        yield Api(one), Api(other)


def held(api: Api) -> set[Any]:
    """The conversations that a service has something of in its memory."""
    context = api.http.app.state.context  # type: ignore[attr-defined]
    return {cid for _, cid, _ in context.renders.held() | context.database.held()}


def told(api: Api) -> None:
    for cid in ("c1", "other"):
        tell(api, cid, f"{CANARY}{cid}_")
        assert api.get("replay", cid=cid, provider="mistral").status_code == 200
    context = api.http.app.state.context  # type: ignore[attr-defined]
    for kept in (context.renders.held(), context.database.held()):
        assert {cid for _, cid, _ in kept} == {"c1", "other"}


def test_what_another_process_erased_is_forgotten(workers: tuple[Api, Api]) -> None:
    one, other = workers
    told(one)
    assert other.http.delete(HERE).status_code == 200
    assert comes_true(lambda: held(one) == {"other"})


def test_what_another_process_made_anew_is_forgotten(workers: tuple[Api, Api]) -> None:
    one, other = workers
    told(one)
    assert other.http.delete(HERE).status_code == 200
    assert other.post(user("new")).status_code == 201
    assert comes_true(lambda: held(one) == {"other"})
    assert held(other) == {"c1"}


def test_what_has_expired_is_forgotten_before_it_is_swept(
    workers: tuple[Api, Api], database_url: str
) -> None:
    one, _ = workers
    told(one)
    change(database_url, conversations, expires_after=1, expires_at=PAST)
    assert comes_true(lambda: held(one) == set())


def test_what_cannot_be_looked_at_is_forgotten(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "_LOOK", 0.01)
    monkeypatch.setattr(sweeper, "_SAID", 0.01)
    with TestClient(create_app(Settings(database_url=sqlite_database_url))) as http:
        told(Api(http))
        engine = create_engine(engine_url(sqlite_database_url))
        with engine.begin() as connection:
            connection.execute(text("UPDATE conversations SET created_at = 'never'"))
        engine.dispose()
        assert comes_true(lambda: not held(Api(http)))


def test_texts_that_belong_to_nobody_are_forgotten_now_and_then(
    lite: Api, sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(lite, "c1", CANARY)
    lite.replay("openai")
    cached = (canonical_id, *tooldefs.CACHED)
    assert all(one.cache_info().currsize for one in cached)
    monkeypatch.setattr(sweeper, "_LOOK", 0.01)
    monkeypatch.setattr(sweeper, "_SAID", 0.01)
    with TestClient(create_app(Settings(database_url=sqlite_database_url))):
        assert comes_true(lambda: not any(one.cache_info().currsize for one in cached))


def test_all_that_is_held_is_looked_through_only_while_no_large_body_is(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[int] = []
    monkeypatch.setattr(sweeper, "_LOOK", 0.001)
    monkeypatch.setattr(sweeper, "_SAID", 0.001)
    monkeypatch.setattr(sweeper, "_LOOKS", 2)
    monkeypatch.setattr(sweeper, "_PATIENCE", 10_000_000)
    monkeypatch.setattr(gc, "collect", lambda: collected.append(1))
    with TestClient(create_app(Settings(database_url=database_url))) as http:
        assert comes_true(lambda: len(collected) > 1)
        place = http.app.state.context.place()  # type: ignore[attr-defined]
        place.hold(2 * PIECE)
        before = len(collected)
        time.sleep(0.1)
        assert len(collected) <= before + 1
        monkeypatch.setattr(sweeper, "_PATIENCE", 4)
        assert comes_true(lambda: len(collected) > before + 1)
        place.close()


def test_a_process_that_serves_leaves_what_is_old_to_that_look(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNKEEP_DATABASE_URL", sqlite_database_url)
    given: list[tuple[int, ...]] = []
    monkeypatch.setattr(gc, "set_threshold", lambda *numbers: given.append(numbers))
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
    serving()
    ((_, _, old),) = given
    # So many looks at what is young never come.
    assert old == 2**31 - 1
