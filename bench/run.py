"""`python -m bench.run [--quick] [--only NAME …]`: measures, and says which targets are met.

Nothing else should run on the machine meanwhile. Databases lie in the temporary folder (`TMPDIR`
moves it), which must be on a real disk: commits are measured.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from subprocess import CalledProcessError

from bench import costs, growth, machine, throughput
from bench.load import GENERATOR, LoadFailed
from bench.report import terminal
from bench.rows import FULL, QUICK, Row, Sizes
from bench.stage import Stage
from tests.postgres import postgres_server

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


def measured(sizes: Sizes, names: list[str]) -> tuple[list[Row], Stage]:
    """The rows of these measures."""
    rows: list[Row] = []
    with (
        postgres_server(durable=True) as postgres,
        tempfile.TemporaryDirectory(prefix="turnkeep-bench-") as folder,
    ):
        machine.check_durable(postgres, Path(folder))
        stage = Stage(Path(folder), postgres, sizes)
        for name in names:
            begun = time.monotonic()
            try:
                found = list(MEASURES[name](stage))
            except (AssertionError, LoadFailed, OSError, CalledProcessError) as error:
                # The others are still worth knowing.
                print(f"{name} FAILED: {error}", file=sys.stderr, flush=True)
                continue
            rows.extend(found)
            _tell(name, time.monotonic() - begun, found)
    return rows, stage


def _tell(name: str, seconds: float, rows: list[Row]) -> None:
    """Shows whoever waits how far it has come."""
    said = [f"{row.judged:.2f}" for row in rows]
    print(f"{name} ({seconds:.0f} s): {', '.join(said)}", file=sys.stderr, flush=True)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about two minutes, no peers")
    parser.add_argument("--only", action="append", choices=list(MEASURES), help="only this measure")
    args = parser.parse_args()
    rows, stage = measured(QUICK if args.quick else FULL, args.only or list(MEASURES))
    print(terminal(rows))
    print(generator_words(stage))


if __name__ == "__main__":
    main()
