"""What is particular to SQLite. `postgres.py` has the same parts."""

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from sqlalchemy import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError

from .verdicts import Ending, Purpose, Verdict

log = logging.getLogger(__name__)

DRIVER = "sqlite+pysqlite"
GROUP = 256
BUSY_SECONDS = 2.5
PAGE = 8192
# Pages of the full-text index that are merged at a time.
_MERGED = 64
# Maximum length of the record that lists the levels of the full-text index: 1,000 empty levels.
# SQLite 3.40.1 adds up to two levels with each scrub, and cannot open an index of more than 2,000
# levels (measured; newer releases add none beyond 65).
LONGEST = 2000
Error: tuple[type[Exception], ...] = (sqlite3.Error, SQLAlchemyError)

_BEGIN: Mapping[Purpose, str] = {
    # A deferred transaction that turns to writing fails at once when another writer was first.
    "write": "BEGIN IMMEDIATE",
    "migrate": "BEGIN IMMEDIATE",
    "read": "BEGIN",
}
_CACHE_KB: Mapping[Purpose, int] = {"write": 32 * 1024, "migrate": 32 * 1024, "read": 8 * 1024}
# The rows of an empty index as FTS5 writes them: the version of its format, the averages (row 1)
# and the list of levels (row 10). Its source says so: FTS5_CURRENT_VERSION,
# FTS5_AVERAGES_ROWID and FTS5_STRUCTURE_ROWID.
_EMPTY_INDEX = (
    "DELETE FROM search_words_data",
    "DELETE FROM search_words_idx",
    "DELETE FROM search_words_config",
    "INSERT INTO search_words_config VALUES ('version', 4)",
    "INSERT INTO search_words_data VALUES (1, x''), (10, x'00000000000000')",
)
_ANY_WORD = "SELECT rowid FROM search_words WHERE search_words MATCH 'a' LIMIT 1"
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_BROKEN = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_READONLY,
}


# The driver looks for an adapter of all bytes. Where there is none, it goes on looking: a row of
# six values takes twice as long.
sqlite3.register_adapter(bytes, bytes)


class FileGone(sqlite3.OperationalError):
    """The file that was opened is not the one that has its name now."""


def connect(
    purpose: Purpose, ending: Ending, args: tuple[Any, ...], options: dict[str, Any]
) -> DBAPIConnection | None:
    """As the driver does it."""
    return None


def watch(url: URL) -> Callable[[], None]:
    """A function that raises `FileGone` once the file was removed or replaced: what is written to
    it then is lost, and the log of the one must not get into the other."""
    file = Path(url.database or "").absolute()
    first = _identity(file)

    def check() -> None:
        nonlocal first
        now = _identity(file)
        if now is None:
            raise FileGone(f"the file {file.name} is not there")
        first = first or now
        if now != first:
            raise FileGone(f"the file {file.name} was replaced; start the service again")

    return check


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def unfit(driver: DBAPIConnection, *, unsafe: bool) -> str | None:
    """Why nothing should be stored here; `unsafe`: it need not outlive a crash."""
    _, _, file = driver.execute("PRAGMA database_list").fetchone()
    if not all(os.access(one, os.W_OK) for one in (file, Path(file).parent)):
        return "it is read-only"
    if _pragma(driver, "synchronous") not in (2, 3) and not unsafe:
        return "synchronous is not FULL, so that a crash loses what was stored"
    return None


def caveat(driver: DBAPIConnection) -> str | None:
    """Returns None: SQLite has no standby."""
    return None


def connect_args(_: Mapping[str, object], *, prepared: bool) -> dict[str, object]:
    """`isolation_level` None: the driver begins nothing by itself."""
    return {"timeout": BUSY_SECONDS, "isolation_level": None, "cached_statements": 256}


def on_connect(driver: DBAPIConnection, purpose: Purpose) -> None:
    if purpose == "migrate":
        # Of a file that is made now. Turns of a few kilobytes leave less of a larger page empty.
        _pragma(driver, f"page_size = {PAGE}")
    # The switch writes to the file. Those who only read take it as it is.
    if purpose != "read":
        _use_wal(driver)
    _pragma(driver, "synchronous = FULL")
    _pragma(driver, "foreign_keys = ON")
    # What is erased is overwritten, however SQLite was built.
    _pragma(driver, "secure_delete = ON")
    _pragma(driver, "journal_size_limit = 67108864")
    # A page that many commits change is carried from the log to the file once for all of them.
    _pragma(driver, "wal_autocheckpoint = 4000")
    # Fingerprints fall anywhere in their indexes; with 2 MB, the default, each look reads the file.
    _pragma(driver, f"cache_size = -{_CACHE_KB[purpose]}")
    if purpose == "read":
        _pragma(driver, "query_only = ON")
    if purpose == "migrate":
        # Another process may be migrating, and that may take its time.
        _pragma(driver, "busy_timeout = 60000")


def begin(driver: DBAPIConnection, purpose: Purpose, tenant_id: str) -> str | None:
    driver.execute(_BEGIN[purpose])
    return None


def end(driver: DBAPIConnection) -> None:
    """Ends a transaction that has only read."""
    driver.commit()


def act_for(driver: DBAPIConnection, tenant_id: str) -> None:
    """SQLite has no rows that only some may see; our statements name the tenant."""


def together(driver: DBAPIConnection) -> AbstractContextManager[object]:
    """Nothing is gained by sending several statements at once: there is no network in between."""
    return contextlib.nullcontext()


def is_undone(driver: DBAPIConnection) -> bool:
    """A COMMIT that failed here was not carried out: there is no network in between."""
    return True


def scrubbing(driver: DBAPIConnection) -> Iterator[None]:
    """Steps that remove the last traces of what was erased, in between which others may write.

    The full-text index only marks words as erased until its parts are merged. The log holds all
    that was written to it until it is cut, which has to wait for those who read.
    """
    try:
        if not mend_index(driver):
            yield from _merging(driver)
    except sqlite3.Error as error:
        if verdict(error) != "index":
            raise
        rebuild_index(driver)
    while _is_read(driver):
        yield


def _merging(driver: DBAPIConnection) -> Iterator[None]:
    for pages in chain([-_MERGED], repeat(_MERGED)):
        driver.execute("BEGIN IMMEDIATE")
        before = driver.total_changes
        merge = "INSERT INTO search_words (search_words, rank) VALUES ('merge', ?)"
        driver.execute(merge, [pages])
        driver.execute("COMMIT")
        yield
        # As SQLite says it: a merge that changes less than two rows had nothing to do.
        if driver.total_changes - before < 2:
            break


def _is_read(driver: DBAPIConnection) -> bool:
    """Whether somebody reads, so that the log cannot be cut now; nobody is waited for."""
    _pragma(driver, "busy_timeout = 0")
    is_read = bool(_pragma(driver, "wal_checkpoint(TRUNCATE)"))
    _pragma(driver, f"busy_timeout = {int(BUSY_SECONDS * 1000)}")
    return is_read


def index_fault(driver: DBAPIConnection) -> str | None:
    """Returns why the full-text index cannot be read, or None if it can."""
    try:
        driver.execute(_ANY_WORD).fetchall()
    except sqlite3.Error as error:
        if verdict(error) != "index":
            raise
        return f"the full-text index is broken ({error}); run `turnkeep reindex`"
    return None


def mend_index(driver: DBAPIConnection) -> bool:
    """Rebuilds the full-text index if it is broken or has too many levels; returns True if so."""
    if not driver.execute("SELECT 1 FROM sqlite_master WHERE name = 'search_words'").fetchone():
        return False
    record = driver.execute("SELECT length(block) FROM search_words_data WHERE id = 10").fetchone()
    if record and record[0] <= LONGEST and not index_fault(driver):
        return False
    rebuild_index(driver)
    return True


def rebuild_index(driver: DBAPIConnection) -> None:
    """Builds the full-text index from nothing out of `search_texts`, in one transaction.

    SQLite refuses every statement about an index that it cannot open, also "rebuild" and DROP
    TABLE. So the tables that FTS5 keeps it in are first made those of an empty index.
    """
    log.info("the full-text index is rebuilt")
    driver.rollback()
    driver.execute("BEGIN IMMEDIATE")
    try:
        for statement in _EMPTY_INDEX:
            driver.execute(statement)
        driver.execute("INSERT INTO search_words (search_words) VALUES ('rebuild')")
        driver.execute("COMMIT")
    except BaseException:
        driver.rollback()
        raise


def migrated(driver: DBAPIConnection) -> None:
    """SQLite goes by the columns of an index alone."""


def verdict(error: BaseException) -> Verdict:
    if not isinstance(error, sqlite3.Error):
        return "own"
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    # A broken constraint: another process was first, and what we had read is not so any more.
    if code in _BUSY or isinstance(error, sqlite3.IntegrityError):
        return "again"
    if _is_of_index(error):
        return "index"
    if code in _BROKEN or isinstance(error, FileGone) or str(error).startswith("no such table"):
        return "unavailable"
    return "own"


def _is_of_index(error: sqlite3.Error) -> bool:
    """Returns True if the full-text index is broken: SQLite 3.40 has a code for it, newer releases
    have texts."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    texts = ("fts5: corrupt", "invalid fts5 file format")
    return code == sqlite3.SQLITE_CORRUPT_VTAB or str(error).startswith(texts)


def committed(driver: DBAPIConnection, transaction: str) -> bool | None:
    """Never asked: see `is_undone`."""
    return False


def confirm(driver: DBAPIConnection) -> None:
    """There is no other server."""


def _use_wal(driver: DBAPIConnection) -> None:
    # The switch does not wait for other connections as statements do, so we wait here.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        with contextlib.suppress(sqlite3.OperationalError):
            if _pragma(driver, "journal_mode = WAL") == "wal":
                return
        if time.monotonic() > deadline:
            raise sqlite3.OperationalError("the file cannot be switched to write-ahead logging")
        time.sleep(0.01)


def _pragma(driver: DBAPIConnection, setting: str) -> object:
    row = driver.execute(f"PRAGMA {setting}").fetchone()
    return row[0] if row else None
