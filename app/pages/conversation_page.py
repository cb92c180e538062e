"""The pages of one conversation: timeline, turn, identity, picture, verify."""

from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import BeforeValidator

from ..audit import queries as audit
from ..conversations import commands as conversations
from ..conversations.commands import known, read
from ..database.store import ReadStore
from ..edge.context import Here
from ..edge.documented import Cid, TurnId
from ..edge.shapes import In
from ..formats.registry import TARGETS
from ..jsontext.fields import objects
from ..ledger.records import CALL_STATES, CallState
from ..verify.queries import verify
from .drawing import drawn
from .page import pages, shown
from .picture import picture
from .timeline import one_turn, timeline

router = pages()

# Turns that are fetched together.
CHUNK = 50
_PICTURED = 2_000
_ROWS = 500
_CHAIN = 100


class AtQuery(In):
    at: int = Query(1, ge=0, le=2**62)


class FromQuery(In):
    after: int = Query(0, ge=0, le=2**62)


class RangeQuery(FromQuery):
    until: int | None = Query(None, ge=0, le=2**62)


class IdentityQuery(In):
    # An empty field of a form is sent, too.
    state: Annotated[CallState | None, BeforeValidator(lambda given: given or None)] = None
    cursor: str | None = None


@router.get("/c/{cid}")
async def conversation_page(cid: Cid, query: Annotated[AtQuery, Query()], here: Here) -> Response:
    """Only the turns around `at` are written; the script fetches the others when they are seen."""

    def found(store: ReadStore) -> dict[str, Any]:
        head = known(store, cid)
        begin = (max(min(query.at, head.version), 1) - 1) // CHUNK * CHUNK
        return {
            "conversation": conversations.shown(head),
            "tab": "timeline",
            "version": head.version,
            "open_calls": head.open_calls,
            "chunk": CHUNK,
            "begin": begin,
            "turns": timeline(store, cid, after=begin, until=begin + CHUNK),
        }

    return await shown(here, "timeline.html", found)


@router.get("/c/{cid}/turns")
async def turns_fragment(cid: Cid, query: Annotated[RangeQuery, Query()], here: Here) -> Response:
    """A piece of the timeline, for the script."""

    def found(store: ReadStore) -> dict[str, Any]:
        version = known(store, cid).version
        until = min(query.until or version, query.after + 4 * CHUNK, version)
        turns = timeline(store, cid, after=query.after, until=until)
        return {"cid": cid, "turns": turns, "until": until}

    return await shown(here, "turns.html", found)


@router.get("/c/{cid}/turns/{turn_id}")
async def turn_page(cid: Cid, turn_id: TurnId, here: Here) -> Response:
    def found(store: ReadStore) -> dict[str, Any]:
        conversation = read(store, cid)
        page = one_turn(store, cid, turn_id)
        return {"conversation": conversation, "tab": "timeline", "page": page}

    return await shown(here, "turn.html", found)


@router.get("/c/{cid}/identity")
async def identity_page(cid: Cid, query: Annotated[IdentityQuery, Query()], here: Here) -> Response:
    def found(store: ReadStore) -> dict[str, Any]:
        wish = audit.Page(_ROWS, query.cursor, query.state, "asc")
        page = audit.tool_calls(store, cid, wish)
        return {
            "conversation": read(store, cid),
            "tab": "identity",
            "query": query,
            "calls": list(objects(page["data"])),
            "page": page,
            "states": CALL_STATES,
            "targets": TARGETS,
        }

    return await shown(here, "identity.html", found)


@router.get("/c/{cid}/picture")
async def picture_page(cid: Cid, query: Annotated[FromQuery, Query()], here: Here) -> Response:
    def found(store: ReadStore) -> dict[str, Any]:
        head = known(store, cid)
        after = min(query.after, max(head.version - 1, 0))
        until = min(after + _PICTURED, head.version)
        marks, until = picture(store, cid, after=after, until=until)
        return {
            "conversation": conversations.shown(head),
            "tab": "picture",
            "after": after,
            "until": until,
            "version": head.version,
            "size": _PICTURED,
            "marks": marks,
            "drawing": drawn(marks, after, until),
        }

    return await shown(here, "picture.html", found)


@router.get("/c/{cid}/verify")
async def verify_page(cid: Cid, here: Here) -> Response:
    """A damaged conversation has this page, too: it is the one that says what is wrong."""

    def found(store: ReadStore) -> dict[str, Any]:
        verdict = verify(store, cid)
        values = {"cid": cid, "tab": "verify", "verdict": verdict}
        if not verdict["ok"]:
            return {**values, "conversation": {"id": cid, "title": None}, "links": []}
        records = store.turns.page(cid, limit=_CHAIN, payloads=False, newest_first=True)
        links = [(one.seq, one.turn_id, one.hash.hex(), one.created_at) for one in records]
        return {**values, "conversation": read(store, cid), "links": links}

    return await shown(here, "verify.html", found, long=True)
