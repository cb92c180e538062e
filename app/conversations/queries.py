"""Lists of conversations: which ones, in which order, page by page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ..database.damage import may_be_damage
from ..database.store import ReadStore
from ..formats.registry import ID_RULES
from ..ledger.records import ConversationRecord
from ..ledger.wanted import Facet, Order, Place, Questions, State, Wanted
from ..model import ids, telling
from ..model.errors import RuleBroken
from ..model.forms import CONVERSATION_ID
from ..model.json_values import Json, JsonObject
from ..search.words import asked
from .commands import shown

MOST_FACETS = 16

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# No conversation id holds a `~`.
_UPDATED = re.compile(r"(?P<microseconds>[0-9]{1,16})~(?P<id>.+)")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller says of the conversations that are looked for."""

    order: Order = "id"
    limit: int = 100
    cursor: str | None = None
    q: str | None = None
    title: str | None = None
    tool: Sequence[str] = ()
    provider: Sequence[str] = ()
    metadata: Sequence[tuple[str, str]] = ()
    prefix: str = ""
    state: State | None = None


def listed(store: ReadStore, wish: Asked) -> JsonObject:
    """A page; the cursor names the last conversation of the page before."""
    limit = wish.limit
    wanted = _wanted(store, wish)
    damaged: list[str] = []
    try:
        records = store.finder.find(wanted, limit + 1)
    except Exception as error:
        if not may_be_damage(error):
            raise
        records, damaged = store.finder.find_sound(wanted, limit + 1)
    records, more = records[:limit], len(records) > limit
    data: list[Json] = [{**shown(record), "open_calls": record.open_calls} for record in records]
    page: JsonObject = {
        "data": data,
        "has_more": more,
        "next_cursor": _cursor(records[-1], wish.order) if more else None,
    }
    return page | ({"damaged": [*damaged]} if damaged else {})


def _wanted(store: ReadStore, wish: Asked) -> Wanted:
    facets = (
        *(Facet("metadata", name, value) for name, value in wish.metadata),
        *(Facet("tool", name) for name in wish.tool),
        *(Facet("provider", name) for name in wish.provider),
    )
    if len(facets) > MOST_FACETS:
        raise RuleBroken(
            f"`metadata.…`, `tool` and `provider` may be given {MOST_FACETS} times together,"
            f" not {len(facets)} times."
        )
    place = None if wish.cursor is None else _place(wish.cursor, wish.order)
    text = _questions(store, "q", wish.q, ID_RULES.prefixes)
    title = _questions(store, "title", wish.title)
    return Wanted(wish.order, place, facets, text, title, wish.prefix, wish.state)


def _questions(
    store: ReadStore, name: str, text: str | None, prefixes: tuple[str, ...] = ()
) -> Questions | None:
    """The words of a text, or those of the canonical id that it shows; None where it is blank."""
    if text is None or not text.strip():
        return None
    if not store.searches:
        raise RuleBroken(
            f"`{name}` cannot be answered: search is switched off here; the setting"
            " TURNKEEP_SEARCH must be true.",
            pointer=f"?{name}",
        )
    canonical = ids.from_prefixed(text.strip(), prefixes) or ""
    return tuple(words for one in (text, canonical) if (words := asked(one)))


def _cursor(last: ConversationRecord, order: Order) -> str:
    if order == "id":
        return last.id
    return f"{(last.updated_at - _EPOCH) // timedelta(microseconds=1)}~{last.id}"


def _place(cursor: str, order: Order) -> Place:
    by_updated = _UPDATED.fullmatch(cursor)
    cid = by_updated["id"] if by_updated else cursor
    if not CONVERSATION_ID.fits(cid):
        raise RuleBroken(telling.BAD_CURSOR, pointer="?cursor")
    if (order == "updated") != (by_updated is not None):
        other = "updated" if by_updated else "id"
        raise RuleBroken(
            f"`cursor` must be of a list with `order={order}`, not of one with `order={other}`.",
            pointer="?cursor",
        )
    if by_updated is None:
        return Place(cid)
    return Place(cid, _EPOCH + timedelta(microseconds=int(by_updated["microseconds"])))
