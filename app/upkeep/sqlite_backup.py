"""A copy of an SQLite database in one file, made while others write, and its checksum beside it.

The checksum is written last: a copy without one is not finished. It has the form of `sha256sum`.
"""

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PIECE = 1024 * 1024


class Damaged(Exception):
    """A file is not what it was, or no whole database; the text is one line for the operator."""


def checksum_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


@contextmanager
def new_file(file: Path) -> Iterator[None]:
    """A file that was not there. It goes again, with what SQLite puts beside it, if it is not
    finished. Raises `FileExistsError`."""
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield
    except BaseException:
        for ending in ("", "-journal", "-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
        raise


def copy_database(source: Path, target: Path) -> None:
    """All that is committed now, in one snapshot: others go on writing."""
    with (
        contextlib.closing(sqlite3.connect(f"{source.as_uri()}?mode=rw", uri=True)) as old,
        contextlib.closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)
        # One file: what is beside it would not be counted in the checksum.
        new.execute("PRAGMA journal_mode = DELETE")


def check_integrity(file: Path) -> None:
    """Raises `Damaged` unless SQLite finds its file whole."""
    try:
        with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as found:
            (said,) = found.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise Damaged(f"{file} is no whole database: {said}")


def write_checksum(file: Path) -> None:
    with checksum_file(file).open("x") as out:
        out.write(f"{_copied(file)}  {file.name}\n")
        out.flush()
        os.fsync(out.fileno())


def copy_checked(source: Path, target: Path) -> None:
    """A copy byte for byte. Raises `Damaged` unless it has the checksum."""
    try:
        wanted = checksum_file(source).read_text().split()[:1]
    except FileNotFoundError:
        raise Damaged(f"{checksum_file(source)} is missing: the backup is not finished") from None
    if [_copied(source, target)] != wanted:
        raise Damaged(f"{source} is damaged: it does not have the checksum in its .sha256 file")


def _copied(source: Path, target: Path | None = None) -> str:
    """The sha256 of a file, which is copied on the way. What was read is on the disk then."""
    counted = hashlib.sha256()
    with source.open("rb") as read, (target or source).open("rb+") as write:
        while piece := read.read(_PIECE):
            counted.update(piece)
            if target:
                write.write(piece)
        write.flush()
        os.fsync(write.fileno())
    return counted.hexdigest()
