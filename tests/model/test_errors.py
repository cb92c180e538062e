"""The tree of errors: every leaf has a status, a line in the documents, a place in the drawing."""

import inspect
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.edge.problems import status_of
from app.model import errors
from app.model.errors import LimitExceeded, RuleBroken, StaleVersion, TurnkeepError

PROBLEMS = Path(__file__).parents[2] / "docs" / "problems.md"


def tree(kind: type[TurnkeepError]) -> Iterator[type[TurnkeepError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from tree(child)


KINDS = list(tree(TurnkeepError))
LEAVES = [kind for kind in KINDS if not kind.__subclasses__()]
# What may reach a caller: the leaves, and the branches that are raised themselves.
RAISED = [kind for kind in KINDS if kind is not TurnkeepError]


@pytest.mark.parametrize("kind", RAISED)
def test_every_error_has_a_status_of_the_contract(kind: type[TurnkeepError]) -> None:
    assert status_of(kind) in {400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503}


@pytest.mark.parametrize("kind", RAISED)
def test_every_error_has_a_code_and_a_title_of_its_own(kind: type[TurnkeepError]) -> None:
    assert "code" in vars(kind)
    assert "title" in vars(kind)
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code)
    assert not kind.title.endswith(".")


def test_no_two_errors_share_a_code() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", LEAVES)
def test_every_leaf_has_a_line_in_the_documents(kind: type[TurnkeepError]) -> None:
    lines = [line for line in PROBLEMS.read_text().splitlines() if f"`{kind.code}`" in line]
    assert lines
    assert any(str(status_of(kind)) in line for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_stands_in_the_drawing_under_its_parent(kind: type[TurnkeepError]) -> None:
    drawn = re.findall(r"^([│├└─ ]*)(\w+)", inspect.getdoc(errors) or "", re.MULTILINE)
    depth = {name: len(branch) // 4 for branch, name in drawn}
    assert depth[kind.__name__] == len(kind.__mro__) - len(TurnkeepError.__mro__)


def test_an_error_leaves_out_facts_it_does_not_have() -> None:
    assert RuleBroken("why", pointer=None, limit="depth").facts == {"limit": "depth"}
    assert RuleBroken("why", pointer="/a").facts == {"pointer": "/a"}


def test_an_exceeded_limit_is_named_with_its_size() -> None:
    error = LimitExceeded("turns", 5, 7, pointer="/messages")
    assert error.facts == {"pointer": "/messages", "limit": "turns", "most": 5}
    assert error.detail == "The limit turns allows 5 turns in one request, the request has 7."


def test_a_stale_version_names_the_current_one() -> None:
    assert StaleVersion("c1", "3", 5).facts == {"conversation_id": "c1", "version": 5}


def test_a_stale_version_names_the_turn_that_was_stored_all_the_same() -> None:
    error = StaleVersion("c1", "3", 5, turn_id="t1")
    assert error.facts == {"conversation_id": "c1", "version": 5, "turn_id": "t1"}
    assert error.detail.endswith("The turn is stored as 't1'.")


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_another_process_says_the_same(kind: type[TurnkeepError]) -> None:
    error = kind.__new__(kind, "why")
    TurnkeepError.__init__(error, "why", limit="turns")
    error.__dict__["more"] = 1
    other = pickle.loads(pickle.dumps(error))
    assert type(other) is kind
    assert (str(other), vars(other)) == ("why", vars(error))
