"""Words that meant several things, or that the glossary has replaced, do not come back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
APP = sorted((ROOT / "app").rglob("*.py"))
TESTS = [path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts]
GUIDES = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
OTHERS = [path for name in ("bench", "examples") for path in (ROOT / name).rglob("*.py")]
# The changelog may name what is gone, and this file has to.
EVERYTHING = sorted({*APP, *TESTS, *GUIDES, *OTHERS} - {Path(__file__)})

# What is gone, and what is said instead.
GONE = {
    r"deeds?": "command, or query where it only reads",
    r"store_?ledger|database_?book|book_?keeping": "book",
    r"turn_?id_?collision": "`Slice.place` says whether a turn id is taken",
    r"assigned_?ids?": "provider id",
    r"shown_?ids?": "provider id",
    r"idempotent_?answers?": "receipt",
}
# Result, response and receipt were all called so. A render may: there it is a call with its result.
ANSWER = re.compile(r"\b(?:an?|the|its|this|one|whole|first|same) answers?\b", re.IGNORECASE)
NAMED_ANSWER = re.compile(r"(?:^|_)answers?(?:_|$)|^_answered$|Answers?(?![a-z])")
RENDERS = (
    "app/formats/",
    "app/jsontext/arguments.py",
    "app/ledger/pairing.py",
    "app/model/media.py",
    "app/model/repairs.py",
    "app/replay/",
)


def found(pattern: str, text: str) -> list[str]:
    """Whole words, also inside of names: `run_deed`, `DeedRow`, `turnkeep_deeds`."""
    whole = rf"(?<![a-z])(?i:{pattern})(?![a-z])|(?<=[a-z])(?:{_capital(pattern)})(?![a-z])"
    return [match.group() for match in re.finditer(whole, text)]


def _capital(pattern: str) -> str:
    return "|".join(f"{one[0].upper()}(?i:{one[1:]})" for one in pattern.split("|"))


def names(path: Path) -> Iterator[str]:
    """All names that a module gives or uses."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("id", "name", "attr", "arg"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


@pytest.mark.parametrize("pattern", GONE, ids=lambda pattern: GONE[pattern])
def test_what_is_gone_stays_away(pattern: str) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in EVERYTHING}
    there = {str(path.relative_to(ROOT)): found(pattern, text) for path, text in texts.items()}
    assert not {path: words for path, words in there.items() if words}, f"say: {GONE[pattern]}"


def test_an_answer_is_a_result_a_response_or_a_receipt() -> None:
    there = {}
    for path in APP:
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(RENDERS):
            continue
        said = ANSWER.findall(path.read_text(encoding="utf-8"))
        there[name] = [*said, *filter(NAMED_ANSWER.search, names(path))]
    assert not {name: words for name, words in there.items() if words}


@pytest.mark.parametrize(
    "text", ["a deed", "run_deed", "Deeds", "turnkeep_deeds", "DeedRow", "aDeed", "DEEDS"]
)
def test_a_word_is_found_inside_of_names(text: str) -> None:
    assert found("deeds?", text)


@pytest.mark.parametrize("text", ["indeed", "deeded", "bdeedc"])
def test_other_words_are_left_alone(text: str) -> None:
    assert not found("deeds?", text)


@pytest.mark.parametrize("name", ["answer", "_answer", "by_answer", "_answered", "AnswerOut"])
def test_names_of_answers_are_found(name: str) -> None:
    assert NAMED_ANSWER.search(name)


@pytest.mark.parametrize("name", ["answered", "mark_answered", "answering", "_ANSWERED"])
def test_a_call_may_be_answered(name: str) -> None:
    assert not NAMED_ANSWER.search(name)
