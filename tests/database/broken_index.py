"""Full-text indexes of SQLite as they break: by too many levels, or by lost and changed rows."""

import contextlib
import sqlite3
from collections.abc import Iterator

from app.database.sqlite import LONGEST

# The list of levels: a cookie of four bytes, then numbers as FTS5 writes them.
RECORD = "SELECT block FROM search_words_data WHERE id = 10"
# SQLite cannot open an index of more than 2,000 levels.
TOO_MANY = 2_002
BREAKS = {
    "levels": "",
    "record": "UPDATE search_words_data SET block = x'ffffffffffffffff' WHERE id = 10",
    "no record": "DELETE FROM search_words_data WHERE id = 10",
    "no averages": "DELETE FROM search_words_data WHERE id = 1",
    "no pages": "DELETE FROM search_words_data WHERE id > 10",
    "no version": "DELETE FROM search_words_config",
}


@contextlib.contextmanager
def opened(url: str) -> Iterator[sqlite3.Connection]:
    file = url.removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None, timeout=30)) as driver:
        yield driver


def break_index(url: str, how: str = "levels") -> None:
    if how == "levels":
        add_levels(url, TOO_MANY)
        return
    with opened(url) as driver:
        assert driver.execute(BREAKS[how]).rowcount > 0


def add_levels(url: str, count: int = LONGEST // 2) -> None:
    """Puts empty levels in front of the others, as merges of SQLite 3.40.1 do."""
    with opened(url) as driver:
        driver.execute("BEGIN IMMEDIATE")
        (record,) = driver.execute(RECORD).fetchone()
        start, levels = _number(record, _start(record))
        end, _ = _number(record, _number(record, start)[0])
        longer = record[: _start(record)] + _written(levels + count) + record[start:end]
        longer += bytes(2 * count) + record[end:]
        driver.execute("UPDATE search_words_data SET block = ? WHERE id = 10", [longer])
        driver.execute("COMMIT")


def levels(url: str) -> int:
    with opened(url) as driver:
        (record,) = driver.execute(RECORD).fetchone()
    return _number(record, _start(record))[1]


def check_index(url: str) -> None:
    """Raises `sqlite3.Error` unless the index has the words of its table and no others."""
    with opened(url) as driver:
        check = "INSERT INTO search_words (search_words, rank) VALUES ('integrity-check', 1)"
        driver.execute(check)


def _start(record: bytes) -> int:
    """Newer releases of SQLite have four more bytes after the cookie in some records."""
    return 8 if record[4:8] == b"\xff\x00\x00\x01" else 4


def _number(record: bytes, at: int) -> tuple[int, int]:
    """Reads a number of seven bits a byte; returns where it ends, and the number."""
    value = 0
    while True:
        byte, at = record[at], at + 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return at, value


def _written(number: int) -> bytes:
    return bytes([number >> 7 | 0x80, number & 0x7F]) if number > 0x7F else bytes([number])
