"""Conversations that expire are absent at once, and swept away a few rows at a time."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, update

from app.cli import main
from app.conversations.commands import Create, Erase
from app.database.database import Database, engine_url
from app.database.tables import conversations, idempotency_keys
from app.ledger.records import SMALL
from app.main import create_app
from app.model.errors import Unavailable
from app.settings import Settings
from app.upkeep import sweeper
from tests.conversations.test_erasing import (
    CANARY,
    FORMS,
    comes_true,
    dumped,
    left,
    locked,
    rows,
    tell,
)
from tests.http_api import Api, answering, calling, user

HERE = "/v1/conversations/c1"
PAST = datetime(2020, 1, 1, tzinfo=UTC)


def change(url: str, table: Any, **values: Any) -> None:
    engine = create_engine(engine_url(url))
    with engine.begin() as connection:
        assert connection.execute(update(table).values(values)).rowcount > 0
    engine.dispose()


def seconds_left(shown: dict[str, Any]) -> float:
    left = datetime.fromisoformat(shown["expires_at"]) - datetime.now(UTC)
    return left.total_seconds()


@pytest.fixture
def forgetful(database_url: str) -> Iterator[Api]:
    """A service whose conversations expire after an hour unless they say otherwise."""
    settings = Settings(database_url=database_url, expires_after=3_600)
    with TestClient(create_app(settings)) as http:
        yield Api(http)


def test_nothing_expires_unless_it_is_said(api: Api) -> None:
    api.post(user("x"))
    assert not {"expires_at", "expires_after"} & api.get("").json().keys()


@pytest.mark.parametrize("bad", [0, -1, "1", 1.5, True, 10**12])
def test_an_expiry_is_a_number_of_seconds(lite: Api, bad: Any) -> None:
    refused = lite.http.post("/v1/conversations", json={"id": "c1", "expires_after": bad})
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/expires_after")


def test_an_expiry_is_shown_changed_and_taken_away(api: Api) -> None:
    body = {"id": "c1", "expires_after": 60}
    made = api.http.post("/v1/conversations", json=body).json()
    assert made["expires_after"] == 60
    assert 0 < seconds_left(made) <= 60
    assert api.get("").json() == made
    later = api.http.patch(HERE, json={"expires_after": 7_200}).json()
    assert 3_600 < seconds_left(later) <= 7_200
    assert api.http.patch(HERE, json={"title": "x"}).json()["expires_at"] == later["expires_at"]
    assert "expires_at" not in api.http.patch(HERE, json={"expires_after": None}).json()


def test_the_setting_is_for_those_who_say_nothing(forgetful: Api) -> None:
    api = forgetful
    api.post(user("x"))
    assert api.get("").json()["expires_after"] == 3_600
    for cid, given, shown in (("a", {}, 3_600), ("b", {"expires_after": 5}, 5)):
        made = api.http.post("/v1/conversations", json={"id": cid, **given}).json()
        assert made["expires_after"] == shown
    kept = api.http.post("/v1/conversations", json={"id": "c", "expires_after": None}).json()
    assert "expires_after" not in kept


def test_a_turn_renews_it(api: Api, database_url: str) -> None:
    api.http.post("/v1/conversations", json={"id": "c1", "expires_after": 7_200})
    soon = datetime.now(UTC) + timedelta(seconds=600)
    change(database_url, conversations, expires_at=soon)
    assert seconds_left(api.get("").json()) <= 600
    api.post(user("x"))
    assert seconds_left(api.get("").json()) > 3_600


def test_what_has_expired_is_absent_before_it_is_swept(api: Api, database_url: str) -> None:
    tell(api, "c1", CANARY)
    call = api.get("tool-calls").json()["data"][0]["id"]
    change(database_url, conversations, expires_after=1, expires_at=PAST)
    for path in ("", "turns", "turns/t", "tool-calls", "verify", "replay", "tools"):
        options = {"provider": "openai"} if path in ("replay", "tools") else {}
        answer = api.get(path, **options)
        assert (answer.status_code, answer.json()["code"]) == (404, "conversation_not_found"), path
    for query in ({}, {"q": f"{CANARY}text"}, {"order": "updated"}, {"provider": "openai"}):
        assert api.http.get("/v1/conversations", params=query).json()["data"] == []
    assert api.http.get("/v1/tool-calls/lookup", params={"id": call}).json()["data"] == []
    assert api.http.patch(HERE, json={"title": "x"}).status_code == 404
    assert api.http.delete(HERE).status_code == 404
    assert rows(database_url)["turns"]


def test_an_id_whose_conversation_has_expired_is_free_again(api: Api, database_url: str) -> None:
    tell(api, "c1", CANARY)
    change(database_url, conversations, expires_after=1, expires_at=PAST)
    key = {"Idempotency-Key": f"{CANARY}idempotent"}
    done = api.post(user("new"), turn_id="t", headers={**key, "If-Match": '"0"'})
    assert (done.status_code, done.json()["version"]) == (201, 1)
    assert [one["turn_id"] for one in api.get("turns").json()["data"]] == ["t"]
    assert api.get("verify").json()["ok"]
    whole = {"provider": "openai", "messages": [user("new"), user("more")]}
    assert api.http.post(f"{HERE}/turns?mode=sync", json=whole).json()["known"] == 1


def test_a_long_one_that_has_expired_is_waited_for(api: Api, database_url: str) -> None:
    api.post(*[user("x")] * (SMALL + 1))
    change(database_url, conversations, expires_at=PAST)
    refused = api.post(user("new"))
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert main(["sweep", "--database-url", database_url]) == 0
    assert api.post(user("new")).json()["version"] == 1


def test_a_sweep_removes_what_has_expired_and_says_what(
    api: Api, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(api, "c1", CANARY)
    change(database_url, conversations, expires_at=PAST)
    before = rows(database_url)
    api.post(user("y"), cid="kept", headers={"Idempotency-Key": "k"})
    assert main(["sweep", "--database-url", database_url]) == 0
    told = capsys.readouterr().out
    every = sum(map(len, before.values()))
    assert told.startswith(f"1 conversations were removed, {every} rows in all.\n")
    for name, found in before.items():
        part = name.removeprefix("turn_")
        assert not found or f"  {part}: {len(found)}\n" in told
    assert {cid for found in rows(database_url).values() for _, cid, *_ in found} == {"kept"}
    assert main(["sweep", "--database-url", database_url]) == 0
    assert capsys.readouterr().out == "0 conversations were removed, 0 rows in all.\n"


def test_a_sweep_leaves_no_byte_in_a_dump(postgres_database_url: str) -> None:
    with TestClient(create_app(Settings(database_url=postgres_database_url))) as http:
        tell(Api(http), "c1", CANARY)
        # Expired, but not swept: it is all still there.
        change(postgres_database_url, conversations, expires_at=PAST)
        assert all(dumped(postgres_database_url).lower().count(form) for form in FORMS)
        tell(Api(http), "other", "sparrow_")
    assert main(["sweep", "--database-url", postgres_database_url]) == 0
    after = dumped(postgres_database_url).lower()
    assert [after.count(form) for form in FORMS] == [0, 0]
    assert b"sparrow_" in after


def test_the_service_sweeps_by_itself(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "_PAUSE", 0.01)
    with TestClient(create_app(Settings(database_url=database_url))) as http:
        tell(Api(http), "c1", CANARY)
        change(database_url, conversations, expires_at=PAST)
        assert comes_true(lambda: not any(rows(database_url).values()))
        if database_url.startswith("sqlite"):
            assert comes_true(lambda: left(database_url) == 0)


def test_a_sweep_says_what_it_could_not_remove(
    api: Api, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(api, "c1", CANARY)
    change(database_url, conversations, expires_at=PAST)
    with locked(database_url):
        assert main(["sweep", "--database-url", database_url]) == 1
        told = capsys.readouterr()
        assert "0 conversations were removed" in told.out
        assert "1 conversations are left" in told.err
        assert main(["sweep", "--json", "--database-url", database_url]) == 1
        assert json.loads(capsys.readouterr().out) == {"removed": {}, "rows": 0, "left": 1}
    assert main(["sweep", "--database-url", database_url]) == 0


def test_metrics_count_the_conversations_that_are_to_be_removed(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "_PAUSE", 0.01)
    settings = Settings(database_url=database_url, allow_unsafe=True)
    with TestClient(create_app(settings)) as http:
        Api(http).post(user("x"))
    change(database_url, conversations, expires_at=PAST)
    with ExitStack() as other:
        other.enter_context(locked(database_url))
        with TestClient(create_app(settings)) as http:
            name = "turnkeep_conversations_to_remove"
            assert comes_true(lambda: f"\n{name} 1.0\n" in http.get("/metrics").text)
            other.close()
            assert comes_true(lambda: f"\n{name} 0.0\n" in http.get("/metrics").text)
            assert not any(rows(database_url).values())


def test_each_step_removes_a_bounded_number_of_rows(api: Api, database_url: str) -> None:
    for number in range(3):
        calls = [(f"{number}.{one}", "read", "{}") for one in range(20)]
        api.post(user("x"), calling(*calls), *[answering(one[0], "1") for one in calls])
    change(database_url, conversations, expires_at=PAST)
    before = sum(map(len, rows(database_url).values()))
    steps = []
    with Database(database_url) as database:
        while step := database.sweep_now(most=10):
            steps.append(step.total())
    # The last one takes the head as well.
    assert max(steps) <= 10 + 1
    assert sum(steps) == before


def test_a_long_conversation_is_erased_in_steps_in_between_which_others_write(
    api: Api, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        api.post(*[user("x")] * 1_000)
    written: list[int] = []
    sweep = Database.sweep_now

    def noted(database: Database, **what: Any) -> Any:
        step = sweep(database, **what)
        written.append(api.post(user("y"), cid="other").status_code)
        assert api.get("").status_code == 404
        return step

    monkeypatch.setattr(Database, "sweep_now", noted)
    erased = api.http.delete(HERE)
    assert (erased.status_code, erased.json()["removed"]["turns"]) == (200, 2_000)
    assert len(written) > 2
    assert set(written) == {201}
    assert {cid for found in rows(database_url).values() for _, cid, *_ in found} == {"other"}
    assert api.post(user("new")).json()["version"] == 1


def test_a_long_conversation_that_is_being_erased_takes_no_turns(api: Api) -> None:
    api.post(*[user("x")] * (SMALL + 1))
    database = api.http.app.state.context.database  # type: ignore[attr-defined]
    done = [database.write_soon(one) for one in (Erase("c1"), Create("c1", None, {}))]
    assert not done[0].result().is_gone
    with pytest.raises(Unavailable):
        done[1].result()


def test_keys_are_known_for_as_long_as_it_is_set(api: Api, database_url: str) -> None:
    api.post(user("x"), headers={"Idempotency-Key": "old"})
    age = timedelta(seconds=Settings().keep_keys + 60)
    change(database_url, idempotency_keys, created_at=datetime.now(UTC) - age)
    api.post(user("y"), headers={"Idempotency-Key": "new"})
    assert main(["sweep", "--database-url", database_url]) == 0
    assert len(rows(database_url)["idempotency_keys"]) == 1
    assert api.post(user("y"), headers={"Idempotency-Key": "new"}).status_code == 200
    assert api.post(user("x"), headers={"Idempotency-Key": "old"}).status_code == 201
