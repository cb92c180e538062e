"""Servers that tests share: to start one costs more than most of what is asked of it.

Who shares one has conversations of its own there, and leaves it running.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.server import Server, serving
from tests.postgres import fresh_database


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def four_workers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> Iterator[Server]:
    """A server of four processes, on a database of each kind in turn."""
    folder = tmp_path_factory.mktemp("workers")
    if request.param == "sqlite":
        shutil.copyfile(sqlite_template, folder / "turnkeep.db")
        with serving(folder, "--workers", "4") as server:
            yield server
        return
    admin: str = request.getfixturevalue("postgres_url")
    with (
        fresh_database(admin, request.getfixturevalue("postgres_template")) as url,
        serving(folder, "--database-url", url, "--workers", "4") as server,
    ):
        yield server
