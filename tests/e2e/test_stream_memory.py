"""Long streams do not pile up in memory. `python -m bench.stream_memory` measures longer ones."""

import pytest

from bench.stream_memory import MEGABYTE, measured

SPARE = 64 * MEGABYTE


@pytest.mark.parametrize(
    ("size", "status"), [(24 * MEGABYTE, 201), (64 * MEGABYTE, 413)], ids=["stored", "refused"]
)
def test_memory_grows_by_little_more_than_what_is_stored(size: int, status: int) -> None:
    answered, grown, stored = measured(size, None)
    assert answered == status
    assert stored >= size if status == 201 else stored < MEGABYTE
    assert grown < stored + SPARE
