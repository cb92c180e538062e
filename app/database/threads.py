"""Threads for what can be given up when the service stops.

Those of the standard library hold up the end of the process until the last query is answered,
although nobody waits for it any more.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any


class Threads(Executor):
    """So many threads, begun with the first work, which ends with the process if it must."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._ended = False
        self._lock = threading.Lock()

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            if self._ended:
                raise RuntimeError("nothing is begun any more")
            while len(self._threads) < self._count:
                name = f"{self._name}_{len(self._threads)}"
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)
            self._jobs.put((future, lambda: work(*given, **named)))
        return future

    def end(self, until: float | None) -> None:
        """Ends when all work is done; it is not waited for longer than `until`."""
        with self._lock:
            self._ended = True
            for _ in self._threads:
                self._jobs.put(None)
        for thread in self._threads:
            thread.join(None if until is None else max(0, until - time.monotonic()))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, work = job
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:
                    future.set_exception(error)
            # What it gave may be large, and the next one may be long in coming.
            del job, future, work
