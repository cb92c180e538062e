"""What all tests share: databases at the newest schema, and how hypothesis searches.

A test that takes `database_url` runs twice, on SQLite and on PostgreSQL. The schema is built once
a session by the migrations and then copied, because migrating for each test would be slow.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.postgres import database_name, fresh_database, postgres_server
from tests.shapes import watch

# In CI the same examples every time: a red run must be red again when somebody looks.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session", autouse=True)
def _shapes() -> Iterator[None]:
    """Whatever a test client receives is what the OpenAPI page says."""
    with watch():
        yield


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server, started when the first test asks for it."""
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres_url: str) -> Iterator[str]:
    """The name of a PostgreSQL database at the newest schema, to be copied."""
    with fresh_database(postgres_url) as url:
        _upgrade(url)
        yield database_name(url)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file at the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    _upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_database_url(sqlite_template: Path, tmp_path: Path) -> str:
    path = tmp_path / "turnkeep.db"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_database_url(postgres_url: str, postgres_template: str) -> Iterator[str]:
    with fresh_database(postgres_url, postgres_template) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database at the newest schema, of each kind in turn."""
    url: str = request.getfixturevalue(f"{request.param}_database_url")
    return url


def _upgrade(url: str) -> None:
    # Here, so that the tests of pure code do not have to load the storage.
    from app.storage.migrations import upgrade  # noqa: PLC0415

    upgrade(url)
