"""Databases for laws, each for all the histories of a module."""

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture(scope="module")
def new_database(sqlite_template: Path, quick_folder: Path) -> Iterator[Callable[[], str]]:
    """Makes an empty database of SQLite and tells its address."""
    numbers = count()
    with TemporaryDirectory(dir=quick_folder) as folder:

        def made() -> str:
            file = Path(folder) / f"{next(numbers)}.db"
            shutil.copyfile(sqlite_template, file)
            return f"sqlite:///{file}"

        yield made
