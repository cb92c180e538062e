"""A database with something in every table, filled once and copied for each test."""

import shutil
from pathlib import Path

import pytest

from tests.damage.stored import LONG, file_of, fill, owner, serve


@pytest.fixture(scope="session")
def filled(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("damage") / "filled.db"
    shutil.copyfile(sqlite_template, file)
    fill(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def without_long(filled: Path) -> Path:
    """The same without the long turn, which takes longer to read than all the others."""
    file = filled.with_name("without_long.db")
    shutil.copyfile(filled, file)
    with serve(f"sqlite:///{file}") as http:
        assert http.delete(f"/v1/conversations/{LONG}").status_code == 200
    return file


@pytest.fixture
def url(filled: Path, sqlite_database_url: str) -> str:
    shutil.copyfile(filled, file_of(sqlite_database_url))
    return sqlite_database_url


@pytest.fixture
def url_for(table: str, filled: Path, without_long: Path, sqlite_database_url: str) -> str:
    """For a test that changes one table: the long turn is there if it has a part in it."""
    is_needed = owner(table) == LONG
    shutil.copyfile(filled if is_needed else without_long, file_of(sqlite_database_url))
    return sqlite_database_url
