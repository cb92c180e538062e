"""docs/command-line.md says what the parsers say, and its examples run.

`TURNKEEP_REWRITE_GOLDEN=1` writes the reference anew; read every line of the difference.
"""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
import uvicorn

from tests.cli.conftest import Run, World
from tests.cli.reference import EXAMPLES, reference
from tests.e2e.server import ROOT, free_port

PAGE = ROOT / "docs" / "command-line.md"
REWRITE = bool(os.environ.get("TURNKEEP_REWRITE_GOLDEN"))
WRITTEN = re.compile(r"(?<=<!-- from the parsers -->\n).*?(?=<!-- end -->\n)", re.DOTALL)


def test_the_reference_says_what_the_parsers_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    if REWRITE:
        page = WRITTEN.sub(lambda _: reference(), page)
        PAGE.write_text(page, encoding="utf-8")
    assert WRITTEN.findall(page) == [reference()]


def test_the_examples_run_as_they_are_printed(
    world: World, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the page, in one folder. Only the port is another one."""
    exported = run("export", "trip", "--database-url", world.database_url).out
    (tmp_path / "trip.jsonl").write_text(exported)
    messages = [{"role": "user", "content": "hello"}]
    (tmp_path / "history.json").write_text(json.dumps(messages))
    assert run("migrate").code == 0
    assert run("import", "trip.jsonl").code == 0
    # It would serve until somebody ends it.
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    port = str(free_port())
    for name, lines in EXAMPLES.items():
        for line in lines:
            _, *args = shlex.split(line.replace("9000", port))
            done = run(*args)
            assert done.code == (1 if name == "serve" else 0), (line, done.err)
            assert done.out or done.err


def test_every_exit_status_of_the_page_is_one_that_happens(world: World, run: Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "130"]
    where = ["--url", world.url]
    assert run("show", "trip", *where).code == 0
    assert run("show", "absent", *where).code == 1
    assert run("show", *where).code == 2
