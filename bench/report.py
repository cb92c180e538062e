"""Figures as tables: in a terminal, and in Markdown."""

from collections.abc import Iterable, Sequence

from bench.rows import Row

_MET = {"goal": "met, and the goal", "target": "met", "no": "NOT MET", "none": ""}
_HEAD = ("ratio", "row", "figure", "over", "target", "goal", "met", "textbook", "remark")


def cells(row: Row) -> tuple[str, ...]:
    """A row as words, in the order of the head."""
    over = f"{figure(row.over, row.unit)} ({row.over_name})" if row.over is not None else ""
    return (
        f"{row.ratio:.2f}" if row.ratio is not None else "",
        row.name,
        figure(row.figure, row.unit),
        over,
        _limit(row, row.target),
        _limit(row, row.goal),
        _MET[row.verdict],
        figure(row.textbook, row.unit) if row.textbook is not None else "",
        row.remark,
    )


def figure(value: float, unit: str) -> str:
    """A number with three digits that count, and its unit."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}{'' if unit == '/s' else ' '}{unit}"


def terminal(rows: Iterable[Row]) -> str:
    """A table with columns of equal width."""
    lines = [_HEAD, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table for a page."""
    written = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in written) + "\n"


def rows_markdown(rows: Iterable[Row]) -> str:
    return markdown(_HEAD, map(cells, rows))


def _limit(row: Row, value: float | None) -> str:
    if value is None:
        return ""
    sign = "≥" if row.wants == "at least" else "≤"
    return f"{sign} {value:.2f}" if row.ratio is not None else f"{sign} {figure(value, row.unit)}"
