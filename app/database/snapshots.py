"""Connections that read, kept open from one question to the next.

Their transactions are begun and ended here. SQLAlchemy hears nothing of them: it would take several
times as long for that as SQLite does for a small query.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from traceback import clear_frames
from typing import TypeVar

from sqlalchemy import Connection, Engine

from ..model.errors import Unavailable
from .engines import discard, driver_of, kind_of, original, reason
from .verdicts import Ending

T = TypeVar("T")
log = logging.getLogger(__name__)
# Seconds before each try.
_PAUSES = (0.0, 0.02, 0.1)


class Snapshots:
    """Answers questions, each in one snapshot. `most`: so many connections are kept."""

    def __init__(self, engine: Engine, most: int, ending: Ending) -> None:
        self._engine = engine
        self._most = most
        self._ending = ending
        self._kind = kind_of(engine.url)
        self._check = self._kind.watch(engine.url)
        self._idle: list[Connection] = []

    def ask(self, tenant_id: str, question: Callable[[Connection], T]) -> T:
        """What the question gives; where the database failed, after a few tries. Raises
        `Unavailable`.

        A question reads its rows to their end: SQLite goes on with a snapshot of which rows are
        left, and who asks next would see that one.
        """
        why = ""
        for pause in _PAUSES:
            if pause:
                time.sleep(pause)
            try:
                return self._ask(tenant_id, question)
            except Exception as error:
                verdict = self._kind.verdict(original(error))
                if verdict == "own":
                    raise
                why = reason(error)
                if verdict in ("unavailable", "index") or self._ending.begun:
                    raise Unavailable.silent(why) from error
                log.info("a read is tried again: %s", why)
                # When one connection broke, the others probably did too.
                self.drop()
        raise Unavailable.silent(why)

    def _ask(self, tenant_id: str, question: Callable[[Connection], T]) -> T:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._engine.connect()
        sound = False
        try:
            self._check()
            self._kind.begin(driver_of(connection), "read", tenant_id)
            sound = True
            return question(connection)
        except BaseException as error:
            # Before anybody else is given the connection: SQLite goes on with an old snapshot as
            # long as rows of it are not read.
            _let_go(error)
            is_own = isinstance(error, Exception) and not isinstance(error, self._kind.Error)
            sound = sound and is_own
            raise
        finally:
            self._end(connection, sound=sound)

    def _end(self, connection: Connection, *, sound: bool) -> None:
        kept = False
        try:
            if sound:
                self._kind.end(driver_of(connection))
                kept = len(self._idle) < self._most
        finally:
            if kept:
                self._idle.append(connection)
            else:
                discard(connection)

    def drop(self) -> None:
        """Closes the connections that nobody uses now."""
        with suppress(IndexError):
            while True:
                discard(self._idle.pop())

    def close(self) -> None:
        self._most = 0
        self.drop()


def _let_go(error: BaseException | None) -> None:
    """Whoever keeps an error keeps what its frames hold: rows that were read in part, and SQLite
    does not end a snapshot before them."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
