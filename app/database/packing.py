"""Packing: what a turn says is kept once and small, in one zstd frame that is cut in two.

The blocks are compressed first and stand in their column as the beginning of the frame, which can
be read without the rest. The payload says the same again: it goes on where the blocks end, so it is
little more than references to them, and needs them to be read. Both columns joined are a frame
as RFC 8878 has it.

Rows of earlier releases hold the values as they are, and so does a new row that would not become
shorter. Blocks are JSON and begin with `[`, a frame begins with its magic number. What cannot be
unpacked is given as it stands: nobody can read it, the hash of the turn does not fit, and `verify`
says so.
"""

import threading

import zstandard
from zstandard import COMPRESSOBJ_FLUSH_BLOCK, FRAME_HEADER, ZstdError

from ..model.large import PIECE

# What a frame may hold, now and in all releases to come; longer values are stored as they are.
LONGEST = 64 * 1024 * 1024
_LEVEL = 3
# More than any frame of ours asks for; the reader of a damaged one takes no more memory either.
_WINDOW = 8 * 1024 * 1024


class _Tools(threading.local):
    """Their memory is used again from value to value, by one thread only."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW)


_tools = _Tools()


def packed(payload: bytes, blocks: bytes) -> tuple[bytes, bytes]:
    """The two values as they are stored; empty ones, whose bytes stand elsewhere, stay empty."""
    size = len(payload) + len(blocks)
    if not blocks or size > LONGEST:
        return payload, blocks
    frame = _tools.compressor.compressobj(size=size)
    first = frame.compress(blocks) + frame.flush(COMPRESSOBJ_FLUSH_BLOCK)
    rest = frame.compress(payload) + frame.flush()
    # What looks like a frame must be one.
    if len(first) + len(rest) < size or blocks.startswith(FRAME_HEADER):
        return rest, first
    return payload, blocks


def unpacked(payload: bytes, blocks: bytes) -> tuple[bytes, bytes]:
    """The two values; a payload that was not read is empty and stays empty."""
    shown = unpacked_blocks(blocks)
    if not payload or not blocks.startswith(FRAME_HEADER):
        return payload, shown
    both = _content(blocks + payload, LONGEST)
    return (payload if both is None else both[len(shown) :]), shown


def unpacked_blocks(blocks: bytes) -> bytes:
    if not blocks.startswith(FRAME_HEADER):
        return blocks
    found = _content(blocks, LONGEST)
    return blocks if found is None else found


def packed_piece(piece: bytes) -> bytes:
    """A piece of a long value, in a frame of its own."""
    frame = _tools.compressor.compress(piece)
    return frame if len(frame) < len(piece) or piece.startswith(FRAME_HEADER) else piece


def unpacked_piece(piece: bytes) -> bytes:
    if not piece.startswith(FRAME_HEADER):
        return piece
    found = _content(piece, PIECE)
    return piece if found is None else found


def _content(frame: bytes, most: int) -> bytes | None:
    """What the frame holds as far as it is there; never more than it says, or than `most`.

    None where there is nothing that can be read: empty blocks would be looked for in pieces.
    """
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= most:
            return None
        with _tools.decompressor.stream_reader(frame) as reader:
            return reader.read(size) or None
    except ZstdError:
        return None
