"""Law 6: the same turns, target and options give the same bytes, whatever the hash seed."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from app.codecs import TARGETS
from tests.histories import posted
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


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_hash_seed_changes_nothing(seed: str, tmp_path: Path) -> None:
    sample = _sample(50)
    assert len(sample) == 50
    path = tmp_path / "sample.json"
    path.write_text(json.dumps(sample))
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(path)],
        cwd=_ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == digests(sample)


def _sample(count: int) -> list[list[str]]:
    """Always the same histories, as long as the strategy is the same."""
    found: list[list[str]] = []

    @settings(max_examples=count, derandomize=True, database=None, phases=[Phase.generate])
    @given(histories())
    def collect(bodies: Bodies) -> None:
        found.append(list(bodies))

    collect()
    return found[:count]


def digests(sample: list[list[str]]) -> list[str]:
    """One digest for each history, over its renders for all targets with their repairs."""
    lines = []
    for bodies in sample:
        history = posted(*bodies)
        renders = [history.render(target) for target in TARGETS]
        facts = repr([(render.raw, render.repairs) for render in renders])
        lines.append(hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest())
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(digests(json.loads(Path(sys.argv[1]).read_text()))))
