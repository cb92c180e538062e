"""CONTRIBUTING, "Add a provider", done as it is written: one file, one folder, and all is green."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# A path in brackets at the end of a sentence, and the block below it.
FILES = dict(re.findall(r"\(`([a-z_/.]+)`\):\n\n```[a-z]+\n(.*?)```", GUIDE, re.DOTALL))
RECIPE = r'^TURNKEEP_REWRITE_GOLDEN=1 make test ARGS="(.*)"\n```\n\nwrites `neutral\.json`'
# What `make test` gives to pytest on two processors.
WORKERS = ("--dist", "worksteal", "--numprocesses", "4")
# This test is part of the recipe, and would copy the copy.
NOT_AGAIN = ("--ignore", "tests/formats/test_contributing.py")
# Environments, databases and what tools keep. What is compiled need not be compiled again.
LEFT = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".hypothesis", "node_modules", "*.db")

# Each must have tests under the name of the new target.
BY_NAME = (
    "tests/formats/test_golden.py",
    "tests/formats/test_nothing_vanishes.py",
    "tests/docs/test_providers.py",
    "tests/streams/test_same_turn.py",
    "tests/test_judges.py",
)
# These ask for all targets at once; of the zoo two classes.
AT_ONCE = (
    "tests/edge/test_interface.py::test_targets_are_listed_where_one_is_asked_for",
    "tests/docs/test_providers.py",
    "tests/laws/test_arrival_order.py",
    "tests/laws/test_valid_and_paired.py",
    "tests/test_listed.py",
    "tests/zoo/test_zoo.py::test_it_is_shown_as_it_should_be",
)
CHOSEN = " or ".join(("xai", "z01", "z02", *(re.split("[/:]+", one)[2] for one in AT_ONCE[:-2])))
LISTED = """
from app.formats.registry import CODECS
from app.main import create_app
from app.settings import Settings
from tests.laws.running import JUDGED
from tests.laws.strategies import OWN
from tests.zoo.expecting import ALL
from tests.streams.recordings import RECORDINGS


def test_xai_is_in_every_list():
    assert "xai" in JUDGED
    assert "xai" in ALL
    assert "xai" in [voice.provider for voice in OWN]
    assert "xai" in {one.provider for one in RECORDINGS}
    assert '"xai"' in str(create_app(Settings()).openapi()).replace("'", '"')
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with what the guide says, and nothing else."""
    copy = tmp_path_factory.mktemp("contributing") / "project"
    shutil.copytree(ROOT, copy, ignore=LEFT)
    packages = Path("tests", "judges", "node", "node_modules")
    if (ROOT / packages).exists():
        (copy / packages).symlink_to(ROOT / packages)
    assert sorted(FILES) == ["app/formats/xai.py", "tests/formats/xai/cases/weather/wire.json"]
    for name, text in FILES.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text, encoding="utf-8")
    return copy


def run(project: Path, *args: str, **env: str) -> str:
    """What the tests printed, if all passed."""
    # What the first run compiles the second need not, and nobody the packages.
    left = ("PYTEST_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *args],
        cwd=project,
        env=kept | {"TURNKEEP_LAWS": "few"} | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


def test_a_provider_is_one_file_and_one_folder(project: Path) -> None:
    [recipe] = re.findall(RECIPE, GUIDE, re.MULTILINE)
    output = run(project, *WORKERS, *NOT_AGAIN, *recipe.split(), TURNKEEP_REWRITE_GOLDEN="1")
    # Another process would read what the first one has not written yet.
    assert "[gw" not in output
    assert (project / "tests/formats/xai/cases/weather/rendered.json").exists()
    assert "| `xai` |" in (project / "docs" / "providers.md").read_text(encoding="utf-8")

    (project / "tests" / "test_listed.py").write_text(LISTED, encoding="utf-8")
    # All in one process: most of the time goes into loading the providers' packages.
    shown = run(project, *BY_NAME, *AT_ONCE, "-k", CHOSEN)
    for name in BY_NAME:
        assert re.search(rf"^{re.escape(name)}\b.*xai.* PASSED", shown, re.MULTILINE), name
    for name in AT_ONCE:
        assert re.search(rf"^{re.escape(name)}\b.* PASSED", shown, re.MULTILINE), name
