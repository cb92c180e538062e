"""The file that a command writes: it appears when it is whole."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def output(name: str | None) -> Iterator[BinaryIO]:
    """A file appears when it is whole, and not at all if the command failed."""
    if name is None or name == "-":
        yield sys.stdout.buffer
        return
    path = Path(name)
    if path.exists() and not path.is_file():
        # A device or a pipe is written to, never replaced.
        with path.open("wb") as file:
            yield file
        return
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    # "x": what has this name already is somebody else's, be it a file or a link.
    with unfinished.open("xb") as file:
        try:
            yield file
            file.flush()
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink()
            raise
