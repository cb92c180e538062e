"""What is measured as a value: a row with its figure, what it is compared with, and the target."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

Verdict = Literal["goal", "target", "no", "none"]


@dataclass(frozen=True)
class Row:
    """One line of the report. What has no ratio is judged by its figure; some is only told."""

    name: str
    figure: float
    unit: str
    target: float | None = None
    goal: float | None = None
    wants: Literal["at least", "at most"] = "at least"
    ratio: float | None = None
    # What it is compared with, in the same unit.
    over: float | None = None
    over_name: str = ""
    textbook: float | None = None
    remark: str = ""

    @property
    def judged(self) -> float:
        return self.figure if self.ratio is None else self.ratio

    @property
    def verdict(self) -> Verdict:
        if self.target is None:
            return "none"
        if self.goal is not None and self._reaches(self.goal):
            return "goal"
        return "target" if self._reaches(self.target) else "no"

    def _reaches(self, wanted: float) -> bool:
        return self.judged >= wanted if self.wants == "at least" else self.judged <= wanted


@dataclass(frozen=True)
class Sizes:
    """How long and how much."""

    # Of one run of the load generator, and how often all are run in turn.
    seconds: float = 3
    rounds: int = 5
    # Single requests whose median is taken: so many, or as many as this time allows.
    samples: int = 100
    patience: float = 20
    # Starts of a server of which the median is taken.
    starts: int = 5
    history: int = 1_000
    long: int = 10_000
    stored: int = 2_000
    imported: int = 10_000
    # How often peers are measured in turn; there are many of them.
    peer_rounds: int = 3
    # The axes of the plots.
    clients: list[int] = field(default_factory=lambda: [1, 2, 4, 8, 16, 32, 64])
    lengths: list[int] = field(default_factory=lambda: [10, 100, 1_000, 10_000])
    grown: list[int] = field(default_factory=lambda: [50, 100, 200, 300, 400])


FULL = Sizes()
QUICK = Sizes(seconds=1, rounds=3, samples=40, patience=3, starts=3, stored=500, imported=2_000)
TINY = Sizes(
    seconds=0.1,
    rounds=1,
    samples=2,
    starts=1,
    history=20,
    long=50,
    stored=20,
    imported=20,
    peer_rounds=1,
    clients=[1, 4],
    lengths=[10, 20],
    grown=[10, 20],
)


def samples(sizes: Sizes) -> Iterator[int]:
    """Counts samples, of which there are three at least, until there are enough."""
    end = time.monotonic() + sizes.patience
    for number in range(sizes.samples):
        if number >= 3 and time.monotonic() > end:
            return
        yield number


def interleaved(subjects: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Measure all subjects in turn, several times: what disturbs one disturbs the others too."""
    found: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(rounds):
        ordered = list(subjects.items())
        for name, measure in ordered if number % 2 == 0 else reversed(ordered):
            found[name].append(measure())
    return found


def ratio(figures: list[float], others: list[float]) -> float:
    """The median of the ratios of neighbours."""
    return median(one / other for one, other in zip(figures, others, strict=True))
