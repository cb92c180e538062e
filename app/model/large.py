"""Bytes that are never held all at once: long streams, and what is made of them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

# From this size on, bytes are kept in pieces of this size.
PIECE = 1024 * 1024
# Below this size it costs less to copy bytes than to handle them as a piece of their own.
SHORT = 64 * 1024


class StaysHere(Exception):
    """It cannot be sent to another process."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """Bytes in pieces; `read` goes through them from the beginning, as often as it is asked."""

    read: Callable[[], Iterator[bytes]]

    def __reduce__(self) -> NoReturn:
        raise StaysHere

    def __iter__(self) -> Iterator[bytes]:
        """Pieces of one size, but for the last."""
        gathered = bytearray()
        for piece in self.read():
            for start in range(0, len(piece), PIECE):
                gathered += piece[start : start + PIECE]
                if len(gathered) >= PIECE:
                    yield bytes(gathered[:PIECE])
                    del gathered[:PIECE]
        if gathered:
            yield bytes(gathered)


Bytes: TypeAlias = bytes | Chunks


class Ascii:
    """Long ASCII text that stays the bytes it is: its parts are text, and are read one by one."""

    def __init__(self, value: Bytes) -> None:
        self._pieces = [value] if isinstance(value, bytes) else list(value)
        self._size = len(self._pieces[0]) if self._pieces else 1
        self._length = sum(map(len, self._pieces))

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: "slice[int | None, int | None]") -> str:
        start, stop, _ = part.indices(self._length)
        return b"".join(self._parts(start, stop)).decode("ascii")

    def __str__(self) -> str:
        return self[:]

    def count(self, sign: str, start: int, stop: int) -> int:
        """How often one sign stands between two places."""
        return self[start:stop].count(sign)

    def _parts(self, start: int, stop: int) -> Iterator[bytes]:
        while start < stop:
            number, at = divmod(start, self._size)
            part = self._pieces[number][at : at + stop - start]
            yield part
            start += len(part)


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


def hashed(pieces: Iterable[bytes], begun: "hashlib._Hash") -> None:
    """Goes on with a hash. Short pieces are joined: the hash lets go of Python's lock for each, and
    whoever takes it up again at once keeps it from all who wait."""
    lot = bytearray()
    for piece in pieces:
        lot += piece
        if len(lot) >= SHORT:
            begun.update(lot)
            lot = bytearray()
    begun.update(lot)


def is_long(value: Bytes) -> bool:
    return isinstance(value, Chunks) or len(value) > PIECE


def whole(value: Bytes) -> bytes:
    return value if isinstance(value, bytes) else b"".join(value)


def digest(value: Bytes) -> str:
    """The sha256 in hexadecimal."""
    counted = hashlib.sha256()
    for piece in (value,) if isinstance(value, bytes) else value:
        counted.update(piece)
    return counted.hexdigest()
