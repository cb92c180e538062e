import random

from tests.crash.run import tried


def test_two_kills_lose_nothing() -> None:
    outcome = tried("SQLite, 1 worker", 2, random.Random(1))
    assert outcome.complaints == [], outcome.told()
    assert len(outcome.seconds) == 2
    assert outcome.log.acknowledged()
