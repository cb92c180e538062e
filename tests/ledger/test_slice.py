"""What is known of a conversation once a change of it is decided."""

from app.ledger.records import KeyRecord, ProviderId, RevisionRecord, ToolSetRecord
from app.ledger.slice import Change, Custom, Slice
from tests.database.specimens import NOON, call, entries, result, turn


def test_each_part_of_a_change_is_counted_under_its_name() -> None:
    change: Change[None] = Change(
        None,
        turns=(turn(1),),
        revisions=(RevisionRecord(1, 1, turn(1)),) * 2,
        entries=entries(
            [call(1, index) for index in range(3)],
            [ProviderId("kimi", str(number), "") for number in range(5)],
            [result(1, place) for place in range(4)],
        ),
        tool_sets=(ToolSetRecord(1, 1, "openai", "openai", b"", b"", NOON),) * 6,
        keys=(KeyRecord("k", b"", 201, b""),) * 7,
    )
    known = Slice.absent("c1", NOON, Custom()).after(change).after(change)
    assert known.counted() == {
        "turns": 2,
        "revisions": 4,
        "tool_calls": 6,
        "tool_results": 8,
        "provider_ids": 10,
        "tool_sets": 12,
        "idempotency_keys": 14,
    }
