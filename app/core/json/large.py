"""Bytes that are never held all at once: long streams, and what is made of them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

# From this size on, bytes are kept in pieces of this size.
PIECE = 1024 * 1024
# Below this size it costs less to copy bytes than to handle them as a piece of their own.
SHORT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Chunks:
    """Bytes in pieces; `read` goes through them from the beginning, as often as it is asked."""

    read: Callable[[], Iterator[bytes]]

    def __iter__(self) -> Iterator[bytes]:
        """Pieces of one size, but for the last."""
        gathered = bytearray()
        for piece in self.read():
            gathered += piece
            while len(gathered) >= PIECE:
                yield bytes(gathered[:PIECE])
                del gathered[:PIECE]
        if gathered:
            yield bytes(gathered)


def gathered(pieces: Iterable[bytes]) -> list[bytes]:
    """The same bytes in fewer pieces: long ones stay as they are, short ones are joined."""
    found: list[bytes] = []
    short: list[bytes] = []
    for piece in pieces:
        if len(piece) < SHORT:
            short.append(piece)
        else:
            found += (b"".join(short), piece) if short else (piece,)
            short = []
    return [*found, b"".join(short)] if short or not found else found


Bytes: TypeAlias = bytes | Chunks


def whole(value: Bytes) -> bytes:
    return value if isinstance(value, bytes) else b"".join(value)


def digest(value: Bytes) -> str:
    """The sha256 in hexadecimal."""
    counted = hashlib.sha256()
    for piece in (value,) if isinstance(value, bytes) else value:
        counted.update(piece)
    return counted.hexdigest()
