"""`python -m bench.run [--quick] [--only NAME …]`: measures, and says which targets are met.

Nothing else should run on the machine meanwhile. Databases lie in the temporary folder (`TMPDIR`
moves it), which must be on a real disk: commits are measured. Without --quick and --only the peers
are measured too, and docs/benchmarks.md and its plots are written.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench import compare, costs, growth, machine, series, throughput
from bench.load import GENERATOR, LoadFailed
from bench.page import Figures, page
from bench.report import terminal
from bench.rows import FULL, QUICK, Row, Sizes
from bench.stage import Stage
from tests.e2e.server import ROOT
from tests.postgres import postgres_server

T = TypeVar("T")
DOCS = ROOT / "docs"
FIGURES = ROOT / "build/bench/figures.json"

MEASURES: Mapping[str, Callable[[Stage], Iterator[Row]]] = {
    "appends": throughput.appends,
    "replays": throughput.replays,
    "growth": growth.growth,
    "disk": costs.disk,
    "memory": costs.memory,
    "start": costs.start,
    "imports": costs.imports,
    "workers": throughput.workers,
}
PLOTS = {"throughput": series.throughput, "latency": series.latency, "disk": series.disk}
_FAILURES = (AssertionError, LoadFailed, OSError, subprocess.CalledProcessError)


class Run:
    """One run: measures that fail are named, and the others still done."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.rows: list[Row] = []
        self.failed: list[str] = []

    def measure(self, name: str) -> None:
        found = self.attempt(name, lambda: list(MEASURES[name](self._stage)))
        self.rows.extend(found or ())

    def attempt(self, name: str, work: Callable[[], T]) -> T | None:
        begun = time.monotonic()
        try:
            return work()
        except _FAILURES as error:
            self.failed.append(name)
            _tell(f"{name} FAILED: {error}")
            return None
        finally:
            _tell(f"{name}: {time.monotonic() - begun:.0f} s")

    def figures(self, facts: Mapping[str, str]) -> Figures:
        """Everything, with peers and plots."""
        compared = self.attempt("peers", lambda: list(compare.compared(self._stage)))
        conversions = self.attempt("conversions", lambda: compare.conversions(self._stage))
        lines = {
            name: self.attempt(name, partial(draw, self._stage)) for name, draw in PLOTS.items()
        }
        return Figures(
            facts,
            generator_words(self._stage),
            self.rows,
            self._stage.sizes.history,
            compared or [],
            conversions or {},
            {name: {"axis": one[0], "lines": one[1]} for name, one in lines.items() if one},
        )


@contextmanager
def staged(sizes: Sizes) -> Iterator[Stage]:
    """A stage in a fresh folder, with a server of its own that syncs."""
    with (
        postgres_server(durable=True) as postgres,
        tempfile.TemporaryDirectory(prefix="turnkeep-bench-") as folder,
    ):
        machine.check_durable(postgres, Path(folder))
        yield Stage(Path(folder), postgres, sizes)


def _tell(text: str) -> None:
    """Shows whoever waits how far it has come."""
    print(text, file=sys.stderr, flush=True)


def generator_words(stage: Stage) -> str:
    """Which load generator it was, and whether it was the bottleneck."""
    if not stage.at_floor:
        return f"Load generator: {GENERATOR}."
    busy = median(loaded.busy for loaded in stage.at_floor)
    fastest = max(loaded.rate for loaded in stage.at_floor)
    verdict = "it is not the bottleneck" if busy < 0.9 else "IT IS THE BOTTLENECK of the floor"
    return (
        f"Load generator: {GENERATOR}. It asked the floor {fastest:,.0f} times a second at most"
        f" and took {busy:.0%} of one processor meanwhile: {verdict}."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about three minutes, no peers")
    parser.add_argument("--only", action="append", choices=list(MEASURES), help="only this measure")
    args = parser.parse_args()
    # As with Ctrl-C, the programs that were started end with this one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with staged(QUICK if args.quick else FULL) as stage:
        run = Run(stage)
        for name in args.only or MEASURES:
            run.measure(name)
        print(terminal(run.rows))
        print(generator_words(stage))
        if not args.quick and not args.only:
            write(run.figures(machine.facts(stage.postgres, stage.folder)))
    for name in run.failed:
        _tell(f"FAILED: {name}")
    return 1 if run.failed else 0


def write(figures: Figures) -> None:
    """The page and its plots; the figures are kept beside what is built."""
    figures.save(FIGURES)
    (DOCS / "benchmarks.md").write_text(page(figures))
    command = [str(compare.PYTHON), "-m", "bench.plots", str(FIGURES), str(DOCS)]
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
