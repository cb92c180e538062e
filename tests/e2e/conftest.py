"""Servers of these tests begin with a database that is made already.

How one is made is tried by `test_command.py` and `test_wheel.py`, which start them by themselves.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.server import MADE


@pytest.fixture(scope="module", autouse=True)
def _made(sqlite_template: Path) -> Iterator[None]:
    MADE[:] = [sqlite_template]
    yield
    MADE.clear()
