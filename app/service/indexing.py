"""Keeping what conversations are found by, in the transaction that changes them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from app.core.conversation import Turn
from app.core.ledger.matching import Call
from app.core.search.texts import conversation_words, title_words, turn_words
from app.core.search.wanted import ID_PART, TITLE_PART, Facet, metadata_facets
from app.service.turnform import read_object, read_turn
from app.storage.store import Store

# Turns that are read at a time; with their calls they must fit into memory.
BATCH = 50


def index_head(
    store: Store, cid: str, title: str | None, metadata: bytes, *, new: bool = False
) -> None:
    """Title and metadata; of a conversation that is not new they replace others."""
    facets = metadata_facets(read_object(metadata))
    if new:
        store.index.add_facets(cid, facets)
    else:
        store.index.replace_facets(cid, "metadata", facets)
    if store.searches:
        texts = {ID_PART: conversation_words(cid), TITLE_PART: title_words(title)}
        _write(store, cid, texts, new=new)


def index_turns(
    store: Store, cid: str, turns: Sequence[Turn], calls: Iterable[Call], *, new: bool = False
) -> None:
    """Turns with their calls; what is not new replaces other versions.

    Providers and tools stay known: a call that a later version of its turn does not make was made.
    """
    by_turn: dict[int, list[Call]] = defaultdict(list)
    for call in calls:
        by_turn[call.seq].append(call)
    tools = {Facet("tool", call.name) for made in by_turn.values() for call in made}
    store.index.add_facets(cid, tools | {Facet("provider", turn.provider) for turn in turns})
    if store.searches:
        texts = {turn.seq: turn_words(turn, by_turn[turn.seq]) for turn in turns}
        _write(store, cid, texts, new=new)


def reindex(store: Store, cid: str, after: int) -> int | None:
    """The next turns of a conversation, from its beginning after 0; None when that was all.

    May be repeated. While it runs, everything that could be found before still can.
    """
    head = store.lock(cid)
    if head is None:
        return None
    if after == 0:
        index_head(store, cid, head.title, head.metadata)
        if not store.searches:
            store.index.remove_texts(cid)
    records = store.turns(cid, after=after, limit=BATCH, payloads=False)
    if not records:
        return None
    last = records[-1].seq
    index_turns(store, cid, list(map(read_turn, records)), store.index.calls(cid, after, last))
    return last


def _write(store: Store, cid: str, texts: dict[int, list[str]], *, new: bool) -> None:
    (store.index.add_texts if new else store.index.replace_texts)(cid, texts)
