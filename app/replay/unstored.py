"""A conversation that is never stored: the same identities, ledger and renders."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..formats.registry import ID_RULES
from ..ledger.append import enter, place
from ..ledger.book import Book
from ..ledger.pairing import Links, links_of
from ..model import ids
from ..model.conversation import Draft, Turn
from .rendering import Loaded


@dataclass(frozen=True, slots=True)
class Remembered:
    turns: list[Turn]
    ledger: Book

    def links(self) -> Links:
        return links_of(self.ledger.results.values())

    def loaded(self, target: str) -> Loaded:
        """What would be loaded of it for a target."""
        return Loaded(self.turns, self.links(), assigned(self.ledger, target))


def assigned(book: Book, target: str) -> dict[str, str]:
    """What the mapping table would hold for a target."""
    return {
        call.id: call.provider_ids[target]
        for call in book.calls.values()
        if target in call.provider_ids
    }


def remember(drafts: Iterable[Draft], conversation_id: str) -> Remembered:
    """What storing the drafts in an empty conversation would give."""
    turns: list[Turn] = []
    book = Book()
    for seq, draft in enumerate(drafts, 1):
        turn = place(draft, seq, draft.turn_id or ids.turn_id(conversation_id, seq), book)
        enter(turn, book, ID_RULES)
        turns.append(turn)
    return Remembered(turns, book)
