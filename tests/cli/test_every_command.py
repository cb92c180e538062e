"""Every command: it explains itself, and says what to do where it cannot run."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from app.cli import COMMANDS, GROUPS, parser_of
from app.database import postgres
from tests.cli.conftest import Run
from tests.e2e.server import ROOT, free_port

# How each command is called that needs more than its name.
CALLED = {
    "show": ["show", "c1"],
    "find": ["find", "call_1"],
    "replay": ["replay", "c1", "--provider", "openai"],
    "audit": ["audit", "c1"],
    "diff": ["diff", "c1", "--between", "openai,mistral"],
    "tail": ["tail", "c1", "-f"],
    "export": ["export", "--all"],
    "import": ["import", "."],
    "backup": ["backup", "copy.db"],
    "keys": ["keys", "list"],
}
# They need no database, or make one.
NO_DATABASE = {"serve", "migrate", "convert", "completion", "restore"}
NEED_DATABASE = sorted(COMMANDS.keys() - NO_DATABASE)
ASKING = ["list", "show", "find", "replay", "audit", "diff", "tail", "verify", "doctor"]
WRONG = [
    (["list", "--limit", "0"], "must be a number from 1 on, not '0'"),
    (["list", "--limit", "many"], "must be a number from 1 on, not 'many'"),
    (["list", "--metadata", "user"], "must be KEY=VALUE, not 'user'"),
    (["list", "--color", "red"], "'auto', 'always', 'never'"),
    (["show"], "CONVERSATION"),
    (["show", "a/b"], "A conversation id must have 1 to 128 characters"),
    (["show", ""], "A conversation id must have 1 to 128 characters"),
    (["show", "c1", "--last", "0"], "must be a number from 1 on"),
    (["find"], "ID"),
    (["find", ""], "must be an id"),
    (["replay", "c1"], "--provider"),
    (["replay", "c1", "--provider", "claude"], "did you mean 'anthropic'?"),
    (["replay", "c1", "--provider", "openai", "--reasoning", "all"], "'auto', 'text', 'drop'"),
    (["replay", "c1", "--provider", "openai", "--tools", "x"], "'include', 'omit', 'flatten'"),
    (["replay", "c1", "--provider", "openai", "--since", "-1"], "--since"),
    (["audit", "c1", "--state", "closed"], "'open', 'answered'"),
    (["diff", "c1"], "--between"),
    (["diff", "c1", "--between", "openai"], "must be two names, like anthropic,openai"),
    (["diff", "c1", "--between", "openai,openai"], "must be two names"),
    (["diff", "c1", "--between", "openai,claude"], "did you mean 'anthropic'?"),
    (["tail", "c1", "-n", "1001"], "must be a number from 0 to 1000"),
    (["doctor", "--port", "many"], "--port must be a whole number"),
    (["completion"], "SHELL"),
    (["completion", "tcsh"], "'bash', 'zsh', 'fish'"),
    (["serve", "--port", "many"], "--port must be a whole number"),
    (["migrate", "--nonsense"], "--nonsense"),
    (["reindex", "--nonsense"], "--nonsense"),
    (["sweep", "--nonsense"], "--nonsense"),
    (["verify", "--nonsense"], "--nonsense"),
    (["keys"], "ACTION"),
    (["keys", "revoke"], "id"),
    (["backup"], "FILE"),
    (["restore"], "FILE"),
    (["import"], "file"),
    (["export"], "name conversations, or give --all"),
    (["convert"], "WHAT"),
    (["list", "--metdata", "a=b"], "'--metdata' is not known here; did you mean '--metadata'?"),
    (["show", "c1", "c2"], "turnkeep show: error: 'c2' is not known here"),
    (["keys", "create", "a", "b"], "turnkeep keys create --help says what is"),
    (["lst"], "did you mean 'list'?"),
    (["frobnicate"], "turnkeep --help lists them"),
    (["--color", "never", "list"], "'--color' must stand behind a command"),
    (["list", "--url", "ftp://x"], "like http://127.0.0.1:8420"),
    (["list", "--url", "127.0.0.1:8420"], "like http://127.0.0.1:8420"),
    (["list", "--url", "http://me:s3cret@127.0.0.1"], "like http://127.0.0.1:8420"),
    (["list", "--url", "http://127.0.0.1:x"], "like http://127.0.0.1:8420"),
    (["list", "--url", "http://x", "--database-url", "sqlite:///x"], "only one of them"),
    (["list", "--url", "http://x", "--tenant", "acme"], "only one of them"),
    (["list", "--key", "tk_1_2"], "name it with --url"),
    (["list", "--url", "http://127.0.0.1:1", "--key", "a\nb"], "turnkeep keys create"),
    (["list", "--database-url", "mysql://x"], "must begin with sqlite:/// or postgresql://"),
    (["list", "--database-url", "sqlite://"], "name a file"),
    (["verify", "--url", "http://127.0.0.1:1", "--anchor", "x"], "--database-url"),
]


def test_without_arguments_the_commands_are_listed_by_group(run: Run) -> None:
    done = run()
    assert done.code == 0
    for heading, group in GROUPS.items():
        listed = done.out.split(f"\n{heading}:\n")[1].split("\n\n")[0]
        assert [line.split()[0] for line in listed.splitlines()] == list(group)


def test_the_list_names_every_file_that_has_a_command() -> None:
    folder = ROOT / "app" / "cli"
    files = [file for file in folder.glob("*.py") if "\ndef add_to(" in file.read_text()]
    assert {file.stem for file in files} == set(COMMANDS.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_it_does_and_how_it_ends(command: str, run: Run) -> None:
    done = run(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: turnkeep {command} ")
    assert "Exit status: 0 " in done.out or command == "convert"


@pytest.mark.parametrize(("args", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_arguments_are_told_what_must_be(args: list[str], said: str, run: Run) -> None:
    done = run(*args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert "s3cret" not in done.err


def test_every_command_is_tried_with_wrong_arguments() -> None:
    assert COMMANDS.keys() <= {args[0] for args, _ in WRONG}


@pytest.mark.parametrize("command", NEED_DATABASE)
def test_without_a_database_it_says_what_to_do(command: str, run: Run, tmp_path: Path) -> None:
    done = run(*CALLED.get(command, [command]))
    assert done.code == (1 if command == "doctor" else 2)
    assert "the file turnkeep.db does not exist in the folder" in done.out + done.err
    assert "run this first: turnkeep migrate" in done.out + done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", NEED_DATABASE)
def test_what_to_do_names_the_database_that_was_given(command: str, run: Run) -> None:
    done = run(*CALLED.get(command, [command]), "--database-url", "sqlite:///a b.db")
    assert "turnkeep migrate --database-url 'sqlite:///a b.db'" in done.out + done.err


@pytest.mark.own_database
@pytest.mark.parametrize("given", ["password", "option"])
def test_what_to_do_names_the_database_without_its_password(
    postgres_database_url: str, run: Run, given: str
) -> None:
    with psycopg.connect(postgres_database_url) as connection:
        connection.execute("DELETE FROM alembic_version")
    parts = urlsplit(postgres_database_url)
    plain = f"postgresql://{parts.username}@127.0.0.1:{parts.port}{parts.path}"
    url = postgres_database_url if given == "password" else f"{plain}?password={parts.password}"
    for args in (["list"], ["doctor", "--port", "0"], ["serve", "--port", "0"]):
        done = run(*args, "--database-url", url)
        assert f"run this first: turnkeep migrate --database-url {plain}\n" in done.out + done.err
        assert str(parts.password) not in done.out + done.err


def test_what_to_do_is_short_where_the_environment_names_the_database(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNKEEP_DATABASE_URL", "sqlite:///mine.db")
    assert run("list").err.endswith("run this first: turnkeep migrate\n")


@pytest.mark.parametrize("command", NEED_DATABASE)
def test_a_folder_that_is_missing_is_told(command: str, run: Run) -> None:
    done = run(*CALLED.get(command, [command]), "--database-url", "sqlite:///no/such/x.db")
    assert done.code == (1 if command == "doctor" else 2)
    assert "--database-url" in done.out + done.err


# Backups are for SQLite.
@pytest.mark.parametrize("command", sorted({*NEED_DATABASE, "migrate"} - {"backup"}))
def test_a_database_out_of_reach_is_told_without_its_password(command: str, run: Run) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/none"
    done = run(*CALLED.get(command, [command]), "--database-url", url)
    assert done.code == (1 if command == "doctor" else 2)
    assert "PostgreSQL none on 127.0.0.1:1 cannot be reached" in done.out + done.err
    assert "s3cret" not in done.out + done.err


# `serve` refuses others without a key: after it has asked the database for one.
OPENING = CALLED | {"serve": ["serve", "--host", "0.0.0.0", "--port", "0"]}


@pytest.mark.parametrize("command", sorted({*NEED_DATABASE, "migrate", "serve"} - {"backup"}))
@pytest.mark.parametrize("prepared", ["true", "false"])
def test_no_statement_is_prepared_where_the_setting_forbids_it(
    command: str,
    prepared: str,
    run: Run,
    postgres_database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thresholds: list[int | None] = []
    connect = postgres.connect

    def watched(*args: Any) -> Any:
        made = connect(*args)
        assert isinstance(made, postgres.Connection)
        thresholds.append(made.prepare_threshold)
        return made

    monkeypatch.setattr(postgres, "connect", watched)
    monkeypatch.setenv("TURNKEEP_PG_PREPARED_STATEMENTS", prepared)
    (tmp_path / "history.json").write_text('[{"role": "user", "content": "hi"}]')
    run(*OPENING.get(command, [command]), "--database-url", postgres_database_url)
    assert thresholds
    # What is asked once, such as the schema's version, is never prepared.
    kept = prepared == "true" and command != "migrate"
    assert set(thresholds) == ({None, 5} if kept else {None})


@pytest.mark.own_database
def test_what_the_database_refuses_is_told_in_its_own_words(
    postgres_database_url: str, run: Run
) -> None:
    with psycopg.connect(postgres_database_url) as connection:
        connection.execute("DROP TABLE conversations CASCADE")
    done = run("export", "--all", "--database-url", postgres_database_url)
    assert done.code == 2
    assert done.err == 'turnkeep: relation "conversations" does not exist\n'


@pytest.mark.own_database
def test_a_server_that_refuses_after_the_connection_is_made_is_one_line(
    postgres_database_url: str, run: Run
) -> None:
    # As a pooler does whose server is down.
    url = f"{postgres_database_url}?options=-clock_timeout%3D10ms"
    with psycopg.connect(postgres_database_url) as other:
        other.execute("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
        done = run("migrate", "--database-url", url)
    assert done.code == 2
    assert "cannot be used: canceling statement due to lock timeout" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("command", ASKING)
def test_without_a_server_it_says_what_to_do(command: str, run: Run) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    done = run(*CALLED.get(command, [command]), "--url", url)
    assert done.code == (1 if command == "doctor" else 2)
    assert f"nothing listens at {url}. Start the service with `turnkeep serve`" in (
        done.out + done.err
    )


def test_those_that_ask_are_those_that_know_an_address() -> None:
    helps = {name: _help(name) for name in COMMANDS}
    assert sorted(ASKING) == sorted(name for name in helps if "--url" in helps[name])


def _help(name: str) -> str:
    [commands] = [one for one in parser_of([name])._actions if one.choices]
    assert isinstance(commands.choices, dict)
    return str(commands.choices[name].format_help())


LIGHT = [["--version"], [], ["list", "--help"], ["show", "--help"], ["completion", "--help"]]


@pytest.mark.parametrize("args", [*LIGHT, *([*CALLED.get(name, [name])] for name in ASKING)])
def test_what_asks_a_service_loads_no_database_and_no_server(args: list[str]) -> None:
    """Seconds of a person's time, each time. Counted in modules, not in seconds."""
    url = f"http://127.0.0.1:{free_port()}"
    asks = args and args[0] in ASKING and "--help" not in args
    script = (
        "import sys; from app.start import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('LOADED', *sorted(name.partition('.')[0] for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *args, *(["--url", url] if asks else [])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    loaded = set(re.findall(r"LOADED (.*)", done.stdout)[0].split())
    assert not loaded & {"sqlalchemy", "fastapi", "starlette", "uvicorn", "alembic", "psycopg"}
