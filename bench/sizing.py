"""What a machine must have: `python -m bench.sizing [--turns 1000]`, in a minute or two.

Disk, memory, processor time and connections of a service that one client uses. Processor time is
that of the service itself, so a busy machine changes it little; PostgreSQL's own comes on top.
docs/sizing.md shows what this prints.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from bench import servers
from bench.client import Client
from bench.servers import Server
from bench.stage import INDEXED_PATH, fill, replay_path, turns_path
from bench.turns import Texts, body, encoded, history
from tests.postgres import fresh_database, postgres_server

_TICK = os.sysconf("SC_CLK_TCK")
KINDS = ("SQLite", "PostgreSQL")
_READS = 20
_WORKERS = 4
_CLIENTS = 16


@dataclass
class Figures:
    """Rows of the table, by database."""

    rows: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, row: str, column: str, figure: str) -> None:
        self.rows.setdefault(row, {})[column] = figure

    def print(self) -> None:
        print("| | SQLite | PostgreSQL |\n| --- | --- | --- |")
        for row, found in self.rows.items():
            print(f"| {row} | {found.get('SQLite', '')} | {found.get('PostgreSQL', '')} |")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.sizing")
    parser.add_argument("--turns", type=int, default=1000, help="of the history, 4 KB each")
    turns = parser.parse_args().turns
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder, postgres_server(durable=True) as postgres:
        for search in ("false", "true"):
            _appends(figures, Path(folder) / f"{search}.db", postgres, turns, search)
        for kind in KINDS:
            with _database(kind, Path(folder) / "work.db", postgres) as url:
                _work(figures, kind, url, turns)
    figures.print()
    return 0


@contextmanager
def _database(kind: str, file: Path, postgres: str) -> Iterator[str]:
    if kind == "SQLite":
        yield f"sqlite:///{file}"
        return
    with fresh_database(postgres) as url:
        yield url


def _appends(figures: Figures, file: Path, postgres: str, turns: int, search: str) -> None:
    """What a turn takes, appended by itself: disk and processor time, its words indexed."""
    messages = list(history(Texts(), turns))
    posted = sum(len(encoded(one)) for one in messages) / turns
    name = f"{'with' if search == 'true' else 'without'} the search"
    setting = {"TURNKEEP_SEARCH": search}
    for kind in KINDS:
        figures.add("bytes posted a turn", kind, f"{posted:,.0f}")
        with _database(kind, file, postgres) as url:
            servers.command("migrate", "--database-url", url)
            empty = _size(url)
            with (
                servers.turnkeep(url, environment=setting) as server,
                Client(server.port) as client,
            ):
                begun = _seconds(server)
                for message in messages:
                    client.post(turns_path("h"), body([message]))
                if search == "true":
                    client.get(INDEXED_PATH)
                spent = (_seconds(server) - begun) / turns * 1000
            size = (_size(url) - empty) / turns
        figures.add(f"bytes on disk a turn, {name}", kind, f"{size:,.0f}")
        figures.add(f"processor time an append, {name}", kind, f"{spent:.1f} ms")


def _size(url: str) -> int:
    if url.startswith("sqlite"):
        file = Path(url.removeprefix("sqlite:///"))
        return sum(one.stat().st_size for one in file.parent.glob(f"{file.name}*"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM")
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(row[0])


def _work(figures: Figures, kind: str, url: str, turns: int) -> None:
    """Processor time and memory of replays, then of several workers."""
    messages = list(history(Texts(), turns))
    with servers.turnkeep(url) as server, Client(server.port) as client:
        figures.add("memory of an idle worker", kind, f"{server.resident_mb():.0f} MB")
        fill(client, "h", messages)
        client.get(INDEXED_PATH)
        begun = _seconds(server)
        size = len(client.get(replay_path("h")).body)
        first = _seconds(server) - begun
        for _ in range(_READS):
            client.get(replay_path("h"))
        again = (_seconds(server) - begun - first) / _READS
        figures.add(
            f"processor time of a first replay of {turns:,} turns", kind, f"{first * 1000:.0f} ms"
        )
        figures.add("processor time of the same again, from memory", kind, f"{again * 1000:.1f} ms")
        figures.add("bytes of that replay", kind, f"{size / 1e6:.1f} MB")
        figures.add("memory of the worker then", kind, f"{server.resident_mb():.0f} MB")
    with servers.turnkeep(url, workers=_WORKERS) as server:
        idle = _memory(server.pid)
        figures.add(f"memory of {_WORKERS} idle workers and their parent", kind, f"{idle:.0f} MB")
        with ThreadPoolExecutor(_CLIENTS) as threads:
            list(threads.map(lambda one: _busy(server, one), range(_CLIENTS)))
        if kind == "PostgreSQL":
            row = f"connections of {_WORKERS} workers that {_CLIENTS} clients keep busy"
            figures.add(row, kind, str(_connections(url)))


def _busy(server: Server, number: int) -> None:
    texts = Texts(seed=number)
    with Client(server.port) as client:
        for message in history(texts, 10):
            client.post(turns_path(f"busy{number}"), body([message]))
            client.get(replay_path(f"busy{number}"))


def _connections(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert row is not None
    return int(row[0])


def _seconds(server: Server) -> float:
    """The processor time that the process has used."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _memory(pid: int) -> float:
    """What a process and those that it started hold; what they share counts once."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (own,) = (int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own / 1024 + sum(_memory(int(child)) for child in children)


if __name__ == "__main__":
    sys.exit(main())
