"""`turnkeep completion`: what a shell offers."""

import subprocess

import pytest

from app.cli import COMMANDS
from app.cli.completion import SHELLS
from app.formats.registry import TARGETS
from tests.cli.conftest import Run


def offered(script: str, line: str) -> list[str]:
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    array = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _turnkeep"
    done = subprocess.run(
        ["bash", "-c", f'{script}\n{ask}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("turnkeep ", ["-h", "--help", *COMMANDS]),
        ("turnkeep re", ["replay", "reindex", "restore"]),
        ("turnkeep list --me", ["--metadata"]),
        ("turnkeep keys ", ["create", "list", "revoke", "-h", "--help"]),
        ("turnkeep keys create --sc", ["--scopes"]),
        ("turnkeep convert messages --rea", ["--reasoning", "--ready"]),
        ("turnkeep replay c1 --provider ", list(TARGETS)),
        ("turnkeep replay c1 --provider mi", ["mistral"]),
        ("turnkeep audit c1 --state o", ["open"]),
        ("turnkeep list --color ", ["auto", "always", "never"]),
        ("turnkeep completion ", ["-h", "--help", *SHELLS]),
        # Files, by the shell itself.
        ("turnkeep export --output ", []),
        ("turnkeep list --url x --to", ["--tool"]),
    ],
)
def test_bash_offers_what_the_parsers_know(line: str, some: list[str], run: Run) -> None:
    script = run("completion", "bash").out
    assert set(offered(script, line)) == set(some)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_told_every_command_and_flag(shell: str, run: Run) -> None:
    done = run("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert all(name in done.out for name in COMMANDS)
    assert "write-anchor" in done.out
    assert "openai-responses" in done.out


def test_words_of_ours_end_no_quotes(run: Run) -> None:
    """zsh and fish are not here to be asked; but every quote that is opened is closed."""
    for shell in ("zsh", "fish"):
        for line in run("completion", shell).out.splitlines():
            assert line.count("'") % 2 == 0, line
            assert line.count('"') % 2 == 0, line
