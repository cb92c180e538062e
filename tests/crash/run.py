"""`python -m tests.crash.run`: kill -9 while 32 writers post and retry; then everything is read.

`--kills 200` are spread over the scenarios; `--only WORD` takes those whose names hold the word. At
the end the system calls of a server are traced, because no kill can see a sync that is missing.
"""

import argparse
import asyncio
import random
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.checker import damages, faults, stored, summary
from tests.crash.posts import TURNS
from tests.crash.syncs import MISSING, RECEIPTS, is_possible, traced
from tests.crash.victims import Service, postgres_service, sqlite_service
from tests.crash.writers import Log, write_until

KILLS = 10
# Seconds of writing before each kill, drawn from this range.
WRITING = (0.2, 1.5)

# So many of the kills wait for the next receipt, and come right after it.
AT_A_RECEIPT = 0.5
SYNCS = "SQLite, syncs"

Serving = Callable[[Path], AbstractContextManager[Service]]
SCENARIOS: dict[str, Serving] = {
    "SQLite, 1 worker": lambda folder: sqlite_service(folder, 1),
    "SQLite, 2 workers": lambda folder: sqlite_service(folder, 2),
    "PostgreSQL, 1 worker": lambda folder: postgres_service(folder, 1, killed=False),
    "PostgreSQL, 2 workers": lambda folder: postgres_service(folder, 2, killed=False),
    "PostgreSQL killed": lambda folder: postgres_service(folder, 2, killed=True),
}


@dataclass
class Outcome:
    log: Log = field(default_factory=Log)
    seconds: list[float] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    found: str = ""

    def told(self) -> str:
        turns = self.log.acknowledged() * TURNS
        retries, longest = self.log.retries, max(self.seconds, default=0)
        bad = "".join(f"\n    {line}" for line in self.complaints) or "all clean"
        return (
            f"{len(self.seconds)} kills, {turns} turns acknowledged after {retries} retries:"
            f" {self.found}; ready again within {longest:.1f} s; verify and integrity: {bad}"
        )


@contextmanager
def served(scenario: str) -> Iterator[Service]:
    """A service with an empty database, in a folder that goes with it."""
    with (
        tempfile.TemporaryDirectory(prefix="turnkeep-crash-") as folder,
        SCENARIOS[scenario](Path(folder)) as service,
    ):
        yield service


def tried(scenario: str, kills: int, chance: random.Random) -> Outcome:
    """One scenario from an empty database to the check of all that is stored."""
    outcome = Outcome()
    with served(scenario) as it:
        asyncio.run(_killed(it, kills, chance, outcome))
        said = faults(outcome.log.posts, stored(it.database_url))
        outcome.found = summary(said)
        outcome.complaints = [*outcome.log.surprises, *damages(it.database_url, it.folder)]
        outcome.complaints += ["the turns above"] if said else []
    return outcome


async def _killed(service: Service, kills: int, chance: random.Random, outcome: Outcome) -> None:
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(write_until(stop, service.url, outcome.log, chance))
        for _ in range(kills):
            await asyncio.sleep(chance.uniform(*WRITING))
            if chance.random() < AT_A_RECEIPT:
                outcome.log.told.clear()
                await outcome.log.told.wait()
            # Not in a thread: nothing must come between the kill and what the writers see of it.
            service.kill(chance)
            outcome.seconds.append(await asyncio.to_thread(service.ready_again))
        await asyncio.sleep(chance.uniform(*WRITING))
        stop.set()


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.run")
    parser.add_argument("--kills", type=int, default=KILLS, help="of all scenarios together")
    parser.add_argument("--only", default="", help="the scenarios whose names hold this")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="draws the same moments again")
    args = parser.parse_args(given)
    traces = args.only.lower() in SYNCS.lower()
    chosen = [name for name in SCENARIOS if args.only.lower() in name.lower()]
    if not chosen and not traces:
        parser.error(f"--only must be part of one of: {', '.join((*SCENARIOS, SYNCS))}")
    say(f"seed {args.seed}")
    red = False
    for number, name in enumerate(chosen):
        # The first ones take what does not come out even.
        kills = (args.kills + len(chosen) - 1 - number) // len(chosen)
        outcome = tried(name, kills, random.Random(f"{args.seed} {name}"))
        red = red or bool(outcome.complaints)
        say(f"{name}: {outcome.told()}")
    if traces:
        red = not _syncs() or red
    return 1 if red else 0


def _syncs() -> bool:
    """What was not looked at is not good."""
    if not is_possible():
        say(f"{SYNCS}: {MISSING}")
        return False
    with tempfile.TemporaryDirectory(prefix="turnkeep-crash-") as name:
        seen = traced(Path(name))
    say(
        f"{SYNCS}: {len(seen.told)} receipts, {len(seen.too_early)} before the log was synced;"
        f" {len(seen.outside)} connections to other machines"
    )
    return not seen.too_early and not seen.outside and len(seen.told) == RECEIPTS


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
