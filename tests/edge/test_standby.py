"""A primary and its synchronous standby: a receipt says that both have the turn."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from app.database import postgres, transactions
from app.database.migrations import upgrade
from app.main import create_app
from app.settings import Settings
from tests.http_api import user
from tests.postgres import Postgres, postgres_of_our_own, standby_of

WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
PATIENT = 600.0


@dataclass
class Pair:
    """Two servers, and a service that writes to the first of them."""

    primary: Postgres
    standby: Postgres
    http: TestClient
    monkeypatch: pytest.MonkeyPatch
    threads: ThreadPoolExecutor = field(default_factory=ThreadPoolExecutor)
    # Texts that were answered with 201.
    stored: list[str] = field(default_factory=list)

    def post(self, text: str, key: str | None = None) -> Any:
        body = {"provider": "openai", "messages": [user(text)]}
        headers = {"Idempotency-Key": key} if key else {}
        response = self.http.post("/v1/conversations/c1/turns", json=body, headers=headers)
        if response.status_code == 201:
            self.stored.append(text)
        return response

    def post_that_waits(self, text: str, key: str | None = None) -> "Future[Any]":
        """A post whose commit waits for the standby, which was stopped."""
        posted = self.threads.submit(self.post, text, key)
        self.wait_for_commit(posted, but=set())
        assert not posted.done(), posted.result()
        return posted

    def wait_for_commit(self, posted: "Future[Any]", but: set[int]) -> None:
        """Returns when another commit than these waits for the standby, or the post is done."""
        while not posted.done() and not self.waiting() - but:
            pass

    def waiting(self) -> set[int]:
        """The backends whose commits wait for the standby."""
        return {pid for (pid,) in self.ask(f"SELECT pid {WAITING}")}

    def wait_for_none(self) -> None:
        self.primary.wait_for(f"SELECT NOT EXISTS (SELECT {WAITING})")

    def ask(self, question: str) -> list[Any]:
        with psycopg.connect(self.primary.url, autocommit=True) as asking:
            return asking.execute(question.encode()).fetchall()

    def give_up(self, *, patience: float = 0.0) -> None:
        """A commit that waits is given up. `patience`: so long it is asked what became of it."""
        self.monkeypatch.setitem(postgres.SILENCE, "write", min(patience, 1.0))
        self.monkeypatch.setattr(transactions, "PATIENCE", patience)
        self.monkeypatch.setattr(postgres, "HANGS", 0.0)

    def be_patient(self) -> None:
        self.monkeypatch.setitem(postgres.SILENCE, "write", PATIENT)
        self.monkeypatch.setattr(transactions, "PATIENCE", PATIENT)

    def texts(self) -> list[str]:
        return texts(self.http)


def texts(http: TestClient) -> list[str]:
    turns = http.get("/v1/conversations/c1/turns").json()["data"]
    return [turn["blocks"][0]["text"] for turn in turns]


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    with postgres_of_our_own(durable=False) as primary:
        upgrade(primary.url)
        # These servers sync nothing.
        settings = Settings(database_url=primary.url, search=False, allow_unsafe=True)
        with standby_of(primary) as standby, TestClient(create_app(settings)) as http:
            pair = Pair(primary, standby, http, monkeypatch)
            pair.be_patient()
            assert pair.post("first").status_code == 201
            with pair.threads:
                yield pair
                pair.give_up()


def terminate(pair: Pair) -> None:
    pair.ask(f"SELECT pg_terminate_backend(pid) {WAITING}")


def cancel(pair: Pair) -> None:
    pair.ask(f"SELECT pg_cancel_backend(pid) {WAITING}")


def restart(pair: Pair) -> None:
    pair.primary.stop()
    pair.primary.start_again()


@pytest.mark.parametrize("break_off", [terminate, cancel, restart])
def test_what_only_the_primary_has_is_not_acknowledged(
    pair: Pair, break_off: Callable[[Pair], None], caplog: pytest.LogCaptureFixture
) -> None:
    pair.standby.stop()
    posted = pair.post_that_waits("second")
    first = pair.waiting()
    break_off(pair)
    pair.wait_for_commit(posted, but=first)
    pair.give_up()
    response = posted.result()
    assert response.status_code == 503
    assert "may have been stored" in response.json()["detail"]
    # One line with the reason, and no traces.
    [warning] = [text for text in caplog.messages if text.startswith("503 on")]
    assert "pipeline" not in warning
    assert not [record for record in caplog.records if record.exc_info]
    # The primary has it, which proves nothing.
    assert pair.texts() == ["first", "second"]

    pair.primary.kill()
    pair.standby.start_again()
    with psycopg.connect(pair.standby.url, autocommit=True) as admin:
        assert admin.execute("SELECT pg_promote()").fetchone() == (True,)
    after = Settings(database_url=pair.standby.url, search=False)
    with TestClient(create_app(after)) as http:
        assert texts(http) == pair.stored == ["first"]


def test_a_commit_that_was_broken_off_is_acknowledged_when_the_standby_has_it(pair: Pair) -> None:
    pair.standby.stop()
    posted = pair.post_that_waits("second")
    first = pair.waiting()
    terminate(pair)
    pair.wait_for_commit(posted, but=first)
    assert not posted.done()
    pair.standby.start_again()
    assert posted.result().status_code == 201
    assert pair.texts() == ["first", "second"]
    with psycopg.connect(pair.standby.url) as standby:
        assert standby.execute("SELECT count(*) FROM turns").fetchone() == (2,)


def test_a_repeated_request_waits_for_the_standby_too(pair: Pair) -> None:
    pair.standby.stop()
    posted = pair.post_that_waits("second", key="k")
    pair.give_up()
    assert posted.result().status_code == 503
    terminate(pair)
    pair.wait_for_none()
    pair.be_patient()
    repeated = pair.post_that_waits("second", key="k")
    pair.standby.start_again()
    assert repeated.result().status_code == 200
    assert pair.texts() == ["first", "second"]


def test_while_a_commit_waits_for_its_standby_no_other_is_begun(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    reason = "A commit waits for its synchronous standby."
    pair.standby.stop()
    posted = pair.post_that_waits("second")
    pair.give_up(patience=PATIENT)
    detail = posted.result().json()["detail"]
    assert detail.startswith(reason)
    assert "may have been stored" in detail
    pair.be_patient()
    for refused in pair.threads.map(pair.post, map(str, range(8)), timeout=60):
        assert (refused.status_code, refused.json()["detail"]) == (503, reason)
    unready = pair.http.get("/readyz")
    assert (unready.status_code, unready.json()["detail"]) == (503, reason)
    # It goes on waiting: who cancels it commits it here only.
    assert len(pair.waiting()) == 1

    pair.standby.start_again()
    pair.wait_for_none()
    assert pair.http.get("/readyz").status_code == 200
    assert pair.post("third").status_code == 201
    assert pair.texts() == ["first", "second", "third"]
    # One line for each response, with the reason, and no traces.
    warnings = [text for text in caplog.messages if text.startswith("503 on")]
    assert len(warnings) == 1 + 8 + 1
    assert all(text.endswith(reason) for text in warnings)
    assert not [record for record in caplog.records if record.exc_info]
