"""What is killed: a server with all its processes, one of its workers, or its PostgreSQL."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.server import Server, free_port, started, turnkeep, wait_until_ready
from tests.postgres import Postgres, fresh_database, postgres_of_our_own


@dataclass
class Service:
    """A server that always comes back on the same port, with the same data."""

    folder: Path
    database_url: str
    workers: int
    port: int
    server: Server
    postgres: Postgres | None = None

    @property
    def url(self) -> str:
        return self.server.url

    def restart(self) -> None:
        """The orderly end, and a new beginning."""
        self.stop()
        self.ready_again()

    def kill(self, chance: random.Random) -> None:
        """Kill -9 of everything, or of one process alone.

        One of several workers leaves the others and the supervisor, which starts another; a process
        that writes leaves its worker, and the other way round.
        """
        if self.postgres:
            self.postgres.kill()
        elif chance.random() < 0.4:
            self._kill_all()
        else:
            supervisor = self.server.process.pid
            workers = _workers(supervisor) or [supervisor]
            writers = [writer for worker in workers for writer in _writers(worker)]
            victim = chance.choice(chance.choice([workers, writers or workers]))
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
            if victim == supervisor:
                self.server.process.wait()

    def ready_again(self) -> float:
        """Starts what was killed; gives the seconds from then until the service is ready."""
        begun = time.monotonic()
        if self.postgres:
            self.postgres.start_again()
        elif self.server.process.poll() is not None:
            self.server = _started(self.folder, self.database_url, self.workers, self.port)
        wait_until_ready(self.server)
        return time.monotonic() - begun

    def stop(self) -> None:
        """The orderly end; and the other one where that takes too long."""
        self.server.process.terminate()
        try:
            self.server.process.wait(30)
        finally:
            self._kill_all()

    def _kill_all(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.server.process.pid, signal.SIGKILL)
        self.server.process.wait()


@contextlib.contextmanager
def sqlite_service(folder: Path, workers: int) -> Iterator[Service]:
    with _service(folder, f"sqlite:///{folder / 'turnkeep.db'}", workers) as service:
        yield service


@contextlib.contextmanager
def postgres_service(folder: Path, workers: int, *, killed: bool) -> Iterator[Service]:
    """On a PostgreSQL of its own that syncs; `killed` says that it is the one to be killed."""
    with postgres_of_our_own(durable=True) as postgres, fresh_database(postgres.url) as url:
        assert turnkeep("migrate", "--database-url", url, cwd=folder).returncode == 0
        with _service(folder, url, workers) as service:
            service.postgres = postgres if killed else None
            yield service


@contextlib.contextmanager
def _service(folder: Path, url: str, workers: int) -> Iterator[Service]:
    port = free_port()
    service = Service(folder, url, workers, port, _started(folder, url, workers, port))
    try:
        wait_until_ready(service.server)
        yield service
    finally:
        service.stop()


def _started(folder: Path, url: str, workers: int, port: int) -> Server:
    arguments = ("--database-url", url, "--workers", str(workers), "--log-level", "warning")
    return started(folder, *arguments, port=port)


def _workers(supervisor: int) -> list[int]:
    """The processes that a supervisor has started to serve; none where it serves itself."""
    return [pid for pid in _children(supervisor) if b"spawn_main" in _command(pid)]


def _writers(worker: int) -> list[int]:
    """The processes that write for a worker; none once they have died."""
    return [pid for pid in _children(worker) if b"resource_tracker" not in _command(pid)]


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
