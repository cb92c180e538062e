"""The first requests after a start may come all at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import sleep
from typing import Any

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings


def test_one_thread_at_a_time_makes_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    making = Lock()

    def make(_: FastAPI) -> dict[str, Any]:
        assert making.acquire(blocking=False), "two threads make the page at once"
        # Long enough for all the others to come.
        sleep(0.02)
        making.release()
        return {"paths": {}}

    monkeypatch.setattr(FastAPI, "openapi", make)
    app = create_app(Settings())
    with ThreadPoolExecutor(8) as threads:
        pages = [threads.submit(app.openapi) for _ in range(8)]
    assert [page.result() for page in pages] == [{"paths": {}}] * 8
