"""What goes between the service and the process that writes, byte by byte."""

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.json.large import Chunks, StaysHere
from app.storage.process import Frames, framed

VALUES = st.lists(st.binary(max_size=300) | st.integers() | st.text(), max_size=8)


@given(values=VALUES, cuts=st.lists(st.integers(0, 4000), max_size=12))
def test_values_come_out_as_they_went_in_wherever_the_bytes_are_cut(
    values: list[object], cuts: list[int]
) -> None:
    sent = b"".join(framed(value, number) for number, value in enumerate(values))
    edges = [0, *sorted({cut for cut in cuts if cut < len(sent)}), len(sent)]
    frames = Frames()
    pieces = (sent[start:end] for start, end in pairwise(edges))
    assert [one for piece in pieces for one in frames.feed(piece)] == list(enumerate(values))


def test_long_bytes_are_not_sent() -> None:
    with pytest.raises(StaysHere):
        pickle.dumps(Chunks(lambda: iter([b"long"])))
