"""docs/http.md has every operation, with an example that was run.

`TURNKEEP_REWRITE_GOLDEN=1` writes it anew; read every line of the difference before you keep it.
"""

import os
from pathlib import Path

import pytest

from app.main import create_app
from app.model.errors import TurnkeepError
from app.settings import Settings
from tests.docs.examples import BEFORE, EXAMPLES
from tests.docs.reference import Operation, leaves, operations, written
from tests.docs.shell import Block, run
from tests.e2e.server import ROOT, serving

PAGE = ROOT / "docs" / "http.md"
REWRITE = bool(os.environ.get("TURNKEEP_REWRITE_GOLDEN"))


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> list[Operation]:
    path = tmp_path_factory.mktemp("offered") / "turnkeep.db"
    path.write_bytes(sqlite_template.read_bytes())
    return operations(create_app(Settings(f"sqlite:///{path}")))


def test_every_operation_has_an_example(offered: list[Operation]) -> None:
    missing = {one.id for one in offered} - EXAMPLES.keys()
    assert not missing, f"give an example of these in tests/docs/examples.py: {sorted(missing)}"
    gone = EXAMPLES.keys() - {one.id for one in offered}
    assert not gone, f"there are no such operations any more: {sorted(gone)}"


def test_every_example_asks_its_operation(offered: list[Operation]) -> None:
    for one in offered:
        example = EXAMPLES.get(one.id, "")
        fixed = [part for part in one.path.split("/") if "{" not in part]
        assert all(part in example for part in fixed), one.id
        assert one.method in ("GET", "POST") or f"-X {one.method}" in example, one.id


def test_the_page_is_what_is_offered_and_answered(offered: list[Operation], tmp_path: Path) -> None:
    examples = {one.id: EXAMPLES[one.id] for one in offered if one.id in EXAMPLES}
    with serving(tmp_path) as server:
        commands = [Block("sh", text) for text in (BEFORE, *examples.values())]
        _, *printed = run(commands, server.url, tmp_path)
    shown = dict(zip(examples, zip(examples.values(), printed, strict=True), strict=True))
    now = written([one for one in offered if one.id in examples], BEFORE, shown)
    if REWRITE:
        PAGE.write_text(now, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == now


def test_no_example_is_refused() -> None:
    assert "urn:turnkeep:problem" not in PAGE.read_text(encoding="utf-8")


def test_every_code_is_met_somewhere() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [error.code for error in leaves(TurnkeepError) if f"`{error.code}`" not in page] == []
