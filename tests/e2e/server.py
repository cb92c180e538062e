"""A real server in a process of its own, on a free port of this machine."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A database at the newest schema, where there is one to begin with: to make one takes a server half
# as long as to start.
MADE: list[Path] = []


@dataclass
class Server:
    url: str
    process: "subprocess.Popen[str]"
    log: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def turnkeep(*args: str, cwd: Path, seconds: float = 60) -> "subprocess.CompletedProcess[str]":
    """Runs a command of the program to its end."""
    return subprocess.run(
        [sys.executable, "-m", "app", *args],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


@contextmanager
def serving(
    cwd: Path, *args: str, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    server = started(cwd, *args, environment=environment)
    try:
        wait_until_ready(server)
        yield server
    finally:
        server.process.terminate()
        server.process.wait(30)


def started(
    cwd: Path,
    *args: str,
    port: int | None = None,
    environment: Mapping[str, str] | None = None,
    under: Sequence[str] = (),
) -> Server:
    """A server in a session of its own, not ready yet; `under` is a program that runs it."""
    port = port or free_port()
    log = cwd / "serve.log"
    file = cwd / "turnkeep.db"
    if MADE and "--database-url" not in args and not file.exists():
        shutil.copyfile(MADE[0], file)
    with log.open("a") as out:
        process = subprocess.Popen(
            [*under, sys.executable, "-m", "app", "serve", "--port", str(port), *args],
            cwd=cwd,
            # The PostgreSQL of the tests syncs nothing.
            env={
                "PYTHONPATH": str(ROOT),
                "PATH": "/usr/bin:/bin",
                "TURNKEEP_ALLOW_UNSAFE": "true",
                **(environment or {}),
            },
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
            # So that its workers can be killed with it.
            start_new_session=True,
        )
    return Server(f"http://127.0.0.1:{port}", process, log)


def wait_until_ready(server: Server) -> None:
    for _ in range(300):
        if server.process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{server.url}/readyz", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise AssertionError(f"the server did not come up:\n{server.log.read_text()}")
