"""What was erased leaves the log of SQLite, whatever becomes of the connection meanwhile."""

import threading
from dataclasses import replace
from pathlib import Path

from app.conversations.commands import Erase, ensured
from app.database.database import Database
from app.database.migrations import upgrade
from app.database.store import ReadStore
from app.ledger.slice import Change, Slice
from tests.conversations.test_erasing import comes_true
from tests.database.specimens import Do, append, turn


def _impossible(known: Slice) -> Change[int]:
    """A turn that cannot be written down: its model is no text."""
    there, made = ensured(known)
    assert there.head is not None
    head = replace(there.head, version=there.version + 1, head_hash=b"x")
    record = replace(turn(there.version + 1), model=1)  # type: ignore[arg-type]
    return made.then(Change(1, head=head, turns=(record,)))


def test_the_log_is_cut_on_the_next_connection_where_one_was_given_up(tmp_path: Path) -> None:
    file = tmp_path / "turnkeep.db"
    upgrade(f"sqlite:///{file}")
    reads, may_end = threading.Event(), threading.Event()
    with Database(f"sqlite:///{file}") as database:
        for cid in ("gone", "stays"):
            database.write_now(append(cid, "x" * 5000))

        def reading(store: ReadStore) -> None:
            store.turns.page("stays")
            reads.set()
            may_end.wait(30)

        # Nobody can cut the log of a snapshot that is read.
        reader = threading.Thread(target=database.read_now, args=[reading])
        reader.start()
        assert reads.wait(30)
        database.write_now(Erase("gone"))
        refused = database.write_soon(Do("stays", _impossible)).exception(30)
        may_end.set()
        reader.join()
        assert isinstance(refused, AttributeError)
        database.write_now(append("stays", "more"))
        log = Path(f"{file}-wal")
        assert comes_true(lambda: log.stat().st_size == 0)
