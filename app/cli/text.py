"""What is printed for people. Names of files and words of others may hold anything."""

import sys
import time
from typing import TextIO

_WIDTH = 24


def printable(words: str) -> str:
    """One line: what would move the cursor, change colours or end the line is escaped."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in words)


def complain(words: str) -> None:
    """One line on standard error."""
    print(f"turnkeep: {printable(words)}", file=sys.stderr)


class Progress:
    """How far a long command is: a bar on a terminal, a line now and then elsewhere, or nothing.

    `total` is what `done` grows to; 0 when nobody knows.
    """

    def __init__(self, total: int, *, quiet: bool = False, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._total = total
        self._quiet = quiet
        self._bar = self._out.isatty()
        self._pause = 0.1 if self._bar else 10.0
        self._shown_at = time.monotonic() if not self._bar else 0.0
        self._length = 0

    def show(self, done: int, words: str) -> None:
        now = time.monotonic()
        if self._quiet or now - self._shown_at < self._pause:
            return
        self._shown_at = now
        self._write(f"{self._share(done)}{printable(words)}")

    def say(self, line: str) -> None:
        """A line of its own, above the bar."""
        self.clear()
        print(printable(line), file=self._out, flush=True)

    def clear(self) -> None:
        if self._length:
            self._out.write("\r" + " " * self._length + "\r")
            self._out.flush()
            self._length = 0

    def _share(self, done: int) -> str:
        if not self._total:
            return ""
        share = min(done / self._total, 1.0)
        if not self._bar:
            return f"{share:.0%}  "
        full = int(share * _WIDTH)
        return f"[{'#' * full}{'.' * (_WIDTH - full)}] {share:4.0%}  "

    def _write(self, text: str) -> None:
        if not self._bar:
            print(text, file=self._out, flush=True)
            return
        padded = text.ljust(self._length)
        self._out.write(f"\r{padded}")
        self._out.flush()
        self._length = len(text)
