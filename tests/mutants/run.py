"""Plants each fault in a copy of the tree and sees whether the suite goes red.

`python -m tests.mutants.run [word …]` tries the faults whose names hold one of the words, or all. A
fault is caught when a test fails; a suite that cannot even be collected has caught nothing.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import cache_from_source
from pathlib import Path

from tests.mutants.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]
COPIED = ("app", "tests", "alembic", "pyproject.toml", "migrations.ini")
# Far more than any of these tests takes; a fault may turn a loop into an endless one.
SECONDS = 180
_FAILED = re.compile(r"^FAILED (.+?)(?: - .*)?$", re.MULTILINE)


class Unusable(Exception):
    """The faults cannot be tried: one no longer applies, or the suite is red without them."""


def planted(fault: Fault, root: Path) -> str:
    """The text of the fault's file with the fault in it."""
    text = (root / fault.file).read_text(encoding="utf-8")
    if (found := text.count(fault.old)) != 1:
        raise Unusable(f"{fault.name}: its text stands {found} times in {fault.file}, not once")
    changed = text.replace(fault.old, fault.new)
    compile(changed, fault.file, "exec")
    return changed


def copied(to: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", ".hypothesis")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=ignored)
        else:
            shutil.copyfile(source, to / name)


def failures(tests: Sequence[str], tree: Path) -> list[str]:
    """The tests that fail in this tree, up to the first."""
    options = ("-x", "-q", "-p", "no:cacheprovider", "--color=no")
    # With CI set, hypothesis tries the same examples every time.
    environment = os.environ | {"PYTHONPATH": str(tree), "CI": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    failed = _FAILED.findall(done.stdout)
    if done.returncode != (1 if failed else 0):
        raise Unusable(f"pytest could not run {' '.join(tests)}:\n{done.stdout}{done.stderr}")
    return failed


def written(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # Python would trust what it compiled from a text of the same length in the same second.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def is_caught(fault: Fault, tree: Path) -> bool:
    path = tree / fault.file
    sound = path.read_text(encoding="utf-8")
    written(path, planted(fault, tree))
    started = time.monotonic()
    failed = failures(fault.tests, tree)
    written(path, sound)
    by = failed[0] if failed else f"not by {' '.join(fault.tests)}"
    verdict = "caught  " if failed else "SURVIVED"
    say(f"{verdict} {time.monotonic() - started:5.1f} s  {fault.name}  ({by})")
    return bool(failed)


def tried(faults: Sequence[Fault], tree: Path) -> int:
    """The number of survivors."""
    copied(tree)
    for fault in faults:
        planted(fault, tree)
    for tests in dict.fromkeys(fault.tests for fault in faults):
        if failed := failures(tests, tree):
            raise Unusable(f"the suite is red without any fault: {failed[0]}")
    caught = sum(is_caught(fault, tree) for fault in faults)
    survived = len(faults) - caught
    say(f"{caught} caught, {survived} survived")
    return survived


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(words: Sequence[str]) -> int:
    faults = [one for one in FAULTS if not words or any(word in one.name for word in words)]
    try:
        with tempfile.TemporaryDirectory(prefix="turnkeep-mutants-") as folder:
            return 1 if tried(faults, Path(folder)) or not faults else 0
    except (Unusable, subprocess.TimeoutExpired) as why:
        say(f"error: {why}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
