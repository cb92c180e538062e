"""Is what a 201 promises on the disk? A kill cannot tell: the system keeps what was never synced.

So the system calls of a server are traced. Every turn has an id of its own, which stands in the
page of the log that holds it and in its receipt: between the first write of the one and the sending
of the other there must be a sync of the log.
"""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.e2e.server import ROOT, started, wait_until_ready

MISSING = (
    "strace is not installed; the syncs cannot be seen (Debian and Ubuntu: apt install strace)"
)
WRITERS = 8
EACH = 5
RECEIPTS = WRITERS * EACH
_CALLS = "pwrite64,pwritev,fsync,fdatasync,write,writev,sendto,sendmsg,connect"
# Longer than a page.
_SHOWN = "8400"
_ID = re.compile(r"synced-\d+-\d+-")
_SYNC = re.compile(r"f(?:data)?sync\(\d+<[^>]*-wal>")
_END = re.compile(r"<\.\.\. f(?:data)?sync resumed")
_NEAR = re.compile(r'AF_UNIX|inet_addr\("127\.|"::1"')
# Imported by Python before anything else, from a folder that only we put on its path.
_FAULT = """
from app.database import sqlite
sound = sqlite._pragma
sqlite._pragma = lambda driver, setting: sound(driver, setting.replace("= FULL", "= {}"))
"""


@dataclass
class Seen:
    """What a trace shows: the turns told of, those told of too early, connections elsewhere."""

    told: set[str] = field(default_factory=set)
    too_early: set[str] = field(default_factory=set)
    outside: list[str] = field(default_factory=list)


def is_possible() -> bool:
    """Whether there is strace; some containers have it, but may not trace."""
    if not shutil.which("strace"):
        return False
    tried = subprocess.run(["strace", "true"], stderr=subprocess.DEVNULL, check=False)
    return tried.returncode == 0


def traced(folder: Path, synchronous: str | None = None) -> Seen:
    """Posts to a server under strace; another value of `synchronous` is a fault planted in it."""
    fault = folder / "fault"
    fault.mkdir()
    if synchronous:
        (fault / "sitecustomize.py").write_text(_FAULT.format(synchronous))
    trace = folder / "trace"
    under = ("strace", "-f", "-yy", "-s", _SHOWN, "-e", f"trace={_CALLS}", "-o", str(trace))
    environment = {"PYTHONPATH": f"{fault}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    server = started(folder, environment=environment, under=under)
    try:
        wait_until_ready(server)
        asyncio.run(_post(server.url))
    finally:
        # Both, strace and the server that it runs.
        for ending in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.process.pid, ending)
            server.process.wait(30)
    with trace.open(errors="replace") as lines:
        return seen_in(lines)


def seen_in(lines: Iterable[str]) -> Seen:
    """A sync counts when it has ended, for what was written before it began."""
    seen, written, synced = Seen(), set[str](), set[str]()
    running: dict[str, set[str]] = {}
    for line in lines:
        thread, _, call = line.partition(" ")
        call = call.lstrip()
        if _SYNC.match(call):
            running[thread] = set(written)
        if (_SYNC.match(call) and "unfinished" not in call) or _END.match(call):
            if call.rstrip().endswith("= 0"):
                synced |= running.pop(thread, set())
        elif call.startswith("pwrite") and "-wal>" in call:
            written.update(_ID.findall(call))
        elif call.startswith("connect") and not _NEAR.search(call):
            seen.outside.append(call)
        elif "<TCP" in call:
            ids = set(_ID.findall(call))
            seen.told |= ids
            seen.too_early |= ids - synced
    return seen


async def _post(url: str) -> None:
    async def write(http: httpx.AsyncClient, writer: int) -> None:
        for number in range(EACH):
            body = {
                "provider": "openai",
                "turn_id": f"synced-{writer}-{number}-",
                "messages": [{"role": "user", "content": "hello"}],
            }
            response = await http.post(f"/v1/conversations/c{writer % 2}/turns", json=body)
            assert response.status_code == 201, response.text

    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        await asyncio.gather(*(write(http, writer) for writer in range(WRITERS)))
