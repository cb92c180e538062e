"""What a terminal, a pipe and Ctrl-C do to the command."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Run, World
from tests.e2e.server import ROOT

COLOURED = ["list", "show trip", "find trip", "audit trip", "diff trip --between kimi,gemini"]


@pytest.mark.parametrize("command", [*COLOURED, "tail trip", "doctor"])
def test_colours_are_for_terminals_or_asked_for(world: World, run: Run, command: str) -> None:
    where = ["--database-url", world.database_url]
    assert "\x1b[" not in run(*command.split(), *where).out
    coloured = run(*command.split(), *where, "--color", "always").out
    assert "\x1b[" in coloured
    for code in ("0", "1", "2", "31", "32", "33", "36"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    # But for our own colours there is nothing that a terminal obeys.
    assert all(line.isprintable() for line in coloured.split("\n"))


def environment(world: World, **more: str) -> dict[str, str]:
    return {
        "PYTHONPATH": str(ROOT),
        "PATH": "/usr/bin:/bin",
        "TERM": "xterm",
        "TURNKEEP_URL": world.url,
        **more,
    }


@contextmanager
def started(
    world: World, command: str, out: int, **more: str
) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "app", *command.split()],
        env=environment(world, **more),
        stdout=out,
        stderr=subprocess.PIPE,
        # Processes in the background of a shell do not hear Ctrl-C; this one shall.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("more", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_is_given_colours_unless_it_wants_none(
    world: World, more: dict[str, str], is_coloured: bool
) -> None:
    ours, theirs = pty.openpty()
    try:
        with started(world, "list", theirs, **more) as process:
            assert process.wait(60) == 0
        assert (b"\x1b[1m" in os.read(ours, 65536)) == is_coloured
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("command", ["show trip --json", "list --help", ""])
def test_a_reader_that_has_enough_is_no_failure(world: World, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with started(world, command, writing) as process:
            _, err = process.communicate(timeout=60)
    finally:
        os.close(writing)
    assert (process.returncode, err) == (0, b"")


def test_ctrl_c_ends_it_without_a_word(world: World) -> None:
    world.post("waiting", {"role": "user", "content": "hello"})
    with started(world, "tail waiting -f --json", subprocess.PIPE) as process:
        assert process.stdout is not None
        # From here on it waits for more.
        assert b'"hello"' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")


def test_what_a_terminal_cannot_show_is_escaped(world: World) -> None:
    with started(world, "show trip --last 2", subprocess.PIPE, PYTHONIOENCODING="ascii") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert rb"\u2190 turn 8: noon" in out


def test_wide_signs_take_two_columns(world: World, run: Run, tmp_path: Path) -> None:
    world.post(
        "wide",
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}
                for name in ("天気", "ab")
            ],
        },
    )
    out = run("audit", "wide", "--url", world.url).out.splitlines()
    rows = [line for line in out if "hist_tool_" in line]
    assert [line.index("hist_tool_") for line in rows if "天気" in line] == [
        line.index("hist_tool_") - 2 for line in rows if "天気" not in line
    ]
