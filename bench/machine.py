"""Facts about the machine and the programs, without which figures mean nothing."""

import os
import platform
import sqlite3
import sys
from importlib.metadata import version
from pathlib import Path

import psycopg

# File systems that keep nothing: there a commit costs nothing.
_IN_MEMORY = {"tmpfs", "ramfs"}


class NotDurable(Exception):
    """Something does not sync, so the figures would be of something else."""


def check_durable(postgres: str, folder: Path) -> None:
    """PostgreSQL syncs at commit, and the folder is on a disk."""
    with psycopg.connect(postgres) as connection:
        for setting in ("fsync", "synchronous_commit"):
            row = connection.execute(f"SHOW {setting}").fetchone()
            if row != ("on",):
                raise NotDurable(
                    f"PostgreSQL has {setting} {row[0] if row else '?'}; it must be on"
                )
    if file_system(folder) in _IN_MEMORY:
        raise NotDurable(f"the temporary folder is on {file_system(folder)}; set TMPDIR to a disk")


def file_system(folder: Path) -> str:
    """The kind of file system that a folder is on."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    place = folder.resolve()
    found = [(point, kind) for point, kind in mounts if place.is_relative_to(point)]
    return max(found, key=lambda one: len(one[0]))[1]


def facts(postgres: str, folder: Path) -> dict[str, str]:
    """What the machine is and what runs on it."""
    with psycopg.connect(postgres) as connection:
        server = connection.info.parameter_status("server_version") or "?"
    return {
        "processors": f"{os.cpu_count()} × {_processor()}",
        "memory": f"{_memory_gb():.0f} GB",
        "system": f"{platform.system()} {platform.release()}, {file_system(folder)}",
        "Python": platform.python_version() + ("" if sys.platform == "linux" else sys.platform),
        "SQLite": f"{sqlite3.sqlite_version}, WAL, synchronous FULL",
        "PostgreSQL": f"{server}, fsync on, synchronous_commit on",
        **{name: version(name) for name in ("fastapi", "uvicorn", "sqlalchemy", "psycopg")},
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory_gb() -> float:
    line = Path("/proc/meminfo").read_text().splitlines()[0]
    return int(line.split()[1]) / 1024**2
