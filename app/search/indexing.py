"""What conversations are found by: facets, and words where they are kept at all.

Facets are kept with the change that brings them. Cutting turns into words and indexing those takes
longer than all the rest of an append, so it is done later: a conversation says up to which turn it
is indexed, and whoever looks for words waits until all are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..database.damage import UnlessDamaged
from ..database.scope import ALL
from ..database.store import ReadStore
from ..jsontext.plain import read_object
from ..ledger.load_request import Keys
from ..ledger.records import Call, ConversationRecord
from ..ledger.slice import Change, Description, Plain, Slice
from ..ledger.wanted import ID_PART, METADATA_PART, TITLE_PART, Facet, metadata_facets, turn_facets
from ..turns.turnform import read_turn
from .texts import conversation_words, metadata_words, title_words, turn_words

# Turns that are indexed at a time; with their calls they must fit into memory.
BATCH = 64


def description(known: Slice, title: str | None, metadata: bytes) -> Description:
    """Title and metadata of a conversation, and what it is found by through them."""
    members = read_object(metadata)
    words = {
        METADATA_PART: metadata_words(members) if known.custom.searches else [],
        ID_PART: conversation_words(known.conversation_id) if known.custom.searches else [],
        TITLE_PART: title_words(title) if known.custom.searches else [],
    }
    return Description(frozenset(metadata_facets(members)), words)


@dataclass(frozen=True, slots=True)
class Index(Plain):
    """The command to keep the words of the turns behind `done`, up to `until`.

    They were made of what was read before; where that is not so any more, nothing is kept: the
    conversation is another one of the same id (`created_at`), others have indexed it, or a turn
    was completed (`revision`, the number that the next revision had).
    """

    conversation_id: str
    created_at: datetime
    done: int
    until: int
    revision: int
    facets: frozenset[Facet]
    words: Mapping[int, Sequence[str]]

    @property
    def size(self) -> int:
        return 8 * sum(map(len, self.words.values()))

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        return Keys(revisions=True)

    def decide(self, known: Slice) -> Change[None]:
        head = known.head
        if head is None or (head.created_at, head.indexed) != (self.created_at, self.done):
            return Change(None)
        if known.next_revision() != self.revision:
            return Change(None)
        described = None if self.done else description(known, head.title, head.metadata)
        return Change(
            None,
            head=replace(head, indexed=self.until),
            described=described,
            facets=self.facets,
            # Where the search was switched off, the words that are there are removed.
            words=self.words if known.custom.searches else dict.fromkeys(self.words, ()),
        )


def versions_behind(store: ReadStore) -> dict[str, int]:
    """The conversations with turns that are not indexed yet, and up to which turn they are not."""
    return {head.id: head.version for head in store.conversations.behind(ALL)}


def behind(
    store: ReadStore, versions: Mapping[str, int] | None = None, *, most: int = BATCH
) -> list[Index]:
    """What is to be indexed next, so many turns of a few conversations: of any, or of these."""
    if versions is None:
        heads = store.conversations.behind(most)
    else:
        known = ((store.conversations.head(cid), version) for cid, version in versions.items())
        heads = [
            head for head, version in known if head and head.indexed < min(version, head.version)
        ]
    found: list[Index] = []
    left = most
    for head in heads:
        # What is damaged is not found by words; everything else must be.
        with UnlessDamaged():
            found.append(_next(store, head, left))
            left -= found[-1].until - head.indexed
        if left <= 0:
            break
    return found


def _next(store: ReadStore, head: ConversationRecord, most: int) -> Index:
    until = min(head.version, head.indexed + most)
    records = store.turns.page(head.id, after=head.indexed, until=until, payloads=False)
    calls = store.ledger.made_in(head.id, after=head.indexed, until=until)
    made: dict[int, list[Call]] = {}
    for call in calls:
        made.setdefault(call.seq, []).append(call)
    turns = [read_turn(record) for record in records]
    return Index(
        head.id,
        head.created_at,
        head.indexed,
        until,
        store.turns.next_revision(head.id),
        turn_facets(turns) | {Facet("tool", call.name) for call in calls},
        {turn.seq: turn_words(turn, made.get(turn.seq, ())) for turn in turns},
    )


@dataclass(frozen=True, slots=True)
class Reindex(Plain):
    """The command to index a conversation again from its beginning.

    While that is done, everything that could be found before still can.
    """

    conversation_id: str

    def decide(self, known: Slice) -> Change[None]:
        head = known.head
        if head is None:
            return Change(None)
        described = description(known, head.title, head.metadata)
        return Change(None, head=replace(head, indexed=0), described=described)
