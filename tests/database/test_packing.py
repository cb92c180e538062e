"""What is packed comes back, what is not packed too; nothing that is stored can swell."""

import tracemalloc
from dataclasses import replace

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from zstandard import FRAME_HEADER

from app.database.database import Database
from app.database.packing import (
    LONGEST,
    packed,
    packed_piece,
    unpacked,
    unpacked_blocks,
    unpacked_piece,
)
from app.ledger.records import TurnRecord
from app.model.large import PIECE
from tests.database.specimens import rows, turn
from tests.verify.test_verify import tamper

SAID = " ".join(f"word{number}" for number in range(300))
PAYLOAD = b'{"role":"user","content":"%s"}' % SAID.encode()
BLOCKS = b'[{"type":"text","text":"%s"}]' % SAID.encode()
# Bytes that repeat, bytes that do not, and those that look packed already.
VALUES = st.one_of(
    st.binary(),
    st.builds(lambda one, times: one * times, st.binary(max_size=40), st.integers(0, 500)),
    st.binary().map(FRAME_HEADER.__add__),
    st.binary().map(zstandard.compress),
)


@given(payload=VALUES, blocks=VALUES)
def test_what_is_packed_comes_back(payload: bytes, blocks: bytes) -> None:
    stored = packed(payload, blocks)
    # Empty blocks stand in pieces; then their row holds nothing.
    assert unpacked(*stored) == (payload, blocks)
    assert unpacked_blocks(stored[1]) == blocks
    assert unpacked(b"", stored[1]) == (b"", blocks)


@given(piece=VALUES.filter(bool))
def test_a_piece_comes_back(piece: bytes) -> None:
    assert unpacked_piece(packed_piece(piece)) == piece


def test_a_payload_that_repeats_the_blocks_takes_little() -> None:
    payload, blocks = packed(PAYLOAD, BLOCKS)
    assert len(payload) < 60
    assert len(blocks) < len(BLOCKS) / 2


def test_both_values_joined_are_a_frame_that_every_reader_knows() -> None:
    payload, blocks = packed(PAYLOAD, BLOCKS)
    assert zstandard.ZstdDecompressor().decompress(blocks + payload) == BLOCKS + PAYLOAD


def test_what_would_not_become_shorter_is_stored_as_it_is() -> None:
    assert packed(b"{}", b"[]") == (b"{}", b"[]")
    assert packed_piece(b"short") == b"short"


def test_what_is_too_long_for_a_frame_is_stored_as_it_is() -> None:
    blocks = bytes(LONGEST)
    assert packed(b"{}", blocks)[1] is blocks


@pytest.mark.parametrize("at", [4, 5, 9, len(packed(PAYLOAD, BLOCKS)[1]) // 2])
@pytest.mark.parametrize("instead", [b"", bytes(64), b"\xff" * 64])
def test_damaged_blocks_are_never_taken_for_others(at: int, instead: bytes) -> None:
    """Not for those in pieces either, which are empty."""
    payload, blocks = packed(PAYLOAD, BLOCKS)
    broken = blocks[:at] + instead
    shown = unpacked_blocks(broken)
    assert shown == broken or (shown and BLOCKS.startswith(shown) and shown != BLOCKS)
    assert unpacked(payload, broken)[1] == shown


def test_a_damaged_payload_leaves_the_blocks_readable() -> None:
    _, blocks = packed(PAYLOAD, BLOCKS)
    assert unpacked(b"\xff" * 40, blocks) == (b"\xff" * 40, BLOCKS)


def swelling(told: int, held: int) -> bytes:
    """A frame that says how long its content is, and is not believed."""
    frame = zstandard.ZstdCompressor().compress(bytes(held))
    # Of 4 MB and more the size stands in four bytes behind magic number, descriptor and window.
    size = held.to_bytes(4, "little")
    assert frame[6:10] == size
    return frame[:6] + told.to_bytes(4, "little") + frame[10:]


@pytest.mark.parametrize("told", [10, 1000, LONGEST + 1, 2**32 - 1])
def test_no_frame_swells_beyond_what_it_says_or_may_hold(told: int) -> None:
    frame = swelling(told, 4 * LONGEST)
    tracemalloc.start()
    unpacked_blocks(frame)
    unpacked_piece(frame)
    unpacked(b"{}", frame)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_piece_holds_no_more_than_a_piece() -> None:
    frame = zstandard.ZstdCompressor().compress(bytes(PIECE + 1))
    assert unpacked_piece(frame) == frame


@pytest.mark.usefixtures("conversation")
def test_rows_of_earlier_releases_stand_beside_packed_ones(
    database: Database, database_url: str
) -> None:
    written = [replace(turn(seq), payload=PAYLOAD, blocks=BLOCKS) for seq in (1, 2)]
    database.write_now(rows("c1", written))
    as_before = {"payload": PAYLOAD, "blocks": BLOCKS}
    set_both = "UPDATE turns SET payload = :payload, blocks = :blocks WHERE seq = 1"
    tamper(database_url, set_both, **as_before)

    def read(*, payloads: bool) -> list[TurnRecord]:
        return database.read_now(lambda store: store.turns.page("c1", payloads=payloads))

    assert read(payloads=True) == written
    assert read(payloads=False) == [replace(one, payload=b"") for one in written]
