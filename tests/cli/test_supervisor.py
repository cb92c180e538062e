import multiprocessing
import os
import signal
from multiprocessing.connection import Connection

import pytest
import uvicorn
from uvicorn.supervisors import multiprocess

from app.cli.serve import Supervisor

# Longer than it takes to start a process, also on a busy machine.
SECONDS = 60


def _dies_when_asked(asked: Connection) -> None:
    asked.recv()
    os._exit(9)


def test_a_worker_that_dies_while_it_is_asked_is_told_apart_from_a_slow_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It would take the signals of the tests.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    config = uvicorn.Config("no:app", workers=1, timeout_worker_healthcheck=SECONDS)
    worker, other = multiprocess.Process(config, []), multiprocess.Process(config, [])
    worker.process = multiprocessing.get_context("spawn").Process(
        target=_dies_when_asked, args=(worker.child_conn,)
    )
    worker.start()
    supervisor = Supervisor(config, [])
    supervisor.processes = [worker]
    monkeypatch.setattr(multiprocess, "Process", lambda *_: other)
    monkeypatch.setattr(other, "start", lambda: None)
    heard, poll = [], Connection.poll

    def noted(self: Connection, seconds: float = 0.0) -> bool:
        heard.append(poll(self, seconds))
        return heard[-1]

    monkeypatch.setattr(Connection, "poll", noted)
    supervisor.keep_subprocess_alive()
    assert heard == [True]
    assert supervisor.processes == [other]
