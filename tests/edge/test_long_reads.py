"""Long reads wait for each other; short ones do not wait for them."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.requests import Request

from app.database.database import READERS
from app.replay.kept import Renders
from app.replay.queries import Replaying
from app.turns.sql import SHORT
from tests.conversations.test_erasing import comes_true
from tests.http_api import Api, user


class Slow:
    """Replays of a conversation that is just too long, as many as there are readers and more. They
    do not end before they may."""

    def __init__(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        api.post(*[user("x")] * SHORT, cid="long")
        api.post(user("x"), cid="long")
        api.post(user("x"), cid="short")
        self.begun = 0
        self.may_end = threading.Event()
        body = Replaying.body

        def slowly(replaying: Replaying, _: Renders) -> list[bytes]:
            # Nothing is kept: who comes late would find a render, and read no more than a head.
            done = body(replaying, Renders())
            if replaying.head.id == "long":
                self.begun += 1
                assert self.may_end.wait(30)
            return done

        monkeypatch.setattr(Replaying, "body", slowly)
        self.threads = ThreadPoolExecutor(2 * READERS)
        self.asked = [
            self.threads.submit(api.get, "replay", cid="long", provider="openai")
            for _ in range(2 * READERS)
        ]
        assert comes_true(lambda: self.begun >= READERS - 2)

    def statuses(self) -> set[int]:
        self.may_end.set()
        return {one.result(30).status_code for one in self.asked}


@pytest.fixture
def slow(lite: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    slow = Slow(lite, monkeypatch)
    yield slow
    slow.may_end.set()
    slow.threads.shutdown()


def test_short_reads_do_not_wait_for_long_ones(lite: Api, slow: Slow) -> None:
    for _ in range(READERS):
        assert lite.get("", cid="long").status_code == 200
        assert lite.get("replay", cid="short", provider="openai").status_code == 200
        assert lite.get("turns", cid="long", limit=1).status_code == 200
    assert slow.begun == READERS - 2
    assert slow.statuses() == {200}
    assert slow.begun == 2 * READERS


def test_a_long_read_is_not_begun_when_its_client_has_hung_up(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_disconnected(request: Request) -> bool:
        return True

    monkeypatch.setattr(Request, "is_disconnected", is_disconnected)
    slow.may_end.set()
    # No client would get what the others got: 499 is no status that is told.
    assert sum(one.exception(30) is None for one in slow.asked) == READERS - 2
    assert slow.begun == READERS - 2
