"""Stored turns in the neutral form, with what was posted on demand."""

import base64
from dataclasses import dataclass

from ..conversations.commands import known
from ..database.store import ReadStore
from ..jsontext.reading import loads
from ..jsontext.writing import dumps_in_parts, dumps_utf8, joined_array, joined_object
from ..ledger.pairing import Links, turn_json
from ..ledger.records import TurnRecord
from ..model.errors import TurnkeepError, TurnNotFound
from ..model.forms import TURN_ID
from ..model.json_values import JsonObject
from ..model.large import is_long, whole
from ..model.limits import UNLIMITED
from .turnform import read_turn, usage_of


@dataclass(frozen=True, slots=True)
class Page:
    """Which turns: those with after < seq < before, at most `limit`, from one of their ends."""

    after: int = 0
    before: int | None = None
    limit: int = 100
    newest_first: bool = False


def listed(store: ReadStore, cid: str, page: Page, *, raw: bool) -> bytes:
    """A page of turns. Payloads are passed on as the bytes they are."""
    known(store, cid)
    records = store.turns.page(
        cid,
        after=page.after,
        until=None if page.before is None else page.before - 1,
        limit=page.limit + 1,
        payloads=raw,
        newest_first=page.newest_first,
    )
    found = records[: page.limit]
    more = len(records) > page.limit
    seqs = [record.seq for record in found]
    links = store.ledger.links(cid, after=min(seqs) - 1, until=max(seqs)) if seqs else {}
    return joined_object(
        {
            "data": joined_array(_turn(record, links, raw=raw) for record in found),
            "has_more": dumps_utf8(more),
            "next_cursor": dumps_utf8(str(seqs[-1]) if more else None),
        }
    )


def one(store: ReadStore, cid: str, turn_id: str) -> bytes:
    known(store, cid)
    attempts = store.turns.attempts(cid, turn_id) if TURN_ID.fits(turn_id) else []
    if not attempts:
        raise TurnNotFound(cid, turn_id)
    *earlier, record = attempts
    links = store.ledger.links(cid, after=record.seq - 1, until=record.seq)
    last = _turn(record, links, raw=True)
    if not earlier:
        return last
    before = joined_array(_turn(attempt, links, raw=True) for attempt in earlier)
    return b"".join((memoryview(last)[:-1], b',"earlier":', before, b"}"))


def shown(record: TurnRecord, links: Links) -> JsonObject:
    """A turn in the neutral form, without what was posted."""
    turn = read_turn(record)
    told: JsonObject = {"seq": record.seq, **turn_json(turn, links), "format": record.format}
    if turn.blocks is None:
        told["quarantined"] = True
    if used := usage_of(record.format, turn):
        told["usage"] = used.json()
    return told | {"created_at": record.created_at.isoformat(), "hash": record.hash.hex()}


def _turn(record: TurnRecord, links: Links, *, raw: bool) -> bytes:
    told = shown(record, links)
    text = dumps_in_parts(told) if is_long(record.blocks) else dumps_utf8(told)
    if not raw:
        return text
    payload = whole(record.payload)
    try:
        loads(payload.decode(), UNLIMITED)
    except UnicodeDecodeError:
        return dumps_utf8(told | {"payload_base64": base64.b64encode(payload).decode()})
    except (TurnkeepError, RecursionError):
        # A stream.
        return dumps_utf8(told | {"payload_text": payload.decode()})
    return b"".join((memoryview(text)[:-1], b',"payload":', payload, b"}"))
