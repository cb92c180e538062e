"""`make mutants` tries the faults; here only that each can still be planted."""

from pathlib import Path

import pytest

from tests.every import every
from tests.mutants.faults import FAULTS, Fault
from tests.mutants.run import ROOT, Unusable, planted

each_fault = every("fault", FAULTS, label=lambda fault: fault.name)


@each_fault
def test_a_fault_still_applies(fault: Fault) -> None:
    assert planted(fault, ROOT) != (ROOT / fault.file).read_text(encoding="utf-8")


@each_fault
def test_the_part_of_the_suite_that_catches_it_is_there(fault: Fault) -> None:
    path, _, name = fault.tests[0].partition("::")
    assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8")


def test_the_faults_are_different() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 22
    assert len({(fault.file, fault.old, fault.new) for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("text", ["", "one\none\n"])
def test_a_fault_that_does_not_apply_exactly_once_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(text)
    with pytest.raises(Unusable):
        planted(Fault("a fault", "some.py", "one", "two", ("tests",)), tmp_path)
