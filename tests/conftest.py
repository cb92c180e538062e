"""What all tests share: databases at the newest schema, and how hypothesis searches.

A test that takes `database_url` runs twice, on SQLite and on PostgreSQL. The schema is built once
a session by the migrations. Of SQLite each test has a copy; of PostgreSQL the tests of a process
have one database, emptied behind each, because to make one costs more than most tests. Those that
change its schema, break its connections or ask for its plans are marked with `own_database`.
Processes that share the work (`-n`) share the server of PostgreSQL, which the first of all starts.
"""

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hypothesis
import pytest
from fastapi import FastAPI

from tests.client import in_one_step
from tests.outbound import forbid
from tests.postgres import (
    NoPostgres,
    connected,
    database_name,
    empty,
    fresh_database,
    postgres_server,
)
from tests.shapes import watch

# So many bytes must be free there.
ENOUGH = 1024**3

# While tests are collected nearly nothing becomes garbage, and the search for it takes long.
gc.disable()

# In CI the same examples every time: a red run must be red again when somebody looks.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
# No deadline: how long an example takes is a matter of who else is busy.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Write golden files in one process: others would read them before they are written."""
    if os.environ.get("TURNKEEP_REWRITE_GOLDEN"):
        config.option.numprocesses = 0


def pytest_collection_finish() -> None:
    """What is there now stays: nobody need look through it for garbage again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process that runs a share of the tests where PostgreSQL is."""
    config = node.config
    if _SERVER not in config.stash:
        stack = ExitStack()
        config.add_cleanup(stack.close)
        try:
            config.stash[_SERVER] = stack.enter_context(postgres_server())
        except NoPostgres:
            # The tests that need one will say why there is none.
            config.stash[_SERVER] = None
    node.workerinput["postgres_url"] = config.stash[_SERVER]


_SERVER = pytest.StashKey[str | None]()


@pytest.fixture(scope="session", autouse=True)
def _described_once() -> Iterator[None]:
    """A thousand applications describe themselves in the same words, which takes FastAPI long.

    Nothing but the limits, told in the description, makes two of ours differ.
    """
    describe, known = FastAPI.openapi, dict[str, dict[str, Any]]()

    def openapi(app: FastAPI) -> dict[str, Any]:
        if app.title != "Turnkeep":
            return describe(app)
        if app.description not in known:
            known[app.description] = describe(app)
        return known[app.description]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FastAPI, "openapi", openapi)
        yield


@pytest.fixture(scope="session", autouse=True)
def _shapes() -> Iterator[None]:
    """Whatever a test client receives is what the OpenAPI page says."""
    with in_one_step(), watch():
        yield


@pytest.fixture(scope="session", autouse=True)
def _nothing_goes_out() -> Iterator[None]:
    """Whoever connects to another machine fails."""
    with forbid():
        yield


@pytest.fixture(scope="session")
def postgres_url(pytestconfig: pytest.Config) -> Iterator[str]:
    """A PostgreSQL server: that of all processes, or one that starts when a test asks for it."""
    if shared := getattr(pytestconfig, "workerinput", {}).get("postgres_url"):
        yield shared
        return
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def _compiled_once() -> Iterator[None]:
    """Thousands of engines say the same statements; SQLAlchemy would compile them for each anew.

    It knows them by their dialect, of which each engine has one; ours differ in their kind only.
    """
    # Here, so that the tests of pure code do not have to load it.
    from sqlalchemy.engine import Engine  # noqa: PLC0415
    from sqlalchemy.engine.default import DefaultDialect  # noqa: PLC0415
    from sqlalchemy.util import LRUCache  # noqa: PLC0415

    known: dict[type, LRUCache[Any, Any]] = {}

    def compiled(engine: Engine) -> LRUCache[Any, Any]:
        return known.setdefault(type(engine.dialect), LRUCache(2000))

    with pytest.MonkeyPatch.context() as patch:
        shared = property(compiled, lambda *_: None)
        patch.setattr(Engine, "_compiled_cache", shared, raising=False)
        patch.setattr(DefaultDialect, "__eq__", lambda one, other: type(one) is type(other))
        patch.setattr(DefaultDialect, "__hash__", lambda one: hash(type(one)))
        yield


@pytest.fixture(scope="session")
def postgres_template(postgres_url: str, _compiled_once: None) -> Iterator[str]:
    """The name of a PostgreSQL database at the newest schema, to be copied."""
    with fresh_database(postgres_url) as url:
        _upgrade(url)
        yield database_name(url)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory, _compiled_once: None) -> Path:
    """A SQLite file at the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    _upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_database_url(sqlite_template: Path, quick_folder: Path) -> Iterator[str]:
    with TemporaryDirectory(dir=quick_folder) as folder:
        path = Path(folder) / "turnkeep.db"
        shutil.copyfile(sqlite_template, path)
        yield f"sqlite:///{path}"


@pytest.fixture(scope="session")
def quick_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """In memory, where there is enough of it: nobody waits for a disk then."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or shutil.disk_usage(memory).free < ENOUGH:
        yield tmp_path_factory.mktemp("databases")
        return
    with TemporaryDirectory(dir=memory, prefix="turnkeep-tests-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def _one_postgres_database(
    postgres_url: str, postgres_template: str
) -> Iterator[tuple[str, Callable[[], None]]]:
    """The address of a database, and how it is emptied: over one connection, which is kept."""
    from app.database.migrations import head  # noqa: PLC0415
    from app.database.tables import metadata  # noqa: PLC0415

    # Those that point to others first.
    tables, newest = [table.name for table in reversed(metadata.sorted_tables)], head()
    with fresh_database(postgres_url, postgres_template) as url, connected(url) as connection:
        yield url, lambda: empty(connection, tables, newest)


@pytest.fixture
def postgres_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.node.get_closest_marker("own_database"):
        server: str = request.getfixturevalue("postgres_url")
        with fresh_database(server, request.getfixturevalue("postgres_template")) as url:
            yield url
        return
    url, emptied = request.getfixturevalue("_one_postgres_database")
    yield url
    emptied()


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database at the newest schema, of each kind in turn."""
    url: str = request.getfixturevalue(f"{request.param}_database_url")
    return url


def _upgrade(url: str) -> None:
    # Here, so that the tests of pure code do not have to load the storage.
    from app.database.migrations import upgrade  # noqa: PLC0415

    upgrade(url)
