"""The command as people use it: real processes, real databases."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from uvicorn.supervisors import Multiprocess

from app import __version__
from app.cli import main
from tests.e2e.left import left_by
from tests.e2e.server import ROOT, serving, turnkeep
from tests.postgres import fresh_database

REPLAY = "/v1/conversations/c1/replay?provider=anthropic"


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def refusing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    """The command in this process, in an empty folder: for what ends before anything is served."""

    def served(*_: object, **__: object) -> None:
        raise AssertionError("it serves")

    for name in [name for name in os.environ if name.startswith("TURNKEEP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(uvicorn.Server, "run", served)
    monkeypatch.setattr(Multiprocess, "run", served)
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> "subprocess.CompletedProcess[str]":
        capfd.readouterr()
        try:
            code: Any = main(args)
        except SystemExit as end:
            code = end.code
        return subprocess.CompletedProcess(args, code, *capfd.readouterr())

    return run


def test_it_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"turnkeep {__version__}\n"


@pytest.mark.parametrize("command", ["serve", "migrate", "reindex", "verify", "import", "export"])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "--database-url" in capsys.readouterr().out


@pytest.fixture(scope="module", autouse=True)
def _made() -> None:
    """Here servers start by themselves, and make their databases."""


@dataclass(frozen=True)
class Lived:
    """The folder of a server that has ended, what it had printed, and what it had answered."""

    folder: Path
    url: str
    told: str
    replay: bytes


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """A server in an empty folder was told one message."""
    folder = tmp_path_factory.mktemp("lived")
    body = {"provider": "openai", "messages": [{"role": "user", "content": "remember me"}]}
    with serving(folder) as server:
        told = server.log.read_text()
        httpx.post(f"{server.url}/v1/conversations/c1/turns", json=body).raise_for_status()
        replay = httpx.get(f"{server.url}{REPLAY}").content
    return Lived(folder, server.url, told, replay)


def test_serving_an_empty_folder_makes_the_file_and_says_where(lived: Lived) -> None:
    assert lived.url in lived.told
    assert str(lived.folder / "turnkeep.db") in lived.told
    assert "curl" in lived.told
    assert (lived.folder / "turnkeep.db").exists()


def test_turns_survive_the_end_of_the_process(lived: Lived) -> None:
    with serving(lived.folder) as server:
        assert httpx.get(f"{server.url}{REPLAY}").content == lived.replay


def test_a_killed_server_has_kept_every_answered_turn(tmp_path: Path) -> None:
    body = {"provider": "openai", "messages": [{"role": "user", "content": "x"}]}
    answered = 0
    with serving(tmp_path) as server:
        for _ in range(25):
            httpx.post(f"{server.url}/v1/conversations/c1/turns", json=body).raise_for_status()
            answered += 1
        server.process.kill()
        server.process.wait()
    with left_by(tmp_path) as http:
        assert http.get("/v1/conversations/c1").json()["version"] == answered
        assert http.get("/v1/conversations/c1/verify").json()["ok"]


def test_postgres_is_not_served_before_it_is_migrated(
    tmp_path: Path, postgres_url: str, refusing: Run
) -> None:
    with fresh_database(postgres_url) as url:
        refused = refusing("serve", "--port", "0", "--database-url", url)
        assert refused.returncode == 1
        assert "turnkeep migrate" in refused.stderr
        migrated = turnkeep("migrate", "--database-url", url, cwd=tmp_path)
        assert (migrated.returncode, migrated.stderr) == (0, "")
        with serving(tmp_path, "--database-url", url, "--workers", "2") as server:
            body = {"provider": "openai", "messages": [{"role": "user", "content": "x"}]}
            for _ in range(8):
                httpx.post(f"{server.url}/v1/conversations/c/turns", json=body).raise_for_status()
            assert httpx.get(f"{server.url}/v1/conversations/c/verify").json()["ok"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_in_use_is_one_line_and_nothing_is_begun(
    refusing: Run, tmp_path: Path, workers: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        refused = refusing("serve", "--port", str(number), "--workers", workers)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"turnkeep: port {number} on 127.0.0.1 is in use; choose another with --port\n"
    )
    # The database may be the other's.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("no-such-host.invalid", "the host 'no-such-host.invalid' is unknown"),
        ("192.0.2.1", "the host '192.0.2.1' is no address of this machine"),
    ],
)
def test_a_host_that_is_not_ours_is_one_line(refusing: Run, host: str, words: str) -> None:
    refused = refusing("serve", "--host", host, "--port", "0")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert words in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_any_free_port_is_taken_and_said(tmp_path: Path, workers: str) -> None:
    log = tmp_path / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", "0", "--workers", workers],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        pattern = re.compile(r"serves on +(http://127.0.0.1:[1-9][0-9]*) ")
        while not (said := pattern.search(log.read_text())):
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        # Requests wait from the moment on in which the address is said.
        assert httpx.get(f"{said[1]}/healthz", timeout=60).status_code == 200
    finally:
        process.terminate()
        assert process.wait(30) == 0


def test_a_service_that_others_could_reach_without_a_key_leaves_nothing_behind(
    refusing: Run, tmp_path: Path
) -> None:
    where = ["--database-url", "sqlite:///new.db"]
    refused = refusing("serve", "--host", "0.0.0.0", "--port", "0", *where)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert list(tmp_path.iterdir()) == []
    todo = refused.stderr.partition("Run this first: ")[2].partition(". Or serve")[0]
    assert todo == f"turnkeep migrate {' '.join(where)} && turnkeep keys create {' '.join(where)}"
    for command in todo.split(" && "):
        assert refusing(*command.split()[1:]).returncode == 0
    assert "1 of 1 hold" in refusing("doctor", "--host", "0.0.0.0", "--port", "0", *where).stdout


def test_every_exit_status_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("serve", "migrate", "reindex", "verify", "import", "export"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "Exit status: 0 " in capsys.readouterr().out


def test_a_password_is_never_printed(refusing: Run) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/none"
    refused = refusing("serve", "--port", "0", "--database-url", url)
    assert refused.returncode == 2
    assert "s3cret" not in refused.stdout + refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["serve", "--port", "many"], "--port must be a whole number"),
        (["serve", "--database-url", "mysql://x"], "--database-url must begin with"),
        (["serve", "--port", "0", "--database-url", "sqlite://"], "name a file"),
        (["verify", "--database-url", "sqlite:///absent/dir/x.db"], "turnkeep:"),
    ],
)
def test_a_wrong_setting_is_one_line(refusing: Run, args: list[str], words: str) -> None:
    refused = refusing(*args)
    assert refused.returncode == 2
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr


def test_verify_tells_what_disagrees(lived: Lived, refusing: Run) -> None:
    agreed = turnkeep("verify", cwd=lived.folder)
    assert (agreed.returncode, agreed.stdout) == (0, "1 conversations agree, 0 do not.\n")
    url = f"sqlite:///{lived.folder / 'turnkeep.db'}"
    assert refusing("verify", "absent", "--database-url", url).returncode == 2
