"""Asks the AI SDK itself, through a node process that lives as long as the tests.

The packages are installed by `npm ci` on first use, beside `package-lock.json`; a digest of the
lock file tells whether what is installed is what is pinned.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import threading
from functools import cache
from pathlib import Path

_HOME = Path(__file__).parent / "node"
_LOCK = _HOME / "package-lock.json"
_MARK = _HOME / "node_modules" / ".turnkeep-lock-digest"
_TURN = threading.Lock()


class AiSdkUnavailable(RuntimeError):
    """The AI SDK cannot be asked on this machine."""


def available() -> str | None:
    """Why a test may be skipped here; None where the SDK can be asked, and always None in CI.

    In CI nothing is skipped: there `ask` fails with the same reason.
    """
    return None if os.environ.get("CI") else _hindrance()


def ask(target: str, request: dict[str, object]) -> list[str]:
    """What the AI SDK says against the request."""
    try:
        line = json.dumps({"target": target, "request": request}, allow_nan=False)
    except (TypeError, ValueError) as error:
        return [f"request: cannot be sent as JSON: {error}"]
    process = _judge()
    assert process.stdin
    assert process.stdout
    with _TURN:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    if not answer:
        raise AiSdkUnavailable(f"the node process ended with status {process.wait()}")
    found: list[str] = json.loads(answer)
    return found


@cache
def message_schemas() -> dict[str, dict[str, object]]:
    """By target: the JSON schema of the messages that the AI SDK takes."""
    if reason := _hindrance():
        raise AiSdkUnavailable(reason)
    command = ["node", "types.mjs"]
    done = subprocess.run(command, cwd=_HOME, capture_output=True, text=True, check=True)
    schemas: dict[str, dict[str, object]] = json.loads(done.stdout)
    return schemas


@cache
def _judge() -> subprocess.Popen[str]:
    if reason := _hindrance():
        raise AiSdkUnavailable(reason)
    process = subprocess.Popen(
        ["node", "judge.mjs"],
        cwd=_HOME,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def _hindrance() -> str | None:
    """Why the SDK cannot be asked: tools that are absent, or packages that cannot be had."""
    absent = [tool for tool in ("node", "npm") if not shutil.which(tool)]
    return f"the AI SDK needs {' and '.join(absent)} on the path" if absent else _install()


@cache
def _install() -> str | None:
    """Install what is pinned; of several test processes, one does it and the others wait."""
    digest = hashlib.sha256(_LOCK.read_bytes()).hexdigest()
    with _LOCK.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if _MARK.exists() and _MARK.read_text() == digest:
            return None
        command = ["npm", "ci", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=_HOME, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"npm ci failed in {_HOME.name}: {done.stderr.strip()[-500:]}"
        _MARK.write_text(digest)
    return None
