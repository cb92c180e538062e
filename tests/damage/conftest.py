"""A database with something in every table, filled once and copied for each test."""

import shutil
from pathlib import Path

import pytest

from tests.damage.stored import file_of, fill


@pytest.fixture(scope="session")
def filled(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("damage") / "filled.db"
    shutil.copyfile(sqlite_template, file)
    fill(f"sqlite:///{file}")
    return file


@pytest.fixture
def url(filled: Path, sqlite_database_url: str) -> str:
    shutil.copyfile(filled, file_of(sqlite_database_url))
    return sqlite_database_url
