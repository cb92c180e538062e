"""Checking a schema opens no connection and no file, whatever the schema refers to.

The library that checks schemas is written in Rust, so watching Python's sockets would show nothing.
A child process checks hostile schemas instead, in two ways:

- with a limit of no open files, which the kernel enforces without any privilege. A process that can
  open neither a socket nor a file must give the same answers.
- under strace, where it is installed and may trace. This also shows an attempt whose failure is
  ignored.

Both are tried with the same library following the references, and must notice it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.crash.syncs import is_possible

ROOT = Path(__file__).parents[2]
# Nothing listens on port 1. Connections that a planted fault makes stay on this machine.
REMOTE = "http://127.0.0.1:1/schema.json"
FILE = "file:///etc/hostname"
HOSTILE: list[dict[str, Any]] = [
    {key: address}
    for address in (REMOTE, FILE, f"{REMOTE}#/$defs/a", "//127.0.0.1:1/a", "../a.json")
    for key in ("$ref", "$schema", "$dynamicRef", "$recursiveRef")
]
HOSTILE += [
    {"$id": REMOTE, "properties": {"a": {"$ref": "other.json"}}},
    {"$id": FILE, "$ref": "passwd"},
    {"$schema": REMOTE, "$vocabulary": {REMOTE: True}, "$ref": FILE},
    {"properties": {"a": {"items": {"$ref": REMOTE, "$schema": FILE}}}},
    {"$ref": REMOTE, "type": "strung"},
    {"properties": {"a": {"$ref": FILE, "type": 7}}},
    {"pattern": "((a{1000}){1000}){1000}", "patternProperties": {"(" * 10_000: True}},
]
CHECK = "from app.tools.schemacheck import fault as check"
# The fault that must be noticed: the schema is compiled.
COMPILE = """
from jsonschema_rs import validator_for
def check(schema):
    try:
        validator_for(schema)
    except Exception as error:
        return str(error)
"""
# The first check loads what is loaded once.
CHILD = """
import json, os, resource, sys
{check}
schemas = json.loads(sys.stdin.read())
check({{"type": 7}})
if sys.argv[1] == "limited":
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
os.write(2, b"begin")
answers = [check(schema) for schema in schemas]
os.write(2, b"end")
print(json.dumps(answers))
"""
traceable = pytest.mark.skipif(not is_possible(), reason="strace is missing, or may not trace")


def answers(check: str, mode: str, *under: str) -> list[str | None]:
    done = subprocess.run(
        [*under, sys.executable, "-c", CHILD.format(check=check), mode],
        input=json.dumps(HOSTILE),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        # A proxy would take the connections of a planted fault to another machine.
        env={key: value for key, value in os.environ.items() if "proxy" not in key.lower()},
    )
    return list(json.loads(done.stdout))


def calls(check: str, folder: Path) -> list[str]:
    """Returns the system calls for networks and files that the checks made."""
    trace = folder / "trace"
    strace = ("strace", "-f", "-e", "trace=%network,%file,write", "-o", str(trace))
    answers(check, "traced", *strace)
    lines = trace.read_text(errors="replace").splitlines()
    begin, end = (
        next(place for place, line in enumerate(lines) if f'write(2, "{word}"' in line)
        for word in ("begin", "end")
    )
    return lines[begin + 1 : end]


def test_a_process_that_can_open_nothing_gives_the_same_answers() -> None:
    expected: list[str | None] = [None] * len(HOSTILE)
    expected[-3:-1] = ["is no JSON Schema at type", "is no JSON Schema at properties/a/type"]
    assert answers(CHECK, "limited") == answers(CHECK, "free") == expected


def test_a_check_that_follows_references_gives_other_answers_there() -> None:
    assert answers(COMPILE, "limited") != answers(COMPILE, "free")


@traceable
def test_no_system_call_asks_for_a_connection_or_a_file(tmp_path: Path) -> None:
    assert calls(CHECK, tmp_path) == []


@traceable
def test_a_check_that_follows_references_is_seen(tmp_path: Path) -> None:
    seen = "\n".join(calls(COMPILE, tmp_path))
    assert "connect(" in seen
    assert '"/etc/hostname"' in seen
