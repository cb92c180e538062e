"""Posts that may be retries: turns that are stored already, or a version that has passed."""

from collections.abc import Sequence

from ..database.store import ReadStore
from ..ledger.load_request import Keys
from ..ledger.records import TurnRecord
from ..ledger.slice import Slice
from ..model.errors import StaleVersion, TurnIdTaken
from .turnform import NewTurn


def stored_turns(known: Slice, turns: Sequence[NewTurn]) -> list[TurnRecord] | None:
    """The turns of a post, if every one is stored with its content.

    A turn with an id is found by it; one without stands where it stood beside the others.
    """
    first = _first_seq(known, turns)
    if first is None:
        return None
    places = [known.place(new.draft.turn_id) if new.draft.turn_id else None for new in turns]
    seqs = [place.seq if place else seq for seq, place in enumerate(places, first)]
    known.demand(Keys(seqs=frozenset(seqs)))
    found: list[TurnRecord] = []
    for new, seq, place in zip(turns, seqs, places, strict=True):
        record = known.turn_at(seq) if place or not new.draft.turn_id else None
        if record is None or record.content_hash != new.content_hash:
            return None
        found.append(record)
    return found


def _first_seq(known: Slice, turns: Sequence[NewTurn]) -> int | None:
    """The place of the first turn, by that of the first one with an id, if that is stored."""
    for at, new in enumerate(turns):
        if new.draft.turn_id:
            place = known.place(new.draft.turn_id)
            return place.seq - at if place else None
    return None


def contradiction(known: Slice, turns: Sequence[NewTurn]) -> TurnIdTaken:
    """Why a post that names stored turns is not a retry of theirs."""
    places = {
        new.draft.turn_id: (place.seq, new.content_hash)
        for new in turns
        if new.draft.turn_id and (place := known.place(new.draft.turn_id))
    }
    known.demand(Keys(seqs=frozenset(seq for seq, _ in places.values())))
    other = [
        turn_id
        for turn_id, (seq, content_hash) in places.items()
        if (record := known.turn_at(seq)) and record.content_hash != content_hash
    ]
    if other:
        return TurnIdTaken(
            f"{_some(other)} stored with other content. A turn never changes: post what is new"
            " with a new `turn_id`.",
            turn_ids=other,
        )
    there = list(places)
    return TurnIdTaken(f"{_some(there)} stored already; post only the others.", turn_ids=there)


def _some(turn_ids: list[str]) -> str:
    """The subject of a sentence about turns; a long list stands among the facts only."""
    match turn_ids:
        case [one]:
            return f"Turn '{one}' is"
        case [first, *rest]:
            return f"Turn '{first}' and {len(rest)} more are"
        case _:
            return "The turn is"


def check_version(
    store: ReadStore, cid: str, expected: int, key: str | None, turn_id: str | None
) -> None:
    """Judges an append before its body is read. Raises `StaleVersion`, unless this may be a retry:
    one that succeeded is answered again. What completes an interrupted turn is none."""
    head = store.conversations.head(cid)
    version = head.version if head else 0
    if version == expected:
        return
    if key is not None and store.conversations.has_key(cid, key):
        return
    seqs = store.turns.numbers(cid, [turn_id] if turn_id is not None else []).values()
    if any(turn.status == "complete" for turn in store.turns.at(cid, [*seqs])):
        return
    raise StaleVersion(cid, str(expected), version)
