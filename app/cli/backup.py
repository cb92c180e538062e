"""`turnkeep backup` and `turnkeep restore`: an SQLite database as one file, and back."""

import argparse
from pathlib import Path

from ..database.database import Database
from ..database.engines import database_file, is_sqlite
from ..database.migrations import upgrade
from ..model.errors import Unavailable
from ..upkeep import sqlite_backup as backup
from .checking import check
from .databases import check_schema
from .flags import add_database, settings_of
from .text import complain

_STATUS = (
    "Exit status: 0 done, and everything in it agrees; 1 something is damaged or does not agree;"
    " 2 nothing was begun: a wrong setting, a file that is there already or is missing."
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "backup",
        description="Copies an SQLite database into a new file, with its checksum in FILE.sha256"
        " beside it, and verifies the copy. The service may run and write meanwhile.",
        epilog=_STATUS,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="a file that is not there yet")
    add_database(parser)
    parser.set_defaults(run=save)
    parser = commands.add_parser(
        "restore",
        description="Makes the database of a backup: the one of --database-url, which must not be"
        " there yet. The checksum is compared, and everything is verified.",
        epilog=_STATUS,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="a file that `backup` has made")
    add_database(parser)
    parser.set_defaults(run=restore)


def save(args: argparse.Namespace) -> int:
    url = _of_sqlite(args)
    check_schema(url)
    file = args.file.absolute()
    _check_absent(file, backup.checksum_file(file))
    try:
        with backup.new_file(file):
            backup.copy_database(database_file(url), file)
            backup.check_integrity(file)
    except backup.Damaged as damaged:
        complain(str(damaged))
        return 1
    bad = _disagreeing(f"sqlite:///{file}")
    backup.write_checksum(file)
    print(f"The backup is in {file}, its checksum in {backup.checksum_file(file).name}.")
    return 1 if bad else 0


def restore(args: argparse.Namespace) -> int:
    url = _of_sqlite(args)
    source, file = args.file.absolute(), database_file(url)
    if not source.is_file():
        raise Unavailable(f"the file {source} does not exist")
    _check_absent(*(file.with_name(file.name + ending) for ending in ("", "-wal", "-shm")))
    try:
        with backup.new_file(file):
            backup.copy_checked(source, file)
            backup.check_integrity(file)
    except backup.Damaged as damaged:
        complain(str(damaged))
        return 1
    upgrade(url)
    bad = _disagreeing(url)
    print(f"The database is in {file}.")
    return 1 if bad else 0


def _of_sqlite(args: argparse.Namespace) -> str:
    url = settings_of(args).database_url
    if not is_sqlite(url):
        raise Unavailable("backup and restore are for SQLite; PostgreSQL has pg_dump for it")
    return url


def _check_absent(*files: Path) -> None:
    for file in files:
        if not file.parent.is_dir():
            raise Unavailable(f"the folder {file.parent} does not exist")
        if file.exists():
            raise Unavailable(f"the file {file} is there already; nothing is overwritten")


def _disagreeing(url: str) -> int:
    with Database(url) as database:
        return check(database)
