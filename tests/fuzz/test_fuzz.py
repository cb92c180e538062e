"""A short run of the fuzzer; and it notices what it is there for."""

from typing import Any

import pytest

from tests.fuzz import checks
from tests.fuzz.bodies import corpus
from tests.fuzz.run import piece


def test_no_body_is_too_wrong() -> None:
    bodies, taken, kept, defects = piece(0, 800)
    assert defects == []
    # Most are refused, but a good part is nearly right.
    assert taken > bodies // 10
    assert kept > 5


def test_every_format_is_in_the_corpus() -> None:
    assert len({one["provider"] for one in corpus()}) >= 12


def test_a_crash_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: Any) -> Any:
        raise KeyError("messages")

    monkeypatch.setattr(checks, "convert_messages", crash)
    with pytest.raises(checks.Defect, match="seed 7: KeyError"):
        checks.converted(7)


def test_other_bytes_the_second_time_are_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(10))
    monkeypatch.setattr(checks, "convert_messages", lambda *_: {"request": next(numbers)})
    with pytest.raises(checks.Defect, match="other bytes"):
        checks.converted(7)
