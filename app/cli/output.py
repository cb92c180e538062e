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
    with _new(unfinished, name) as file:
        try:
            yield file
            file.flush()
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink()
            raise


def _new(unfinished: Path, name: str) -> BinaryIO:
    """The file that is written first. Where there can be none, it is the file with the `name` that
    cannot be: nobody has asked for another."""
    try:
        # "x": what has this name already is somebody else's, be it a file or a link.
        return unfinished.open("xb")
    except OSError as error:
        error.filename = name
        raise
