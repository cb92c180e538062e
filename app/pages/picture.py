"""All calls of a conversation at a glance: one mark for each, in the order of their turns."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ..audit.queries import chosen_result, state_of
from ..database.store import ReadStore
from ..ledger.records import Call, CallRecord, ResultRecord

# Calls that are looked at together; and a place behind all of a turn.
_MOST = 20_000
_LAST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Mark:
    """A call. `is_late`: others were made before its result came."""

    call: Call
    state: str
    result: ResultRecord | None
    is_late: bool

    @property
    def was_weak(self) -> bool:
        """Whether its result was found by a weaker rule than its id."""
        return self.result is not None and self.result.matched_by in ("name", "position")

    @property
    def is_odd(self) -> bool:
        return self.state != "answered" or self.was_weak or self.is_late


def picture(store: ReadStore, cid: str, *, after: int, until: int) -> tuple[Sequence[Mark], int]:
    """The calls of the turns with after < seq <= until, in order; and the last turn of those that
    were looked at, where there are very many calls."""
    found = store.ledger.calls(cid, limit=_MOST, after=(after, _LAST))
    if len(found) == _MOST:
        until = min(until, max(found[-1].call.seq - 1, after + 1))
    broken = store.turns.interrupted(cid)
    making = sorted({one.call.seq for one in found})
    marks = [
        Mark(
            one.call,
            state_of(one.call, one.results, broken=one.call.seq in broken),
            chosen_result(one.results),
            _is_late(one, making),
        )
        for one in found
        if one.call.seq <= until
    ]
    return sorted(marks, key=lambda mark: (mark.call.seq, mark.call.call_index)), until


def _is_late(record: CallRecord, making: Sequence[int]) -> bool:
    """Whether other turns made calls before the result came."""
    chosen = chosen_result(record.results)
    if chosen is None:
        return False
    following = bisect_right(making, record.call.seq)
    return following < len(making) and making[following] < chosen.seq
