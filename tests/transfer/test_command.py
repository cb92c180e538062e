"""The commands as people use them: what they print, how they end, how they go on."""

import gzip
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from app.cli import importing, main
from app.cli.text import Progress
from app.database.database import Database
from app.model.errors import Unavailable
from app.transfer.commands import store_history
from tests.e2e.server import ROOT
from tests.transfer.conftest import FILES, Run, spoken, stored

SAID = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "import",
            ["--format", "claude-code", "codex", "--conversation", "--group-by", "--strict"],
        ),
        ("export", ["--all", "--provider", "--output", "--model", "neutral"]),
    ],
)
def test_help_names_every_flag(
    command: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    # Lines are broken at hyphens, too.
    shown = "".join(capsys.readouterr().out.split())
    assert [word for word in words if word not in shown] == []


@pytest.mark.parametrize(
    "command", [["import", "--format", "antropic", "x.json"], ["export", "--provider", "claude"]]
)
def test_a_wrong_name_of_a_format_is_told_the_right_one(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert (ended.value.code, "did you mean 'anthropic'?" in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize("words", [["import", "x.jsonl"], ["export", "--all"], ["verify"]])
def test_a_database_that_is_not_there_is_one_line_and_stays_away(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TURNKEEP_DATABASE_URL", raising=False)
    assert main(words) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err == (
        f"turnkeep: the file turnkeep.db does not exist in the folder {tmp_path}. Name another one"
        " with --database-url; for a new one run this first: turnkeep migrate\n"
    )
    assert list(tmp_path.iterdir()) == []
    assert main([*words, "--database-url", "sqlite:///no/folder/x.db"]) == 2
    told = capfd.readouterr()
    assert told.err.startswith(f"turnkeep: the folder {tmp_path}/no/folder does not exist")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_line_is_named_and_the_others_are_stored(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url, file = sqlite_database_url, tmp_path / "a.jsonl"
    good = json.dumps(SAID).encode()
    lines = [
        good,
        b"{",
        b'{"messages": []}',
        b'{"note": 1}',
        b"\xff",
        b'[{"role": "x"}]',
        b"7",
        good,
    ]
    file.write_bytes(b"\n".join(lines))
    told = turnkeep(url, "import", file)
    assert told.code == 1
    assert told.out == "2 conversations, 4 turns stored, 0 already there.\n"
    named = [line.removeprefix(f"{file}:").partition(": ") for line in told.err.splitlines()]
    assert {number for number, *_ in named[:-1]} == {"2", "3", "4", "5", "6", "7"}
    [reason] = [reason for number, _, reason in named if number == "6"]
    assert reason.startswith("`role` must be system, developer, user")
    assert reason.endswith("(at /messages/0/role)")
    assert told.err.endswith("6 problems, named above.\n")
    assert spoken(url, "a-1") == spoken(url, "a-8")


def test_strict_stops_at_the_first_problem(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join([json.dumps(SAID), "{", json.dumps(SAID)]))
    told = turnkeep(sqlite_database_url, "import", "--strict", file)
    assert (told.code, told.out) == (1, "1 conversations, 2 turns stored, 0 already there.\n")


def test_a_file_that_is_not_there_does_not_stop_the_others(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    (tmp_path / "torn.json.gz").write_bytes(b"\x1f\x8b\x08\x00torn")
    files = (tmp_path / "absent.json", tmp_path / "torn.json.gz", FILES / "document.json")
    told = turnkeep(sqlite_database_url, "import", *files)
    assert (told.code, told.out) == (1, "1 conversations, 2 turns stored, 0 already there.\n")
    assert "absent.json: No such file or directory" in told.err


def test_an_empty_file_is_no_problem(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\n \n")
    told = turnkeep(sqlite_database_url, "import", tmp_path / "a.jsonl")
    assert (told.code, told.out) == (0, "0 conversations, 0 turns stored, 0 already there.\n")


def test_one_id_is_for_one_history(sqlite_database_url: str, turnkeep: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join([json.dumps(SAID)] * 2))
    told = turnkeep(sqlite_database_url, "import", file, "--conversation", "c1")
    assert told.code == 1
    assert f"{file}:2: --conversation names one history" in told.err
    assert len(stored(sqlite_database_url, "c1")) == 2


def test_an_id_that_cannot_be_one_is_refused(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    told = turnkeep(
        sqlite_database_url, "import", FILES / "document.json", "--conversation", "no/slash"
    )
    assert told.code == 1
    assert "A conversation id must have" in told.err


def test_export_wants_names_or_all(sqlite_database_url: str, turnkeep: Run) -> None:
    assert turnkeep(sqlite_database_url, "export").code == 2
    assert turnkeep(sqlite_database_url, "export", "c1", "--all").code == 2
    told = turnkeep(sqlite_database_url, "export", "absent")
    assert told.code == 2
    assert told.err.startswith("turnkeep: Conversation 'absent' does not exist.")


def test_an_export_that_cannot_be_written_is_one_line(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    out = tmp_path / "absent" / "x.jsonl"
    told = turnkeep(sqlite_database_url, "export", "--all", "--output", out)
    assert (told.code, told.err) == (2, f"turnkeep: {out}: No such file or directory\n")


def test_an_export_touches_no_file_but_its_own(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url, folder = sqlite_database_url, tmp_path / "out"
    folder.mkdir()
    (folder / "x.jsonl.part").write_text("mine")
    (folder / f".x.jsonl.{os.getpid()}.part").symlink_to(folder / "x.jsonl.part")
    turnkeep(url, "import", FILES / "document.json")
    refused = turnkeep(url, "export", "--all", "--output", folder / "x.jsonl")
    assert (refused.code, refused.err) == (2, f"turnkeep: {folder}/x.jsonl: File exists\n")
    (folder / f".x.jsonl.{os.getpid()}.part").unlink()
    assert turnkeep(url, "export", "--all", "--output", folder / "x.jsonl").code == 0
    assert (folder / "x.jsonl.part").read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == ["x.jsonl", "x.jsonl.part"]


def test_an_export_into_a_pipe_does_not_replace_it(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    told = turnkeep(sqlite_database_url, "export", "--all", "--output", tmp_path / "pipe")
    os.close(reader)
    assert told.code == 0
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "%s"}]' % ("x" * 5_000),
        " " * 5_000,
        '{"role": "user", "content": "x"}\n' * 200,
        '{"type": "user", "sessionId": "s", "message": {"role": "user", "content": "x"}}\n' * 99,
        "[\n" + '{"role": "user",\n"content": "x"},\n' * 200,
    ],
)
def test_a_file_that_unpacks_to_too_much_is_a_problem(
    sqlite_database_url: str,
    turnkeep: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
) -> None:
    file = tmp_path / "bomb.jsonl.gz"
    file.write_bytes(gzip.compress(text.encode()))
    monkeypatch.setenv("TURNKEEP_MAX_IMPORT_BYTES", "4000")
    told = turnkeep(sqlite_database_url, "import", file, FILES / "document.json")
    assert (told.code, told.out) == (1, "1 conversations, 2 turns stored, 0 already there.\n")
    assert "the limit import_bytes allows 4000 bytes" in told.err


def test_the_limit_on_json_values_is_for_those_who_serve_others(
    sqlite_database_url: str, turnkeep: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNKEEP_MAX_JSON_VALUES", "1")
    told = turnkeep(sqlite_database_url, "import", FILES / "document.json")
    assert (told.code, told.out) == (0, "1 conversations, 2 turns stored, 0 already there.\n")


def test_lines_before_one_that_is_too_long_are_stored(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read line by line may be as long as it likes: one line is held at a time."""
    file = tmp_path / "a.jsonl"
    file.write_text((json.dumps(SAID) + "\n") * 50 + " " * 5_000)
    monkeypatch.setenv("TURNKEEP_MAX_IMPORT_BYTES", "4000")
    told = turnkeep(sqlite_database_url, "import", file)
    assert (told.code, told.out) == (1, "50 conversations, 100 turns stored, 0 already there.\n")
    assert f"{file}:51: the limit import_bytes" in told.err


def test_members_that_nobody_reads_are_noted_once_for_all_messages(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    lines = [{"role": "user", "content": "x", "mood": "y", "session": "a"}] * 3
    file.write_text("\n".join(map(json.dumps, lines)))
    told = turnkeep(sqlite_database_url, "import", file)
    assert (told.code, told.out) == (0, "1 conversations, 3 turns stored, 0 already there.\n")
    assert told.err.startswith("Noted 3 times: MEMBERS_NOT_READ: /messages/*/mood: ")
    assert told.err.count("\n") == 1
    assert turnkeep(sqlite_database_url, "import", file).err == ""


def test_names_of_files_cannot_write_on_the_screen(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    file = tmp_path / "a\x1b[2J\nfine.json"
    file.write_text("{")
    told = turnkeep(sqlite_database_url, "import", file)
    assert "\x1b" not in told.err
    assert f"{tmp_path}/a\\x1b[2J\\nfine.json:1: " in told.err


def test_a_reader_may_stop_reading_an_export(sqlite_database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("\n".join([json.dumps([{"role": "user", "content": "x" * 9_000}])] * 30))
    assert main(["import", str(file), "--database-url", sqlite_database_url]) == 0
    command = f"{sys.executable} -m app export --all --database-url {sqlite_database_url}"
    told = subprocess.run(
        ["/bin/sh", "-c", f"{command} | head -c 10"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.stdout, told.stderr) == ('{"conversa', "")


def test_a_failed_export_leaves_no_file(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out" / "x.jsonl"
    out.parent.mkdir()
    assert turnkeep(sqlite_database_url, "export", "absent", "--output", out).code == 2
    assert list(out.parent.iterdir()) == []


def test_an_unreadable_turn_is_left_out_of_the_export_and_named(
    sqlite_database_url: str, turnkeep: Run
) -> None:
    url = sqlite_database_url
    turnkeep(url, "import", FILES / "document.json")
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE turns SET blocks = x'00' WHERE seq = 1")
    connection.close()
    told = turnkeep(url, "export", "document")
    assert told.code == 1
    assert "document: the turn message-1 cannot be read and is left out" in told.err
    assert len(json.loads(told.out)["turns"]) == 1


def test_a_long_history_goes_in_batches_and_is_stored_once(
    database_url: str, turnkeep: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNKEEP_MAX_TURNS", "100")
    call = {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said: list[Any] = []
    for number in range(100):
        said += [
            {"role": "user", "content": f"number {number}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_0", "content": str(number)},
        ]
    file = tmp_path / "long.json"
    file.write_text(json.dumps(said[:250]))
    told = turnkeep(database_url, "import", file)
    assert (told.code, told.out) == (0, "1 conversations, 250 turns stored, 0 already there.\n")
    file.write_text(json.dumps(said))
    told = turnkeep(database_url, "import", file)
    assert (told.code, told.out) == (0, "1 conversations, 50 turns stored, 250 already there.\n")
    turns = stored(database_url, "long")
    assert [turn["seq"] for turn in turns] == list(range(1, 301))
    results = [turn["blocks"][0] for turn in turns[2::3]]
    assert [one["result"] for one in results] == [str(number) for number in range(100)]
    assert [one["call_id"] for one in results] == [one["blocks"][0]["id"] for one in turns[1::3]]


def test_an_import_that_is_interrupted_says_how_to_go_on(
    sqlite_database_url: str, turnkeep: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url, file = sqlite_database_url, tmp_path / "a.json"
    file.write_text(json.dumps(SAID * 10))
    monkeypatch.setenv("TURNKEEP_MAX_TURNS", "5")
    whole = store_history

    def interrupted(database: Database, plan: Any) -> Any:
        for number, batch in enumerate(whole(database, plan), 1):
            yield batch
            if number == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(importing, "store_history", interrupted)
    told = turnkeep(url, "import", file)
    assert told.code == 130
    assert told.err == (
        "Interrupted after 1 conversations, 10 turns stored, 0 already there. What was stored"
        " stays; run the same command again to go on.\n"
    )
    monkeypatch.setattr(importing, "store_history", whole)
    told = turnkeep(url, "import", file)
    assert (told.code, told.out) == (0, "1 conversations, 10 turns stored, 10 already there.\n")
    assert [words for _, words in spoken(url, "a")] == ["hello", "hi"] * 10


def test_what_is_stored_is_counted_though_the_database_went_away(
    sqlite_database_url: str, turnkeep: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url, file = sqlite_database_url, tmp_path / "a.jsonl"
    lines = [{"conversation_id": f"c{number}", "messages": SAID} for number in range(3)]
    file.write_text("\n".join(map(json.dumps, lines)))
    whole = store_history

    def without_the_first(database: Database, plan: Any) -> Any:
        if plan.history.conversation_id != "c0":
            return whole(database, plan)
        gone: Future[Any] = Future()
        gone.set_exception(Unavailable("The database cannot answer now."))
        return iter([gone])

    monkeypatch.setattr(importing, "store_history", without_the_first)
    told = turnkeep(url, "import", file)
    assert (told.code, told.out) == (2, "2 conversations, 4 turns stored, 0 already there.\n")
    assert "The database cannot answer now." in told.err


@pytest.fixture
def _interrupts_are_heard() -> Iterator[None]:
    """Behind `nohup` and `&` SIGINT is ignored, and what is started there inherits that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts_are_heard")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_import_goes_on_where_it_was(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, end: signal.Signals
) -> None:
    """The input stays open, so the process cannot be done before it is killed."""
    url = sqlite_database_url
    lines = [json.dumps({"conversation_id": f"c{n}", "messages": SAID}) + "\n" for n in range(20)]
    importer = subprocess.Popen(
        [sys.executable, "-m", "app", "import", "-", "--database-url", url],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": os.defpath},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert importer.stdin
    assert importer.stderr
    # The last line is not whole: that is where the process is when it dies.
    importer.stdin.write("".join(lines[:12]) + lines[12][:20])
    importer.stdin.flush()
    wait_for_turns(url, 22)
    importer.send_signal(end)
    importer.wait(30)
    told = importer.stderr.read()
    importer.stderr.close()
    # The line that was cut off cannot be written any more.
    with suppress(BrokenPipeError):
        importer.stdin.close()
    if end is signal.SIGINT:
        assert importer.returncode == 130
        assert "run the same command again" in told
        assert "Traceback" not in told
    file = tmp_path / "all.jsonl"
    file.write_text("".join(lines))
    again = turnkeep(url, "import", file)
    assert again.code == 0
    stored_now, there = (int(again.out.split()[place]) for place in (2, 5))
    assert stored_now + there == 40
    assert there >= 22
    for number in range(20):
        assert [words for _, words in spoken(url, f"c{number}")] == ["hello", "hi"]


def wait_for_turns(url: str, count: int) -> None:
    for _ in range(600):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            [found] = connection.execute("SELECT count(*) FROM turns").fetchone()
        connection.close()
        if found >= count:
            return
        time.sleep(0.1)
    raise AssertionError(f"{count} turns were never stored")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_and_lines_stand_above_it() -> None:
    out = Terminal()
    progress = Progress(200, out=out)
    progress.show(100, "half")
    progress.say("a.jsonl:3: torn")
    assert out.getvalue().startswith("\r[############............]  50%  half\r")
    assert out.getvalue().endswith("\ra.jsonl:3: torn\n")


def test_a_log_is_not_filled_with_bars() -> None:
    out = io.StringIO()
    progress = Progress(200, out=out)
    for done in range(200):
        progress.show(done, "words")
    assert out.getvalue() == ""


def test_quiet_shows_problems_and_no_bar() -> None:
    out = Terminal()
    progress = Progress(200, quiet=True, out=out)
    progress.show(100, "half")
    progress.say("a.jsonl:3: torn")
    assert out.getvalue() == "a.jsonl:3: torn\n"
