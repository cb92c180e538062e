"""Where an id is known: as the id of a call under any of its names, of a result without a call, of
a response, of a turn. The newest first; each call once, under the strongest of its names."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ..database.damage import may_be_damage
from ..database.store import ReadStore
from ..formats.registry import ID_RULES
from ..jsontext.writing import dumps_utf8
from ..model import ids, telling
from ..model.errors import RuleBroken
from ..model.forms import CONVERSATION_ID, TURN_ID
from ..model.json_values import Json, JsonObject
from ..turns.turnform import read_turn
from ..verify.queries import verify
from .queries import call_json, contents, result_json, state_of
from .sql import NEWEST, IdKind, Spot

_CURSOR = re.compile(r"([0-9]{1,16})\.([0-9]{1,18})\.([0-9])\.(-?[0-9]{1,9})\.(.*)", re.DOTALL)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def lookup(
    store: ReadStore, any_id: str, limit: int = 100, cursor: str | None = None, prefix: str = ""
) -> JsonObject:
    before = NEWEST if cursor is None else _spot(cursor)
    kinds: dict[Spot, IdKind] = {}
    damaged: set[str] = set()
    for kind, asked_as, name in _names(any_id):
        try:
            spots = store.lookup.spots(
                asked_as, name, before=before, limit=limit + 1, prefix=prefix
            )
        except Exception as error:
            if not may_be_damage(error):
                raise
            spots, bad = store.lookup.sound_spots(
                asked_as, name, before=before, limit=limit + 1, prefix=prefix
            )
            damaged |= bad
        for spot in spots:
            kinds.setdefault(spot, kind)
    found = sorted(kinds, reverse=True)
    data: list[Json] = []
    for spot in found[:limit]:
        try:
            records = _records(store, spot, kinds[spot])
            # What is damaged may be no JSON.
            dumps_utf8({"data": records})
            data += records
        except Exception as error:
            cid = spot.conversation_id
            if not may_be_damage(error) or verify(store, cid)["ok"]:
                raise
            damaged.add(cid)
    more = len(found) > limit
    page: JsonObject = {
        "data": data,
        "has_more": more,
        "next_cursor": _cursor(found[limit - 1]) if more else None,
    }
    return page | ({"damaged": [*sorted(damaged)]} if damaged else {})


def _records(store: ReadStore, spot: Spot, kind: IdKind) -> list[Json]:
    where: JsonObject = {"conversation_id": spot.conversation_id, "kind": kind}
    match kind:
        case "turn" | "response":
            records = _turn(store, spot, kind)
        case "orphan_result":
            records = _orphan(store, spot)
        case _:
            records = _call(store, spot)
    return [where | record for record in records]


def _names(any_id: str) -> Iterator[tuple[IdKind, IdKind, str]]:
    """As what the id may be known, what to ask for, and under which name; the strongest first."""
    if TURN_ID.fits(any_id):
        yield "turn", "turn", any_id
    yield "response", "response", any_id
    if ids.is_canonical(any_id):
        yield "canonical", "canonical", any_id
    yield "raw", "raw", any_id
    yield "provider_id", "provider_id", any_id
    if canonical := ids.from_prefixed(any_id, ID_RULES.prefixes):
        yield "provider_id", "canonical", canonical
    yield "orphan_result", "orphan_result", any_id


def _turn(store: ReadStore, spot: Spot, kind: IdKind) -> Iterator[JsonObject]:
    """The turn as it is now; for a response, the version of it that the response is."""
    versions = store.turns.versions(spot.conversation_id, [spot.seq])
    for version in versions[-1:]:
        same = (one for one in versions if kind == "response" and one.created_at == spot.at)
        shown = next(same, version)
        yield {
            "turn_id": shown.turn_id,
            "seq": shown.seq,
            "speaker": shown.speaker,
            "provider": shown.provider,
            "model": shown.model,
            "status": read_turn(shown).status,
            "created_at": spot.at.isoformat(),
        }


def _orphan(store: ReadStore, spot: Spot) -> Iterator[JsonObject]:
    cid = spot.conversation_id
    for result in store.ledger.results_of(cid, spot.seq):
        if result.place == spot.place:
            told = contents(store, cid, (), [result])
            yield result_json(result, told) | {"name": result.name}


def _call(store: ReadStore, spot: Spot) -> Iterator[JsonObject]:
    cid = spot.conversation_id
    calls = store.ledger.calls_at(cid, spot.seq, spot.place)
    for record in store.ledger.call_records(cid, calls):
        broken = spot.seq in store.turns.interrupted(cid)
        state = state_of(record.call, record.results, broken=broken)
        yield call_json(record, state, contents(store, cid, [record]))


def _cursor(spot: Spot) -> str:
    at = (spot.at - _EPOCH) // _MICROSECOND
    return f"{at}.{spot.seq}.{spot.rank}.{spot.place}.{spot.conversation_id}"


def _spot(cursor: str) -> Spot:
    found = _CURSOR.fullmatch(cursor)
    if not found or not CONVERSATION_ID.fits(found[5]):
        raise RuleBroken(telling.BAD_CURSOR, pointer="?cursor")
    at, seq, rank, place = (int(number) for number in found.groups()[:4])
    return Spot(_EPOCH + at * _MICROSECOND, found[5], seq, rank, place)
