"""What a server has left behind, seen without the start of another one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings


@contextmanager
def left_by(folder: Path) -> Iterator[TestClient]:
    """The service in this process, on the database that a server there has left behind."""
    url = f"sqlite:///{folder / 'turnkeep.db'}"
    with TestClient(create_app(Settings(database_url=url))) as http:
        yield http
