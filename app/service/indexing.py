"""What conversations are found by: facets, and words where they are kept at all."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.core.conversation import Turn
from app.core.ledger.keys import Keys
from app.core.ledger.slice import Change, Description, Slice
from app.core.search.texts import conversation_words, title_words, turn_words
from app.core.search.wanted import ID_PART, TITLE_PART, Facet, metadata_facets
from app.service.turnform import read_object, read_turn

# Turns that are read at a time; with their calls they must fit into memory.
BATCH = 50


def description(known: Slice, title: str | None, metadata: bytes) -> Description:
    """Title and metadata of a conversation, and what it is found by through them."""
    words = {
        ID_PART: conversation_words(known.conversation_id) if known.searches else [],
        TITLE_PART: title_words(title) if known.searches else [],
    }
    return Description(frozenset(metadata_facets(read_object(metadata))), words)


def turn_facets(turns: Iterable[Turn]) -> frozenset[Facet]:
    """Providers and tools. They stay known: a call that a later version of its turn does not make
    was made."""
    return frozenset(
        facet
        for turn in turns
        for facet in (
            Facet("provider", turn.provider),
            *(Facet("tool", call.name) for call in turn.calls()),
        )
    )


@dataclass(frozen=True, slots=True)
class Reindex:
    """The command to make the index of the next turns of a conversation again, from 0 on.

    May be repeated. While it runs, everything that could be found before still can. Its receipt is
    where to go on, None when that was all.
    """

    conversation_id: str
    done: int = 0
    adds: int = 0

    def keys(self, version: int, *, waiting: bool) -> Keys:
        seqs = frozenset(range(self.done + 1, min(self.done + BATCH, version) + 1))
        return Keys(seqs=seqs, ledgers_of=seqs)

    def decide(self, known: Slice) -> Change[int | None]:
        head = known.head
        if head is None:
            return Change(None)
        described = description(known, head.title, head.metadata) if self.done == 0 else None
        keys = self.keys(head.version, waiting=False)
        known.demand(keys)
        records = [record for seq in sorted(keys.seqs) if (record := known.turn_at(seq))]
        if not records:
            return Change(None, head=head if described else None, described=described)
        turns = [read_turn(record) for record in records]
        calls = {turn.seq: known.book.calls_of(turn.seq) for turn in turns}
        tools = {Facet("tool", call.name) for made in calls.values() for call in made}
        return Change(
            records[-1].seq,
            head=head if described else None,
            described=described,
            facets=turn_facets(turns) | tools,
            words={
                turn.seq: turn_words(turn, calls[turn.seq]) if known.searches else []
                for turn in turns
            },
        )
