"""API keys: who is let in, what for, and how often."""

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime, timedelta
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.access import http as access
from app.access.commands import made
from app.database import writer
from app.database.database import Database
from app.edge import context
from app.main import create_app
from app.model.api_keys import ApiKey, KeyScope
from app.model.errors import Unavailable
from app.settings import Settings
from tests.access.test_isolation import BODIES, OPERATIONS, QUERIES, Operation
from tests.conversations.test_erasing import comes_true
from tests.database.test_failures import held
from tests.http_api import user

TURNS = "/v1/conversations/c1/turns"
BODY = {"provider": "openai", "messages": [user("hello")]}


class Keyed:
    """A service, the keys of its database, and a clock that tests can set forward."""

    def __init__(self, http: TestClient, url: str) -> None:
        self.http = http
        self._url = url
        self.ahead = 0.0

    def key(self, *scopes: KeyScope, **more: Any) -> dict[str, str]:
        """The headers of a new key."""
        more.setdefault("tenant_id", "acme")
        key, text = made(more.pop("tenant_id"), "test", scopes or ("read", "write"), **more)
        with Database(self._url) as database:
            database.change_keys(lambda keys: keys.add(key))
        self.newest: ApiKey = key
        self.ahead += 1
        return {"Authorization": f"Bearer {text}"}

    def revoke(self, key: ApiKey) -> None:
        with Database(self._url) as database:
            assert database.change_keys(lambda keys: keys.revoke(key.id, datetime.now(UTC)))


@pytest.fixture
def service(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Keyed]:
    with TestClient(create_app(Settings(database_url=database_url))) as http:
        keyed = Keyed(http, database_url)
        real = time.monotonic
        monkeypatch.setattr(access, "time", SimpleNamespace(monotonic=lambda: real() + keyed.ahead))
        yield keyed


def test_without_keys_a_service_is_open(service: Keyed) -> None:
    assert service.http.post(TURNS, json=BODY).status_code == 201


def test_the_first_key_closes_it(service: Keyed) -> None:
    service.http.post(TURNS, json=BODY)
    headers = service.key(tenant_id="default")
    refused = service.http.get(TURNS)
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert len(service.http.get(TURNS, headers=headers).json()["data"]) == 1


def test_it_is_not_open_again_when_all_keys_are_revoked(service: Keyed) -> None:
    headers = service.key()
    assert service.http.post(TURNS, json=BODY, headers=headers).status_code == 201
    service.revoke(service.newest)
    service.ahead += 0.9
    assert service.http.get(TURNS, headers=headers).status_code == 401
    assert service.http.get(TURNS).status_code == 401


def test_a_service_that_others_can_reach_is_never_open(database_url: str) -> None:
    with TestClient(create_app(Settings(database_url=database_url, host="0.0.0.0"))) as http:
        assert http.get(TURNS).status_code == 401
        assert http.get("/healthz").status_code == 200


WRONG = ["", "Bearer", "Bearer x", "Basic dXNlcg==", f"Bearer tk_{'0' * 12}_{'a' * 43}"]


@pytest.mark.parametrize("header", WRONG)
def test_what_is_no_key_of_ours_is_refused(service: Keyed, header: str) -> None:
    service.key()
    assert service.http.get(TURNS, headers={"Authorization": header}).status_code == 401


def test_a_wrong_secret_is_answered_like_an_unknown_key(service: Keyed) -> None:
    text = service.key()["Authorization"]
    wrong = text[:-1] + ("A" if text[-1] != "A" else "B")
    answers = [
        service.http.get(TURNS, headers={"Authorization": one}) for one in (wrong, WRONG[-1])
    ]
    assert answers[0].status_code == 401
    assert answers[0].content == answers[1].content


def test_an_expired_key_is_refused(service: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = service.key(expires_in=timedelta(hours=1))
    assert service.http.post(TURNS, json=BODY, headers=headers).status_code == 201
    later = datetime.now(UTC) + timedelta(hours=1)
    monkeypatch.setattr(access, "_now", lambda: later)
    assert service.http.get(TURNS, headers=headers).status_code == 401


def needed(one: Operation) -> KeyScope | None:
    """As docs/operations.md says; None where no key is asked for."""
    if not one.path.startswith("/v1"):
        return None
    if one.method in ("GET", "HEAD") or one.path.startswith("/v1/convert"):
        return "read"
    return "admin" if one.method == "DELETE" else "write"


def test_a_key_does_what_its_scopes_say_on_every_route(service: Keyed) -> None:
    keys: dict[KeyScope, dict[str, str]] = {
        scope: service.key(scope) for scope in ("read", "write", "admin")
    }
    heads = [one._replace(method="HEAD") for one in OPERATIONS if one.method == "GET"]
    # Those that erase come last.
    for one in sorted([*OPERATIONS, *heads], key=lambda one: one.method == "DELETE"):
        wanted = needed(one)
        path = one.path.format(cid="c1", turn_id="t1")
        body = BODIES.get(one.name, {})
        given: dict[str, Any] = {"json": body} if isinstance(body, dict) else {"content": body}
        if one.path.endswith("/events"):
            # Whoever may listen is told until the conversation ends.
            path = path.replace("c1", "absent")
        kind = {"Content-Type": "text/event-stream"} if "content" in given else {}
        for scope, headers in keys.items():
            answer = service.http.request(
                one.method,
                path,
                params=QUERIES.get(one.name),
                headers={**headers, **kind},
                **given,
            )
            allowed = wanted is None or scope in (wanted, "admin")
            assert (answer.status_code != 403) is allowed, (one, scope, answer.text)
            assert answer.status_code != 401
            if not allowed and one.method != "HEAD":
                assert answer.json()["needed"] == wanted


def test_a_prefix_is_all_that_a_key_sees(service: Keyed) -> None:
    whole, part = service.key("admin"), service.key("admin", prefix="team-")
    for cid in ("team-1", "team-2", "other", "team"):
        url = f"/v1/conversations/{cid}/turns"
        call = {"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ]}  # fmt: skip
        body = {"provider": "openai", "messages": [call]}
        assert service.http.post(url, json=body, headers=whole).status_code == 201
    for order in ("id", "updated"):
        params = {"order": order}
        seen = service.http.get("/v1/conversations", headers=part, params=params).json()["data"]
        assert sorted(one["id"] for one in seen) == ["team-1", "team-2"]
    found = service.http.get("/v1/conversations", headers=part, params={"q": "call_1"}).json()
    assert sorted(one["id"] for one in found["data"]) == ["team-1", "team-2"]
    known = service.http.get(
        "/v1/tool-calls/lookup", headers=part, params={"id": "call_1", "limit": 1}
    ).json()
    assert (known["data"][0]["conversation_id"], known["has_more"]) == ("team-2", True)
    for cid in ("other", "team", "absent"):
        refused = service.http.get(f"/v1/conversations/{cid}", headers=part)
        assert (refused.status_code, refused.json()["prefix"]) == (403, "team-")
    assert service.http.post("/v1/conversations", json={"id": "x"}, headers=part).status_code == 403
    named = service.http.post("/v1/conversations", json={}, headers=part).json()
    assert named["id"].startswith("team-conv_")


def test_requests_beyond_the_limit_must_wait(service: Keyed) -> None:
    headers = service.key(requests=3)
    answers = [service.http.get("/v1/conversations", headers=headers) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert answers[-1].json()["limit"] == "requests"
    service.ahead += int(answers[-1].headers["Retry-After"])
    assert service.http.get("/v1/conversations", headers=headers).status_code == 200


def test_bytes_beyond_the_limit_must_wait(service: Keyed) -> None:
    headers = service.key(body_bytes=1_000)
    large = {"provider": "openai", "messages": [user("x" * 2_000)]}
    assert service.http.post(TURNS, json=large, headers=headers).status_code == 201
    refused = service.http.post(TURNS, json=large, headers=headers)
    assert (refused.status_code, refused.json()["limit"]) == (429, "body_bytes")
    # What was too much before must be waited for, too.
    assert 60 < int(refused.headers["Retry-After"]) < 120
    service.ahead += int(refused.headers["Retry-After"])
    assert service.http.post(TURNS, json=large, headers=headers).status_code == 201


def test_a_small_share_of_a_limit_is_still_a_share(service: Keyed) -> None:
    headers = service.key(requests=3)
    service.http.app.state.context.access._workers = 4  # type: ignore[attr-defined]
    statuses = []
    for _ in range(3):
        statuses.append(service.http.get("/v1/conversations", headers=headers).status_code)
        # Three quarters of one a minute.
        service.ahead += 120
    assert statuses == [200, 200, 200]


def test_who_may_not_erase_may_not_let_expire(service: Keyed) -> None:
    headers, admin = service.key(), service.key("admin")
    service.http.post(TURNS, json=BODY, headers=headers)
    for given, status in ((headers, 403), (admin, 200)):
        changed = service.http.patch(
            "/v1/conversations/c1", json={"expires_after": 60}, headers=given
        )
        assert changed.status_code == status


def test_an_id_that_cannot_be_is_refused_under_a_limit_too(service: Keyed) -> None:
    headers = service.key(conversations=2)
    for cid in ("a%00", "%ED%A0%80", "a b"):
        refused = service.http.post(f"/v1/conversations/{cid}/turns", json=BODY, headers=headers)
        assert refused.status_code == 422


def test_no_conversation_is_made_beyond_the_limit(service: Keyed) -> None:
    headers = service.key(conversations=2)
    for number, status in ((1, 201), (2, 201), (3, 429), (2, 201)):
        url = f"/v1/conversations/c{number}/turns"
        assert service.http.post(url, json=BODY, headers=headers).status_code == status
    made_so = service.http.post("/v1/conversations", json={}, headers=headers)
    assert (made_so.status_code, made_so.json()["limit"]) == (429, "conversations")
    assert "Retry-After" in made_so.headers


def test_too_many_waiting_writes_are_refused_at_once(
    service: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "MOST_WAITING", 0)
    refused = service.http.post(TURNS, json=BODY)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    monkeypatch.undo()
    assert service.http.post(TURNS, json=BODY).status_code == 201
    assert Settings().connections > context.MOST_WAITING


def test_what_would_wait_for_a_writer_that_is_stuck_is_refused_at_once(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "STUCK", 0.01)
    settings = Settings(database_url=sqlite_database_url, search=False)
    with TestClient(create_app(settings)) as http, ThreadPoolExecutor() as threads:
        stuck = http.app.state.context.database.is_stuck  # type: ignore[attr-defined]
        with held(sqlite_database_url):
            first = threads.submit(http.post, TURNS, json=BODY)
            while not stuck("c1"):
                assert not first.done()
            for _ in range(3):
                refused = http.post(TURNS, json=BODY)
                assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
            assert http.get("/v1/conversations").status_code == 200
            assert not first.done()
        assert first.result(30).status_code == 201


class Gate:
    """The door of a database, at which questions wait while it is closed."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        self.opened = threading.Event()
        ask = database.ask_keys_now

        def waiting(question: Any) -> Any:
            self.asked += 1
            assert self.opened.wait(60)
            return ask(question)

        monkeypatch.setattr(database, "ask_keys_now", waiting)


def database_of(service: Keyed) -> Database:
    found: Database = service.http.app.state.context.database  # type: ignore[attr-defined]
    return found


def test_made_up_keys_wait_in_a_short_queue(
    service: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = service.key()
    # On a slow machine what is known of it would be asked again.
    now = time.monotonic()
    monkeypatch.setattr(access, "time", SimpleNamespace(monotonic=lambda: now))
    assert service.http.get("/v1/conversations", headers=known).status_code == 200
    gate = Gate(database_of(service), monkeypatch)
    beyond = 5
    # Each is another one, and all come at once.
    made_up = [
        {"Authorization": f"Bearer tk_{number:012x}_{'a' * 43}"}
        for number in range(access._MOST_ASKED + beyond)
    ]
    with ThreadPoolExecutor(len(made_up)) as pool:

        def ask(headers: dict[str, str]) -> int:
            return service.http.get("/v1/conversations", headers=headers).status_code

        waiting = [pool.submit(ask, headers) for headers in made_up]
        try:
            first = islice(as_completed(waiting, timeout=60), beyond)
            refused = [one.result() for one in first]
            # Whoever is known goes on meanwhile.
            assert ask(known) == 200
        finally:
            gate.opened.set()
        assert refused == [503] * beyond
        assert sorted(one.result() for one in waiting) == [401] * access._MOST_ASKED + refused
    assert gate.asked == access._MOST_ASKED


def test_one_question_serves_all_who_come_with_the_same_key(
    service: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = service.key()
    service.http.get("/v1/conversations", headers=service.key())
    gate = Gate(database_of(service), monkeypatch)
    many = 2 * access._MOST_ASKED
    with ThreadPoolExecutor(many) as pool:

        def ask(_: int) -> int:
            return service.http.get("/v1/conversations", headers=headers).status_code

        waiting = [pool.submit(ask, number) for number in range(many)]
        assert comes_true(lambda: gate.asked == 1)
        gate.opened.set()
        assert {one.result() for one in waiting} == {200}


def test_nobody_is_let_in_for_long_while_nobody_knows_whether_there_is_a_key(
    service: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.http.post(TURNS, json=BODY).status_code == 201
    service.key(tenant_id="default")

    def fails(_: object) -> object:
        raise Unavailable("not now")

    monkeypatch.setattr(database_of(service), "ask_keys_now", fails)
    service.ahead += 0.6
    assert service.http.get(TURNS).status_code == 503
    monkeypatch.undo()


def test_no_secret_is_told(service: Keyed, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    headers = service.key("read")
    # It may have an underscore itself.
    secret = headers["Authorization"].split("_", 2)[2]
    assert len(secret) == 43
    wrong = {"Authorization": f"Bearer tk_{'0' * 12}_{'S' * 43}"}
    told = ""
    for path, methods in service.http.get("/openapi.json").json()["paths"].items():
        for method in methods:
            for given in (headers, wrong):
                answer = service.http.request(method, path, json={}, headers=given)
                told += answer.text + str(answer.headers)
    told += service.http.get("/metrics").text + caplog.text
    assert secret not in told
    assert "S" * 43 not in told


def test_a_body_takes_its_place_in_the_room_of_its_tenant(
    service: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose: list[str | None] = []

    class Noted(context.Place):
        def hold(self, size: int) -> None:
            super().hold(size)
            whose.extend(self._room.held_by)

    monkeypatch.setattr(context, "Place", Noted)
    long = {"provider": "openai", "messages": [user("x" * 100_000)]}
    assert service.http.post(TURNS, json=long, headers=service.key()).status_code == 201
    assert set(whose) == {"acme"}
    assert not service.http.app.state.context.bodies.held_by  # type: ignore[attr-defined]


def test_a_tenant_takes_half_of_a_room_and_what_stands_alone_may_be_larger() -> None:
    room = context.Room(100, "full")
    first, second, other = (context.Place(room, whose) for whose in ("a", "a", "b"))
    first.hold(60)
    with pytest.raises(Unavailable):
        second.hold(1)
    other.hold(40)
    first.hold(30)
    second.hold(20)
    with pytest.raises(Unavailable):
        context.Place(room, None).hold(11)
    for place in (first, second, other):
        place.close()
    assert (room.held, room.held_by) == (0, {})
