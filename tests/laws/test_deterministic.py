"""Law 6: the same turns, target and options give the same bytes, whatever the hash seed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from app.formats.registry import TARGETS
from tests.histories import posted
from tests.laws.rendered import digests
from tests.laws.running import Window, tried, windows
from tests.laws.strategies import Bodies, histories

_ROOT = Path(__file__).parents[2]


@tried(40)
@given(histories(), windows())
def test_a_history_gives_the_same_bytes_twice(bodies: Bodies, window: Window) -> None:
    once, again = posted(*bodies), posted(*bodies)
    for target in TARGETS:
        first, second = window.of(once, target), window.of(again, target)
        assert (first.raw, first.repairs) == (second.raw, second.repairs)
        assert window.of(once, target).raw == first.raw


@pytest.fixture(scope="module")
def sample() -> list[list[str]]:
    """Fifty histories, always the same as long as the strategy is the same."""
    found: list[list[str]] = []

    # Nothing is judged here, so nothing has to be shrunk or remembered.
    @settings(max_examples=50, derandomize=True, database=None, phases=[Phase.generate])
    @given(histories())
    def collect(bodies: Bodies) -> None:
        found.append(list(bodies))

    collect()
    return found[:50]


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_hash_seed_changes_nothing(sample: list[list[str]], seed: str, tmp_path: Path) -> None:
    path = tmp_path / "sample.json"
    path.write_text(json.dumps(sample))
    done = subprocess.run(
        [sys.executable, "-m", "tests.laws.rendered", str(path)],
        cwd=_ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(sample) == 50
    assert done.stdout.split() == digests(sample)
