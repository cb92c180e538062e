"""A post whose turns are stored already: the same again, or a contradiction that is named."""

from app.core.errors import TurnIdTaken
from app.core.ledger.records import TurnRecord
from app.service.posting import Post
from app.service.turnform import content_hash
from app.storage.store import Store


def stored_turns(store: Store, cid: str, post: Post) -> list[TurnRecord] | None:
    """The turns of a post, if every one is stored with its content.

    A turn with an id is found by it; one without stands where it stood beside the others.
    """
    found: list[TurnRecord] = []
    first = _first_seq(store, cid, post)
    if first is None:
        return None
    for seq, draft in enumerate(post.drafts, first):
        record = store.turn(cid, draft.turn_id) if draft.turn_id else _at(store, cid, seq)
        if record is None or record.content_hash != content_hash(draft, post.format):
            return None
        found.append(record)
    return found


def _first_seq(store: Store, cid: str, post: Post) -> int | None:
    """The place of the first turn, by that of the first one with an id, if that is stored."""
    for place, draft in enumerate(post.drafts):
        if draft.turn_id:
            record = store.turn(cid, draft.turn_id)
            return record.seq - place if record else None
    return None


def _at(store: Store, cid: str, seq: int) -> TurnRecord | None:
    if seq < 1:
        return None
    return next(iter(store.turns(cid, after=seq - 1, until=seq)), None)


def contradiction(store: Store, cid: str, post: Post) -> TurnIdTaken:
    """Why a post that names stored turns is not a retry of theirs."""
    known = {
        draft.turn_id: record.content_hash == content_hash(draft, post.format)
        for draft in post.drafts
        if draft.turn_id and (record := store.turn(cid, draft.turn_id))
    }
    if other := [turn_id for turn_id, same in known.items() if not same]:
        return TurnIdTaken(
            f"{_some(other)} stored with other content. A turn never changes: post what is new"
            " with a new `turn_id`.",
            turn_ids=other,
        )
    there = list(known)
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
