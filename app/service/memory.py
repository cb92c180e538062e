"""A conversation that is never stored: the same identities, ledger and renders."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.codecs import ASSIGNED, PREFIXES
from app.core.conversation import Draft, Turn
from app.core.identity import ids
from app.core.ledger.entering import MemoryLedger, enter
from app.core.ledger.matching import with_canonical_ids
from app.core.render.pairing import Link, Links


@dataclass(frozen=True, slots=True)
class Remembered:
    turns: list[Turn]
    ledger: MemoryLedger

    def links(self) -> Links:
        return {
            place: Link(result.call_id, result.matched_by)
            for place, result in self.ledger.results.items()
            if result.call_id is not None
        }

    def assigned(self, target: str) -> dict[str, str]:
        """What the mapping table would hold for a target."""
        return {
            call.id: call.shown[target]
            for call in self.ledger.calls.values()
            if target in call.shown
        }


def remember(drafts: Iterable[Draft], conversation_id: str) -> Remembered:
    """What storing the drafts in an empty conversation would give."""
    turns: list[Turn] = []
    ledger = MemoryLedger()
    for seq, draft in enumerate(drafts, 1):
        name = draft.turn_id or ids.turn_id(conversation_id, seq)
        provider = draft.provider or ""
        blocks = with_canonical_ids(draft.blocks, provider, name, ledger.calls.__contains__)
        turn = draft.placed(seq, name, blocks)
        enter(turn, ledger, ASSIGNED, PREFIXES)
        turns.append(turn)
    return Remembered(turns, ledger)
