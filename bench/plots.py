"""`python -m bench.plots FIGURES FOLDER`: the plots, from the figures of a run.

It runs in the environment of the peers, which has matplotlib.
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, StrMethodFormatter

PLOTS = {
    "throughput": ("clients", "POSTs a second", "log"),
    "latency": ("turns of the history", "milliseconds", "log"),
    "disk": ("turns", "MB on disk", "linear"),
}


def draw(name: str, series: dict[str, Any], folder: Path) -> Path:
    """One plot: a line for each series, ours thicker."""
    across, up, scale = PLOTS[name]
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for label, values in series["lines"].items():
        is_ours = name == "latency" or label.startswith("Turnkeep")
        axes.plot(
            series["axis"], values, marker="o", label=label, linewidth=2.4 if is_ours else 1.2
        )
    axes.set(xlabel=across, ylabel=up, xscale=scale, yscale=scale)
    if scale == "log":
        axes.set_xticks(series["axis"], [f"{one:,}" for one in series["axis"]])
        axes.minorticks_off()
        # Powers of ten alone would leave some plots with one number.
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    file = folder / f"benchmarks-{name}.png"
    # No date and no version, so that the same figures give the same file.
    figure.savefig(file, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return file


def main() -> None:
    figures, folder = map(Path, sys.argv[1:])
    for name, series in json.loads(figures.read_text())["series"].items():
        print(draw(name, series, folder))


if __name__ == "__main__":
    main()
