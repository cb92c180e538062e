import random

import pytest

from tests.crash.copies import Copy, Got
from tests.crash.retries import differences, tried
from tests.crash.run import served

# `make retries` sends ten thousand.
POSTS = 40
REUSED = '{"code": "idempotency_key_reused"}'


def test_what_is_sent_several_times_is_stored_once() -> None:
    # One worker, because each start costs; with two see `test_several_processes`, `make retries`.
    with served("SQLite, 1 worker") as service:
        wrong, told = tried(service, POSTS, random.Random(1))
    assert wrong == [], told


def test_copies_of_a_post_get_one_receipt() -> None:
    got = [Got(Copy(0), 201, "a"), Got(Copy(0), 200, "a"), Got(Copy(0)), Got(Copy(1), 201, "b")]
    assert differences([*got, Got(Copy(0, changed=True), 422, REUSED)]) == []


@pytest.mark.parametrize(
    "got",
    [
        [Got(Copy(0), 201, "a"), Got(Copy(0), 200, "b")],
        [Got(Copy(0), 201, "a"), Got(Copy(0), 201, "a")],
        [Got(Copy(0), 500, "")],
        [Got(Copy(0, changed=True), 201, "a")],
        [Got(Copy(0, changed=True), 422, "")],
    ],
    ids=["two receipts", "new twice", "an error", "another body stored", "refused otherwise"],
)
def test_what_copies_must_not_get_is_noticed(got: list[Got]) -> None:
    assert len(differences(got)) == 1
