"""The ledger of one conversation, written through to the store within one transaction."""

from collections.abc import Collection, Mapping, Sequence

from app.core.ledger.matching import Call, KeyKind, Match
from app.core.ledger.records import AssignedId, ResultRecord
from app.storage.store import Store


class StoreLedger:
    """Satisfies `core.ledger.entering.Ledger`. `orphans` counts results that wait for a call."""

    def __init__(self, store: Store, conversation_id: str, orphans: int) -> None:
        self.orphans = orphans
        self._store = store
        self._cid = conversation_id
        self._book = store.book(conversation_id)
        self._highest: dict[str, int] = {}

    def by_canonical(self, canonical: str) -> Call | None:
        return self._book.by_canonical(canonical)

    def open(self, kind: KeyKind, key: str) -> Call | None:
        return self._book.open(kind, key)

    def answered(self, kind: KeyKind, key: str) -> Call | None:
        return self._book.answered(kind, key)

    def newest_open(self) -> Sequence[Call]:
        return self._book.newest_open()

    def highest(self, target: str) -> int:
        if target not in self._highest:
            self._highest[target] = self._store.highest_ordinal(self._cid, target)
        return self._highest[target]

    def taken(self, target: str, provider_id: str) -> bool:
        return bool(self._store.taken_ids(self._cid, target, [provider_id]))

    def waiting(
        self, raw_ids: Collection[str], normalized: Collection[str]
    ) -> Sequence[ResultRecord]:
        if not self.orphans:
            return []
        return self._store.waiting_orphans(self._cid, raw_ids, normalized)

    def add_calls(self, calls: Sequence[Call], assigned: Sequence[AssignedId]) -> None:
        self._store.insert_calls(self._cid, calls)
        self._store.insert_assigned(self._cid, assigned)
        for one in assigned:
            if one.ordinal is not None:
                self._highest[one.target] = one.ordinal

    def add_results(self, results: Sequence[ResultRecord]) -> None:
        self._store.insert_results(self._cid, results)
        self.orphans += sum(result.call_id is None for result in results)

    def mark_answered(self, canonical: str) -> None:
        self._store.mark_answered(self._cid, [canonical])

    def aside(self, seq: int) -> Mapping[str, int]:
        return self._store.aside(self._cid, seq)

    def supersede(self, seq: int, call_ids: Sequence[str]) -> None:
        self.orphans += self._store.supersede(self._cid, seq, call_ids)

    def bring_back(self, seq: int, places: Mapping[str, int]) -> Sequence[Call]:
        self._store.bring_back(self._cid, places)
        records = self._store.calls(self._cid, after=(seq, -1), limit=max(places.values()) + 1)
        return [record.call for record in records if record.call.id in places]

    def adopt(self, result: ResultRecord, found: Match) -> None:
        assert found.call
        self._store.adopt(
            self._cid,
            [(result.seq, result.place, found.call.id, found.matched_by, found.repeat)],
        )
        self.orphans -= 1
