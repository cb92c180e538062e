"""A database URL that names several hosts, as libpq writes it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from psycopg import sql

from tests.e2e.server import free_port, serving, turnkeep
from tests.postgres import database_name, postgres_of_our_own


@pytest.fixture
def read_only_port(postgres_database_url: str) -> Iterator[int]:
    """A server that takes no writes, with a database of the same name and the same password."""
    name = sql.Identifier(database_name(postgres_database_url))
    password = sql.Literal(urlsplit(postgres_database_url).password)
    with postgres_of_our_own(durable=False) as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
            change = sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on")
            connection.execute(change.format(name))
            connection.execute(sql.SQL("ALTER ROLE turnkeep PASSWORD {}").format(password))
        yield server.port


def test_the_service_finds_the_host_that_takes_writes(
    postgres_database_url: str, read_only_port: int, tmp_path: Path
) -> None:
    parts = urlsplit(postgres_database_url)
    hosts = [f"127.0.0.1:{free_port()}", f"127.0.0.1:{read_only_port}", f"127.0.0.1:{parts.port}"]
    where = f"{parts.username}:{parts.password}@{','.join(hosts)}{parts.path}"
    url = f"postgresql://{where}?target_session_attrs=read-write"
    described = f"PostgreSQL {parts.path[1:]} on {', '.join(hosts)}"
    migrated = turnkeep("migrate", "--database-url", url, cwd=tmp_path)
    assert (migrated.returncode, described in migrated.stdout) == (0, True)
    with serving(tmp_path, "--database-url", url) as server:
        body = {"provider": "openai", "messages": [{"role": "user", "content": "x"}]}
        httpx.post(f"{server.url}/v1/conversations/c1/turns", json=body).raise_for_status()
        looked = turnkeep("doctor", "--database-url", url, cwd=tmp_path)
        assert f"{described} can be reached" in looked.stdout
        said = server.log.read_text() + migrated.stdout + looked.stdout
    assert f"The data is in       {described}\n" in said
    assert str(parts.password) not in said
