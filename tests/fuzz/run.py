"""`make fuzz`: so many bodies, on all cores; one in twenty is stored and read back."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi.testclient import TestClient

from app.database.migrations import upgrade
from app.main import create_app
from app.settings import Settings
from tests.client import in_one_step
from tests.fuzz.checks import Defect, converted, stored, verified

_STORED = 20
_PIECE = 2_000
# Posts of one conversation: later ones find the calls of earlier ones.
_TALK = 25


def piece(first: int, count: int) -> tuple[int, int, int, list[str]]:
    """Bodies, those that were taken, those that were stored, and what went wrong."""
    taken = kept = 0
    defects: list[str] = []
    for seed in range(first, first + count):
        try:
            taken += converted(seed)
        except Defect as defect:
            defects.append(str(defect))
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'fuzz.db'}"
        upgrade(url)
        settings = Settings(database_url=url, search=False)
        with in_one_step(), TestClient(create_app(settings), raise_server_exceptions=False) as http:
            for number, seed in enumerate(range(first, first + count, _STORED)):
                cid = f"c{number // _TALK}"
                try:
                    kept += stored(http, seed, cid)
                    if number % _TALK == _TALK - 1:
                        verified(http, cid)
                except Defect as defect:
                    defects.append(str(defect))
    return count, taken, kept, defects


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--bodies", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="the seed to begin with")
    args = parser.parse_args(argv)
    started, done, taken, kept, bad = time.monotonic(), 0, 0, 0, 0
    firsts = range(args.first, args.first + args.bodies, _PIECE)
    counts = [min(_PIECE, args.first + args.bodies - first) for first in firsts]
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        for count, some, stored_, defects in workers.map(piece, firsts, counts):
            done, taken, kept, bad = done + count, taken + some, kept + stored_, bad + len(defects)
            for defect in defects:
                print(defect, flush=True)
            if sys.stdout.isatty() or done == args.bodies:
                end = "\n" if done == args.bodies else "\r"
                print(f"{done} bodies, {taken} converted, {kept} stored, {bad} defects", end=end)
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
