"""Threads for queries: nobody waits for them when the service stops."""

import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from app.database.database import Database
from app.database.threads import Threads

# Work that never ends, and a process that has nothing else to do.
ABANDONED = """
import threading, time
from app.database.threads import Threads
begun = threading.Event()
threads = Threads(1, "t")
threads.submit(lambda: (begun.set(), threading.Event().wait()))
begun.wait()
threads.end(time.monotonic())
print("ends")
"""


def test_work_gives_what_it_gives_or_raises() -> None:
    threads = Threads(2, "t")
    assert threads.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(SystemExit):
        threads.submit(sys.exit, 3).result()
    # The thread that heard of it goes on.
    assert [threads.submit(int, str(n)).result() for n in range(9)] == list(range(9))
    threads.end(None)


def test_work_that_is_not_wanted_any_more_is_not_begun() -> None:
    threads, gate = Threads(1, "t"), threading.Event()
    first = threads.submit(gate.wait)
    done: list[int] = []
    futures: list[Future[Any]] = [threads.submit(done.append, n) for n in range(3)]
    assert futures[1].cancel()
    gate.set()
    threads.end(None)
    assert first.result()
    assert done == [0, 2]


def test_nothing_is_begun_after_the_end() -> None:
    for used in (True, False):
        threads = Threads(1, "t")
        if used:
            threads.submit(int).result()
        threads.end(None)
        with pytest.raises(RuntimeError, match="any more"):
            threads.submit(int)


def test_the_process_does_not_wait_for_work_that_was_given_up() -> None:
    command = [sys.executable, "-c", ABANDONED]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr


def test_closing_waits_for_a_long_query_no_longer_than_it_is_told(tmp_path: Path) -> None:
    database, gate = Database(f"sqlite:///{tmp_path}/t.db"), threading.Event()
    waiting = [threads.submit(gate.wait) for threads in (database._readers, database._doorman)]
    ending = threading.Thread(target=database.close, args=[0.05], daemon=True)
    ending.start()
    ending.join(30)
    assert not ending.is_alive()
    assert not any(one.done() for one in waiting)
    gate.set()
