"""The tool of the tests that tries many cases in one test."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.every import every

PAIRS = [("a", 1), ("a", 2), ("b", 3)]


def collected(test: Callable[..., None]) -> list[Any]:
    marks: list[Any] = vars(test).get("pytestmark", [])
    return [value for mark in marks for value in mark.args[1]]


def test_all_cases_are_tried_with_what_the_test_is_given() -> None:
    seen = []

    @every(("name", "number"), PAIRS)
    def one(name: str, number: int, beside: str) -> None:
        seen.append((name, number, beside))

    one(beside="x")
    assert seen == [("a", 1, "x"), ("a", 2, "x"), ("b", 3, "x")]
    assert collected(one) == []


def test_groups_are_tests_of_their_own() -> None:
    seen = []

    @every("pair", PAIRS, by=lambda pair: str(pair[0]))
    def one(pair: tuple[str, int]) -> None:
        seen.append(pair)

    assert collected(one) == ["a", "b"]
    one(group="b")
    assert seen == [("b", 3)]


def test_a_failure_names_its_case() -> None:
    @every("number", [1, 2, 3])
    def one(number: int) -> None:
        assert number != 2

    @every("number", [1, 2, 3])
    def another(number: int) -> None:
        if number == 3:
            pytest.fail("it was 3")

    for test, case in ((one, 2), (another, 3)):
        with pytest.raises((AssertionError, pytest.fail.Exception)) as failure:
            test()
        assert failure.value.__notes__ == [f"The case is {case}"]


def test_what_would_have_to_be_awaited_is_refused() -> None:
    async def one(number: int) -> None:
        raise AssertionError(number)

    with pytest.raises(AssertionError, match="await"):
        every("number", [1])(one)  # type: ignore[arg-type]


def test_cases_that_are_skipped_hide_no_others() -> None:
    seen = []

    @every("number", [1, 2, 3])
    def some(number: int) -> None:
        if number == 1:
            pytest.skip("not here")
        seen.append(number)

    @every("number", [1, 2])
    def none(number: int) -> None:
        pytest.skip(f"not {number}")

    some()
    assert seen == [2, 3]
    with pytest.raises(pytest.skip.Exception, match="not 2"):
        none()
