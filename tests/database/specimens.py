"""Small records to store, and small commands: any decision, any rows, the next turn."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Generic, TypeVar

from app.conversations.commands import ensured
from app.database.database import Database
from app.ledger.book import Entries
from app.ledger.load_request import Keys
from app.ledger.records import Call, KeyRecord, MatchedBy, ProviderId, ResultRecord, TurnRecord
from app.ledger.slice import Change, Slice
from app.model import ids
from app.model.large import whole

T = TypeVar("T")

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def turn(seq: int, turn_id: str | None = None, payload: bytes = b"{}") -> TurnRecord:
    return TurnRecord(
        seq=seq,
        turn_id=turn_id or f"turn-{seq}",
        speaker="ai",
        provider="openai",
        format="openai",
        model="gpt",
        payload=payload,
        blocks=b"[]",
        metadata=b"{}",
        content_hash=b"content",
        hash=b"hash",
        created_at=NOON,
    )


def call(
    seq: int,
    index: int = 0,
    raw_id: str | None = "call_0",
    *,
    name: str = "read",
    answered: bool = False,
) -> Call:
    canonical = ids.canonical_id("openai", raw_id, name, f"turn-{seq}", index)
    return Call(
        canonical, raw_id, name, "openai", "gpt", f"turn-{seq}", seq, index, answered=answered
    )


def result(
    seq: int,
    place: int = 0,
    raw_id: str | None = "call_0",
    *,
    call_id: str | None = None,
    matched_by: MatchedBy | None = None,
) -> ResultRecord:
    rule: MatchedBy = matched_by or ("raw" if call_id else "none")
    return ResultRecord(
        seq, place, f"turn-{seq}", raw_id, "read", "ok", call_id, rule, repeat=False
    )


@dataclass(frozen=True)
class Do(Generic[T]):
    """A command that decides as it is told."""

    conversation_id: str
    how: Callable[[Slice], Change[T]]
    asks: Keys = Keys()  # noqa: RUF009
    adds: int = 0
    size: int = 0

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        return self.asks

    def decide(self, known: Slice) -> Change[T]:
        return self.how(known)


def entries(
    calls: Sequence[Call] = (),
    assigned: Sequence[ProviderId] = (),
    results: Sequence[ResultRecord] = (),
) -> Entries:
    return Entries(
        {one.id: one for one in calls},
        tuple(assigned),
        {(one.seq, one.place): one for one in results},
    )


def rows(
    cid: str,
    turns: Sequence[TurnRecord] = (),
    calls: Sequence[Call] = (),
    assigned: Sequence[ProviderId] = (),
    results: Sequence[ResultRecord] = (),
    keys: Sequence[KeyRecord] = (),
) -> Do[None]:
    """A command that adds rows to a conversation, which is made when it is absent."""
    waiting = sum(result.call_id is None for result in results)

    def how(known: Slice) -> Change[None]:
        there, made = ensured(known)
        assert there.head is not None
        seqs = ({one.seq for one in some} for some in (turns, calls, results))
        newest = max({0}.union(*seqs))
        head = replace(
            there.head,
            orphans=there.head.orphans + waiting,
            version=max(there.version, newest),
        )
        ledger = entries(calls, assigned, results)
        return made.then(
            Change(None, head=head, turns=tuple(turns), entries=ledger, keys=tuple(keys))
        )

    return Do(cid, how)


def append(cid: str, label: str = "") -> Do[int]:
    """The next turn of a conversation that may not be there yet; its receipt is its seq."""

    def how(known: Slice) -> Change[int]:
        there, made = ensured(known)
        assert there.head is not None
        seq = there.version + 1
        book = there.book.copy()
        book.add_calls([call(seq, 0), call(seq, 1)], [])
        head = replace(there.head, version=seq, head_hash=b"%d" % seq)
        turns = (turn(seq, payload=label.encode()),)
        return made.then(Change(seq, head=head, turns=turns, book=book, entries=book.entries()))

    return Do(cid, how, adds=1)


def labels(database: Database, cid: str) -> list[str]:
    """What the appended turns were labelled with, in order."""
    return database.read_now(
        lambda store: [whole(turn.payload).decode() for turn in store.turns.page(cid)]
    )


def append_many(url: str, groups: list[list[str]], writer: str, count: int) -> None:
    """What a process does: `count` turns for each conversation, those of a group all at once."""

    async def all_at_once(database: Database, cids: list[str]) -> None:
        writes = (
            database.write(append(cid, f"{writer}-{number}"))
            for number in range(count)
            for cid in cids
        )
        await asyncio.gather(*writes)

    with Database(url, pg_writers=2) as database:
        for cids in groups:
            asyncio.run(all_at_once(database, cids))
