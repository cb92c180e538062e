"""The programs that are measured, each in a process of its own on a free port."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.server import ROOT, free_port

# Lines for every request would be measured too; without them the floor is at its fastest.
_QUIET = ("--log-level", "warning")


@dataclass(frozen=True)
class Server:
    port: int
    pid: int
    # From starting the process to the first good reply.
    start_seconds: float

    def resident_mb(self) -> float:
        """The memory that the process and those that it has forked hold now. What several of them
        share counts once."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return sum(_kilobytes(pid) for pid in (str(self.pid), *children)) / 1024


def _kilobytes(pid: str) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("Pss:"))
    return int(kilobytes)


@contextmanager
def turnkeep(
    url: str, *, workers: int = 1, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """`turnkeep serve` on this database, which is migrated first."""
    if not url.startswith("sqlite"):
        command("migrate", "--database-url", url)
    arguments = ["app", "serve", *_QUIET, "--database-url", url, "--workers", str(workers)]
    with _running([*arguments, "--port"], environment or {}) as server:
        yield server


@contextmanager
def program(module: str, environment: Mapping[str, str]) -> Iterator[Server]:
    """A program of this package that takes a port and has a page `/readyz`."""
    with _running([module], environment) as server:
        yield server


def command(*arguments: str) -> float:
    """Run a command of Turnkeep to its end; gives the seconds it took."""
    begun = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        env=_environment({}),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    return time.monotonic() - begun


@contextmanager
def _running(arguments: list[str], environment: Mapping[str, str]) -> Iterator[Server]:
    port = free_port()
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments, str(port)],
            env=_environment(environment),
            stdout=log,
            stderr=log,
        )
        try:
            if not _answers(process, f"http://127.0.0.1:{port}/readyz"):
                log.seek(0)
                raise AssertionError(f"{arguments} did not start:\n{log.read()}")
            yield Server(port, process.pid, time.monotonic() - begun)
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                # The textbook service may wait for its transactions for ever; ours must end.
                if arguments[0] == "app":
                    raise


def _answers(process: "subprocess.Popen[bytes]", page: str) -> bool:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(page, timeout=5):
                return True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.005)
    return False


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TURNKEEP_")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}
