"""docs/benchmarks.md, made from the figures of a run."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.compare import Compared, wishes
from bench.report import figure, markdown, rows_markdown
from bench.rows import Row

_TOP = """\
# Benchmarks

`make bench` writes this page; do not edit it. `make bench-quick` prints the first table in about
three minutes. Figures of two machines say nothing about each other, and neither do those of one
machine on two days: the ratios do. All that is compared runs side by side, in turn, several
times, and medians are shown. A ratio is the median of the ratios of each round, so it is not the
quotient of the two medians beside it.

{facts}
{generator}

## Against the floor

Floors do no work: a FastAPI program on the same uvicorn that reads a POST and answers 201, or
gives the same bytes from memory; bare commits of a 4 KB row on the same database. The textbook is
the same service as a tutorial has it ([bench/textbook.py](../bench/textbook.py)): ORM, a
transaction for each request, models out; it keeps messages and calls, and knows no other
provider.

Turns have 4 KB; those that are posted hold a text and two tool calls. A history is rounds of a
call turn, two results, a text of the model and one of the user, posted in OpenAI's shape and
replayed for Anthropic. One worker serves; access lines are off. A ratio of rates is better when
it is higher; one of times (≤) when it is lower.

{rows}
"""

_PEERS = """\
## Against others

Other stores run in process, without HTTP: each in a process of its own, with its own package's
newest release that goes with the others ([requirements-bench.lock](../requirements-bench.lock)).
All sync at every commit. The work is the same: append a turn of 4 KB with two tool calls,
durably; load {turns:,} turns ready for a provider. Theirs end as Python objects, Turnkeep's as
the bytes of the request at the client; *parsed* adds `json.loads`. LangGraph appends to short
histories here (each append stores the whole list again), and its history to load is stored at
once. A peer's best counts, with one caller or with 32.

{wishes}
{compared}
"""

_CONVERSION = """\
### Conversion alone

{turns:,} turns from OpenAI's shape to Anthropic's, nothing stored. litellm starts from parsed
messages and pydantic-ai from messages of its own; Turnkeep from the bytes of a request, which it
reads and checks.

{table}
"""

_PLOTS = """\
## Plots

![POSTs a second against clients](benchmarks-throughput.png)

![Milliseconds against the length of the history](benchmarks-latency.png)

![Megabytes on disk against turns](benchmarks-disk.png)
"""


@dataclass(frozen=True)
class Figures:
    """All that a run has found."""

    facts: Mapping[str, str]
    generator: str
    rows: list[Row]
    turns: int
    compared: list[Compared] = field(default_factory=list)
    conversions: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Any] = field(default_factory=dict)

    def save(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), indent=1))


def saved(file: Path) -> Figures:
    """Figures that were saved."""
    found = json.loads(file.read_text())
    found["rows"] = [Row(**row) for row in found["rows"]]
    found["compared"] = [Compared(**one) for one in found["compared"]]
    return Figures(**found)


def page(figures: Figures) -> str:
    """The whole page."""
    facts = markdown(("machine", ""), figures.facts.items())
    parts = [
        _TOP.format(facts=facts, generator=figures.generator, rows=rows_markdown(figures.rows))
    ]
    if figures.compared:
        parts.append(
            _PEERS.format(
                turns=figures.turns,
                wishes=_wishes(figures.compared),
                compared=_compared(figures.compared),
            )
        )
    if figures.conversions:
        lines = [(figure(ms, "ms"), name) for name, ms in figures.conversions.items()]
        table = markdown(("time", "converter"), lines)
        parts.append(_CONVERSION.format(turns=figures.turns, table=table))
    if figures.series:
        parts.append(_PLOTS)
    return "\n".join(part.strip() + "\n" for part in parts)


def _wishes(compared: list[Compared]) -> str:
    head = ("ratio", "Turnkeep over HTTP", "fastest peer", "wanted", "met")
    return markdown(
        head,
        (
            (
                f"{wish.ratio:.2f}",
                f"{wish.database}: {wish.what}",
                wish.peer,
                wish.wanted,
                "met" if wish.is_met else "NOT MET",
            )
            for wish in wishes(compared)
        ),
    )


def _compared(compared: Iterable[Compared]) -> str:
    head = ("store", "append, one", "append, 32", "load, one", "parsed", "load, 32")
    return markdown(
        head,
        (
            (
                f"{one.name}, {one.database}",
                figure(one.append_ms, "ms"),
                figure(one.append_rate, "/s"),
                figure(one.load_ms, "ms"),
                figure(one.parsed_ms, "ms") if one.parsed_ms is not None else "",
                figure(one.load_rate, "/s"),
            )
            for one in compared
        ),
    )
