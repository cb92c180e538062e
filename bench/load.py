"""The load generator: many clients that ask as fast as they are answered.

`wrk` does it where it is installed. Elsewhere `raw_client.py` does, a loop over raw sockets in a
process of its own. `busy` is the share of one processor that the generator took: near 1 it would be
the bottleneck, and the figures would be its own.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from bench.turns import MARK

GENERATOR = "wrk" if shutil.which("wrk") else "raw_client.py"
# Conversations that the clients write to in turn.
CONVERSATIONS = 64
_MOST_SECONDS = 30

_HERE = Path(__file__).parent
_runs = count(1)


@dataclass(frozen=True)
class Requests:
    """What is asked again and again. `MARK` becomes a number: any in bodies, few in the path."""

    method: str
    path: str
    bodies: list[bytes] = field(default_factory=list)
    conversations: int = CONVERSATIONS


@dataclass(frozen=True)
class Loaded:
    """What came of it."""

    rate: float
    median_ms: float
    p99_ms: float
    busy: float


class LoadFailed(Exception):
    """Requests failed, so their rate means nothing."""


def load(port: int, requests: Requests, clients: int, seconds: float) -> Loaded:
    """Ask the server on this port for a while; longer, if nothing comes back in that time."""
    while True:
        loaded = _loaded(port, requests, clients, seconds)
        if loaded.rate or seconds > _MOST_SECONDS:
            return loaded
        seconds = max(1, seconds) * 4


def _loaded(port: int, requests: Requests, clients: int, seconds: float) -> Loaded:
    with tempfile.TemporaryDirectory(prefix="turnkeep-load-") as folder:
        bodies = Path(folder) / "bodies"
        bodies.write_bytes(b"\n".join(requests.bodies))
        given = [requests.method, requests.path, str(bodies), MARK]
        given += [str(requests.conversations), str(next(_runs) * 10_000_000)]
        begun = time.monotonic()
        process = subprocess.Popen(
            _command(port, clients, seconds, given), stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process.stdout as pipe:
            output = pipe.read()
        # Not `wait`: this one also says how much processor time the process took.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - begun
    if process.returncode != 0:
        raise LoadFailed(f"{GENERATOR} ended with {process.returncode}")
    said = json.loads(output.splitlines()[-1])
    if said["failed"]:
        raise LoadFailed(f"{requests.method} {requests.path}: {said}")
    return Loaded(
        rate=said["requests"] / said["seconds"],
        median_ms=said["median_ms"],
        p99_ms=said["p99_ms"],
        busy=(used.ru_utime + used.ru_stime) / took,
    )


def _command(port: int, clients: int, seconds: float, given: list[str]) -> list[str]:
    url = f"http://127.0.0.1:{port}"
    if GENERATOR == "wrk":
        # wrk takes whole seconds only, and one thread drives all connections.
        long = f"{max(1, round(seconds))}s"
        script = str(_HERE / "load.lua")
        flags = ["-t1", f"-c{clients}", f"-d{long}", "--timeout", "60s", "-s", script]
        return ["wrk", *flags, url, "--", *given]
    return [sys.executable, "-m", "bench.raw_client", url, str(clients), str(seconds), *given]
