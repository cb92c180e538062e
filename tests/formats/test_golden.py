"""Golden cases: what is posted in a wire's format, what is stored of it, what is rendered for it.

A case is a folder `<target>/cases/<case>/` with `wire.json` (a POST body), `neutral.json` (the
stored turns) and `rendered.json` (request and repairs). `TURNKEEP_REWRITE_GOLDEN=1` writes the last
two anew; read every line of the difference before you keep it.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.formats.registry import TARGETS
from app.transfer.queries import exported_turn
from tests import judges
from tests.every import Test, every
from tests.formats import ROOT, folder
from tests.histories import History, posted

CASES = [
    path.parent for target in TARGETS for path in sorted(folder(target).glob("cases/*/wire.json"))
]
REWRITE = bool(os.environ.get("TURNKEEP_REWRITE_GOLDEN"))


def target_of(case: Path) -> str:
    return case.parents[1].name.replace("_", "-")


def cases(chosen: list[Path]) -> Callable[[Test], Test]:
    return every("case", chosen, by=target_of)


each_case = cases(CASES)
# Nobody else reads the neutral form, so it has no judge.
each_judged_case = cases([case for case in CASES if target_of(case) in judges.TARGETS])


def history_of(case: Path) -> History:
    return posted((case / "wire.json").read_text(encoding="utf-8"))


def stored(history: History) -> Any:
    return history.render("neutral").request["turns"]


def rendered(history: History, target: str) -> Any:
    done = history.render(target)
    return {"request": done.request, "repairs": [repair.json() for repair in done.repairs]}


def compare(path: Path, value: Any) -> None:
    """Texts are compared, not values: the order of members is part of the promise."""
    # A lone surrogate has no UTF-8; its backslash escape is also its JSON escape.
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    made = text.encode("utf-8", "backslashreplace").decode()
    if REWRITE:
        path.write_text(made, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == made


@each_case
def test_what_is_stored_is_what_was_reviewed(case: Path) -> None:
    compare(case / "neutral.json", stored(history_of(case)))


@each_case
def test_what_is_rendered_is_what_was_reviewed(case: Path) -> None:
    compare(case / "rendered.json", rendered(history_of(case), target_of(case)))


@each_judged_case
def test_what_is_rendered_is_accepted(case: Path) -> None:
    target = target_of(case)
    if why := judges.available(target):
        pytest.skip(why)
    assert judges.history_complaints(target, history_of(case).render(target).request) == []


@each_case
def test_an_export_that_comes_back_is_the_same_history(case: Path) -> None:
    history = history_of(case)
    links = history.remembered.links()
    turns = [exported_turn(turn, links) for turn in history.remembered.turns]
    again = posted({"provider": "neutral", "turns": turns})
    assert stored(again) == stored(history)
    reviewed = json.loads((case / "rendered.json").read_text(encoding="utf-8"))
    assert rendered(again, target_of(case))["request"] == reviewed["request"]


@each_case
def test_a_case_holds_three_files_and_nothing_else(case: Path) -> None:
    assert sorted(path.name for path in case.iterdir()) == [
        "neutral.json",
        "rendered.json",
        "wire.json",
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_every_codec_has_golden_cases(target: str) -> None:
    assert len([case for case in CASES if target_of(case) == target]) >= 1


def test_every_folder_of_cases_belongs_to_a_codec() -> None:
    assert {target_of(path.parent) for path in ROOT.glob("*/cases/*/wire.json")} <= set(TARGETS)
