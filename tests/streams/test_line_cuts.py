"""Cuts where one sign has several bytes: a line end, the mark of UTF-8, a character.

The events are told one by one, so that a reader that is wrong in one piece as well is seen.
"""

import itertools
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest

from app.formats.shared.events.reader import EventReader
from tests.streams.posts import LIMITS, sized

MARK = b"\xef\xbb\xbf"
# An event over two lines ends too early where one line end is taken for two.
TOLD: list[Any] = [{"a": "é€😀", "b": [1]}, {"c": 2}, {"d": ["ü"]}]
LINES = (
    'data: {"a":"é€😀",',
    'data: "b":[1]}',
    "",
    'data: {"c":2}',
    "",
    'data: {"d":',
    'data: ["ü"]}',
    "",
    "",
)
ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}
STREAMS = {
    f"{name}{', marked' * bool(mark)}": mark + end.join(LINES).encode()
    for (name, end), mark in itertools.product(ENDS.items(), (b"", MARK))
}
every = pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)


def assert_told(*pieces: bytes) -> None:
    reader = EventReader(LIMITS)
    events = [*chain.from_iterable(map(reader.feed, pieces)), *reader.finish()]
    assert [event.value for event in events] == TOLD, pieces
    assert (reader.strays, reader.cut) == (0, False), pieces


@every
def test_a_cut_in_two_is_not_noticed(stream: bytes) -> None:
    for cut in range(len(stream) + 1):
        assert_told(stream[:cut], stream[cut:])


@every
def test_an_empty_piece_in_a_cut_is_not_noticed(stream: bytes) -> None:
    for cut in range(len(stream) + 1):
        assert_told(stream[:cut], b"", stream[cut:])


@every
def test_two_cuts_side_by_side_are_not_noticed(stream: bytes) -> None:
    for cut, width in itertools.product(range(len(stream)), (1, 2, 3)):
        assert_told(stream[:cut], stream[cut : cut + width], stream[cut + width :])


@every
def test_small_pieces_are_not_noticed(stream: bytes) -> None:
    for size in range(1, 8):
        assert_told(*sized(stream, size))


@pytest.mark.parametrize("pieces", [(b"\r", b"\n", b"\n"), (b"\r", b"\n\n"), (b"\r\n", b"\n")])
def test_a_line_feed_behind_a_whole_line_end_is_an_end_of_its_own(pieces: Sequence[bytes]) -> None:
    """It ends the event, although the next line would complete it."""
    reader = EventReader(LIMITS)
    stream = (b"data: {", *pieces, b"data: }", b"\n\n")
    events = [*chain.from_iterable(map(reader.feed, stream)), *reader.finish()]
    assert [event.value for event in events] == [None, None]
