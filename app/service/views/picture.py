"""All calls of a conversation at a glance: one mark for each, in the order of their turns."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.ledger.records import Call, ResultRecord
from app.service.audit import chosen_result, state_of
from app.storage.store import ReadStore


@dataclass(frozen=True, slots=True)
class Mark:
    """A call. `was_weak`: its result was found by a weaker rule than its id."""

    call: Call
    state: str
    result: ResultRecord | None

    @property
    def was_weak(self) -> bool:
        return self.result is not None and self.result.matched_by in ("name", "position")

    @property
    def is_odd(self) -> bool:
        return self.state != "answered" or self.was_weak or self.is_late

    @property
    def is_late(self) -> bool:
        """Whether others spoke between the call and its result."""
        return self.result is not None and self.result.seq - self.call.seq > 4


def picture(store: ReadStore, cid: str, *, after: int, until: int) -> Sequence[Mark]:
    """The calls of the turns with after < seq <= until, in order."""
    made = store.ledger.made_in(cid, after=after, until=until)
    broken = store.turns.interrupted(cid)
    marks = [
        Mark(
            one.call,
            state_of(one.call, one.results, broken=one.call.seq in broken),
            chosen_result(one.results),
        )
        for one in store.ledger.call_records(cid, made)
    ]
    return sorted(marks, key=lambda mark: (mark.call.seq, mark.call.call_index))
