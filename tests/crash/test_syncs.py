from pathlib import Path

import pytest

from tests.crash.syncs import MISSING, RECEIPTS, is_possible, seen_in, traced

possible = pytest.mark.skipif(not is_possible(), reason=MISSING)
WRITE = '7 pwrite64(22</d/turnkeep.db-wal>, "..synced-0-0-..", 4096, 32) = 4096\n'
SYNC = "7 fdatasync(22</d/turnkeep.db-wal>) = 0\n"
BEGUN = "7 fdatasync(22</d/turnkeep.db-wal> <unfinished ...>\n"
ENDED = "7 <... fdatasync resumed>) = 0\n"
TOLD = '5 write(16<TCP:[127.0.0.1:8420->127.0.0.1:5]>, "{..synced-0-0-..}", 140) = 140\n'


@possible
def test_every_receipt_comes_after_a_sync_of_the_log(tmp_path: Path) -> None:
    seen = traced(tmp_path)
    assert len(seen.told) == RECEIPTS
    assert seen.too_early == set()
    assert seen.outside == []


@possible
@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_a_server_that_does_not_sync_is_found_out(tmp_path: Path, synchronous: str) -> None:
    assert traced(tmp_path, synchronous).too_early


@pytest.mark.parametrize(
    "lines",
    [[WRITE, SYNC, TOLD], [WRITE, BEGUN, ENDED, TOLD], [WRITE, SYNC, WRITE, TOLD]],
    ids=["synced", "synced in two lines", "its page is written again by another"],
)
def test_a_trace_that_is_good(lines: list[str]) -> None:
    seen = seen_in(lines)
    assert seen.told == {"synced-0-0-"}
    assert seen.too_early == set()


@pytest.mark.parametrize(
    "lines",
    [
        [WRITE, TOLD, SYNC],
        [SYNC, WRITE, TOLD],
        [WRITE, BEGUN, TOLD, ENDED],
        [BEGUN, WRITE, ENDED, TOLD],
        [WRITE, SYNC.replace("-wal", ""), TOLD],
        [WRITE, SYNC.replace("= 0", "= -1 EIO"), TOLD],
        [TOLD],
    ],
    ids=["after", "before", "still running", "begun before", "other file", "failed", "not written"],
)
def test_a_trace_that_is_not(lines: list[str]) -> None:
    assert seen_in(lines).too_early == {"synced-0-0-"}


def test_a_connection_to_elsewhere_is_seen() -> None:
    near = '5 connect(9<socket:[2]>, {sa_family=AF_INET, sin_addr=inet_addr("127.0.0.1")}, 16) = 0'
    assert seen_in([near]).outside == []
    assert seen_in([near.replace("127.0.0.1", "192.0.2.1")]).outside
