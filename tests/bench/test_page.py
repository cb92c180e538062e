from functools import partial
from pathlib import Path

import pytest

from bench.compare import OURS, Compared, wishes
from bench.page import Figures, page, saved
from bench.report import cells, figure, terminal
from bench.rows import Row, Sizes, interleaved, ratio, samples

FAST = Row("POST", 1200, "/s", 0.25, 0.40, ratio=0.3, over=4000, over_name="floor", textbook=90.5)
SLOW = Row("append", 12.3, "ms", 1.15, wants="at most", ratio=1.2, over=10.25, over_name="10 turns")
TOLD = Row("memory", 345.6, "MB", remark="a replay of 43 MB")


def compared() -> list[Compared]:
    return [
        Compared("SQLite", OURS, 1.4, 2000, 5, 300, parsed_ms=20),
        Compared("SQLite", "one", 1.0, 900, 20, 60),
        Compared("SQLite", "two", 4.0, 100, 2, 10),
        Compared("PostgreSQL", OURS, 3, 2500, 6, 200, parsed_ms=21),
        Compared("PostgreSQL", "three", 1.5, 1000, 9, 250),
    ]


def figures() -> Figures:
    facts = {"processors": "2 × fast"}
    lines = {"disk": {"axis": [1], "lines": {"payload": [1.0]}}}
    return Figures(
        facts, "wrk.", [FAST, SLOW, TOLD], 1000, compared(), {"litellm": 18.0}, series=lines
    )


def test_a_row_shows_its_ratio_first_and_whether_it_is_met() -> None:
    assert cells(FAST) == (
        *("0.30", "POST", "1,200/s", "4,000/s (floor)", "≥ 0.25", "≥ 0.40", "met", "90.5/s"),
        "",
    )


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (FAST, "target"),
        (SLOW, "no"),
        (TOLD, "none"),
        (Row("start", 0.9, "s", 1, wants="at most"), "target"),
        (Row("GET", 1, "/s", 0.5, 0.75, ratio=0.75), "goal"),
    ],
)
def test_targets_are_met_from_above_or_from_below(row: Row, verdict: str) -> None:
    assert row.verdict == verdict


def test_what_has_no_target_is_only_told() -> None:
    assert cells(TOLD)[4:7] == ("", "", "")


def test_figures_have_three_digits_that_count() -> None:
    assert [figure(one, "ms") for one in (0.123, 12.34, 1234.5)] == [
        "0.12 ms",
        "12.3 ms",
        "1,234 ms",
    ]


def test_columns_of_the_terminal_stand_below_each_other() -> None:
    head, *lines = terminal([FAST, SLOW]).splitlines()
    assert [line.index(name) for line, name in zip(lines, ("POST", "append"), strict=True)] == [
        head.index("row")
    ] * 2


def test_peers_are_judged_at_their_best() -> None:
    found = {(wish.database, wish.what): wish for wish in wishes(compared())}
    # One caller of `one` appends 1,000 times a second, which is more than its 32 do.
    assert found["SQLite", "append, 32 clients"].ratio == 2.0
    assert found["SQLite", "load, 32 clients"].ratio == 300 / 500
    assert not found["SQLite", "load, 32 clients"].is_met
    assert found["SQLite", "append, one client"].is_met
    assert found["SQLite", "load, one client"].peer == "two"
    assert not found["PostgreSQL", "append, one client"].is_met


def test_the_page_has_all_tables_and_plots() -> None:
    text = page(figures())
    for part in (
        "| 0.30 | POST |",
        "2 × fast",
        "| one, SQLite |",
        "litellm",
        "benchmarks-disk.png",
    ):
        assert part in text
    assert "{" not in text


def test_a_page_without_peers_has_no_empty_tables() -> None:
    assert "Against others" not in page(Figures({}, "wrk.", [FAST], 1000))


def test_saved_figures_give_the_same_page(tmp_path: Path) -> None:
    file = tmp_path / "new" / "figures.json"
    figures().save(file)
    assert page(saved(file)) == page(figures())


def test_subjects_are_measured_in_turn() -> None:
    order: list[str] = []

    def measured(name: str) -> float:
        order.append(name)
        return len(order)

    found = interleaved({name: partial(measured, name) for name in "ab"}, 3)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert ratio(found["b"], found["a"]) == 6 / 5


def test_samples_end_when_patience_does() -> None:
    assert len(list(samples(Sizes(samples=100, patience=0)))) == 3
    assert len(list(samples(Sizes(samples=2)))) == 2
