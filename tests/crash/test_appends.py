from collections.abc import Iterator

import pytest

from tests.crash.appends import CONVERSATIONS, Read, Write, halves, reordered, tried, wrong_winners
from tests.crash.run import served
from tests.crash.victims import Service
from tests.long import IS_LONG

EACH = 1
# On one conversation each that has a condition is told of each of the others.
WRITERS = 64 if IS_LONG else 32


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with served("SQLite, 2 workers") as service:
        yield service


@pytest.mark.parametrize("conversations", CONVERSATIONS)
def test_writers_that_race_lose_nothing(service: Service, conversations: int) -> None:
    wrong, told = tried(service, conversations, EACH, WRITERS)
    assert wrong == [], told


def test_a_later_write_that_stands_before_an_earlier_one_is_noticed() -> None:
    first, second, beside = Write("c", 0, 1, 4), Write("c", 2, 3, 7), Write("c", 0, 3, 1)
    assert reordered([first, second, beside]) == []
    assert len(reordered([first, Write("c", 2, 3, 1)])) == 1
    assert reordered([first, Write("d", 2, 3, 1)]) == []


def test_two_winners_of_one_version_are_noticed() -> None:
    one, next_one, other = Write("c", 0, 1, 4, 3), Write("c", 0, 1, 7, 6), Write("d", 0, 1, 4, 3)
    assert wrong_winners([one, next_one, other, Write("c", 0, 1, 1)]) == []
    assert len(wrong_winners([one, one])) == 1


def test_a_winner_that_does_not_stand_behind_its_version_is_noticed() -> None:
    assert len(wrong_winners([Write("c", 0, 1, 7, 3)])) == 1


def test_a_replay_of_half_a_post_is_noticed() -> None:
    assert halves([Read("c", "openai", {"version": 6})]) == []
    assert len(halves([Read("c", "openai", {"version": 5})])) == 1
