"""Small records to store, and the smallest deed that appends a turn as the service does."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from app.core.identity import ids
from app.core.json.large import whole
from app.core.ledger.matching import Call, MatchedBy
from app.core.ledger.records import ResultRecord, TurnRecord
from app.storage.database import Database
from app.storage.store import Store

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


def append(cid: str, label: str = "") -> Callable[[Store], int]:
    """A deed: the next turn of a conversation that may not be there yet; returns its seq."""

    def deed(store: Store) -> int:
        store.create(cid, None, b"{}")
        head = store.lock(cid)
        assert head is not None
        seq = head.version + 1
        store.insert_turns(cid, [turn(seq, payload=label.encode())])
        store.insert_calls(cid, [call(seq, 0), call(seq, 1)])
        store.advance(cid, version=seq, head_hash=b"%d" % seq, orphans=0)
        return seq

    return deed


def labels(database: Database, cid: str) -> list[str]:
    """What the appended turns were labelled with, in order."""
    return database.read_now(
        lambda store: [whole(turn.payload).decode() for turn in store.turns(cid)]
    )


def append_many(url: str, cids: list[str], writer: str, count: int) -> None:
    """What a process does: `count` turns for each conversation, all at once."""

    async def all_at_once(database: Database) -> None:
        writes = (
            database.write(cid, append(cid, f"{writer}-{number}"))
            for number in range(count)
            for cid in cids
        )
        await asyncio.gather(*writes)

    with Database(url) as database:
        asyncio.run(all_at_once(database))
