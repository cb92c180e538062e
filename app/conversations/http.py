"""`/v1/conversations`: create, list, read, change, erase, verify, listen."""

import asyncio
import logging
import uuid
from collections import Counter
from functools import partial
from typing import Annotated, Any

from fastapi import Query, Request, Response

from ..database.store import ReadStore
from ..database.sweeping import BREATH
from ..edge.context import Here, encoded, json_response
from ..edge.documented import (
    ABSENT,
    EVENTS,
    IF_MATCH,
    IF_NONE_MATCH,
    LAST_EVENT_ID,
    UNCHANGED,
    Cid,
    leads_to,
    reading,
    refusals,
)
from ..edge.requests import (
    body_of,
    demand_client,
    expected_state,
    has_already,
    idempotency_key,
    last_version,
    model_of,
    worked,
)
from ..edge.routes import routes
from ..model.errors import Forbidden, RuleBroken, Unavailable
from ..model.json_values import JsonObject
from ..verify.queries import verify
from . import commands as conversations
from . import conversation_models as shapes
from . import queries as finding
from .commands import Expiry

router = routes("/v1/conversations", "conversations")

_log = logging.getLogger("turnkeep")
# So often the database may refuse before the sweeper has to remove what is left.
_MOST_FAILURES = 20
_OF_METADATA = "metadata."
_METADATA = {
    "name": "metadata.{key}",
    "in": "query",
    "required": False,
    "description": "A member of the metadata and its value: a text, or a number, `true` or `false`"
    " as it was written. May repeat with other keys.",
    "schema": {"type": "string"},
}
_NO_ID = (
    "`id` is required beside an `Idempotency-Key`: a key belongs to a conversation that is named."
    " A retry with the same `id` makes no second one; it is answered 409."
)

_UNFINISHED: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "Erased, but rows are left that are locked now: `left` counts them, and the"
        " service removes them later",
        "model": shapes.UnfinishedOut,
    }
}
_THEN = leads_to(
    *("get_conversation", "change_conversation", "append_turns", "list_turns", "get_tools"),
    *("replay_conversation", "list_tool_calls", "verify_conversation", "erase_conversation"),
    cid="$response.body#/id",
)


@router.post(
    "",
    status_code=201,
    summary="Create a conversation",
    response_model=shapes.ConversationOut,
    **reading(shapes.ConversationIn, 409, then=_THEN),
)
async def create_conversation(request: Request, here: Here) -> Response:
    """An id is made when none is given. Posting turns creates a conversation, too.

    With an `id` a retry makes no second conversation: it is answered 409 `conversation_exists`. An
    `Idempotency-Key` belongs to a conversation that is named, so without an `id` it is refused.
    """
    async with body_of(request, here) as body:
        given = await model_of(body, shapes.ConversationIn, here)
        if given.id is None and idempotency_key(request) is not None:
            raise RuleBroken(_NO_ID, pointer="/id")
        made_up = f"{here.prefix}conv_{uuid.uuid4().hex}"
        cid = conversations.check_id(made_up if given.id is None else given.id, "/id")
        if not cid.startswith(here.prefix):
            raise Forbidden.outside(here.prefix)
        await here.check_room(cid)
        made = await here.database.write(
            conversations.Create(cid, given.title, given.metadata, _expiry(given))
        )
        tag, shown = await worked(body, lambda: _tagged(made))
    return json_response(shown, 201, {"Location": f"/v1/conversations/{cid}", "ETag": tag})


@router.get(
    "",
    summary="List and find conversations",
    response_model=shapes.ConversationListOut,
    openapi_extra={"parameters": [_METADATA]},
)
async def list_conversations(
    request: Request, query: Annotated[shapes.ConversationQuery, Query()], here: Here
) -> Response:
    """By id, or newest first; all of them, or those that have what is asked for."""
    metadata = [
        (key.removeprefix(_OF_METADATA), value)
        for key, value in request.query_params.multi_items()
        if key.startswith(_OF_METADATA)
    ]
    wish = finding.Asked(**query.model_dump(), metadata=metadata, prefix=here.prefix)
    if here.database.searches and (query.q or query.title):
        await here.indexer.caught_up(here.database)
    return await here.respond(lambda store: finding.listed(store, wish))


def _expiry(given: shapes.ConversationIn | shapes.ConversationChangeIn) -> Expiry | None:
    return Expiry(given.expires_after) if "expires_after" in given.model_fields_set else None


def _tagged(conversation: JsonObject) -> tuple[str, bytes]:
    return f'"{conversations.tag_of(conversation)}"', encoded(conversation)


@router.get(
    "/{cid}",
    summary="Read a conversation",
    responses={**ABSENT, **UNCHANGED},
    response_model=shapes.ConversationOut,
    openapi_extra={"parameters": [IF_NONE_MATCH]},
)
async def get_conversation(cid: Cid, request: Request, here: Here) -> Response:
    """The `ETag` changes with whatever is shown here, and may be sent as `If-Match`."""

    def read(store: ReadStore) -> tuple[str, bytes]:
        return _tagged(conversations.read(store, cid))

    tag, shown = await here.database.read(read)
    if has_already(request, tag):
        return Response(status_code=304, headers={"ETag": tag})
    return json_response(shown, headers={"ETag": tag})


@router.patch(
    "/{cid}",
    summary="Change title or metadata",
    response_model=shapes.ConversationOut,
    **reading(shapes.ConversationChangeIn, 404, 412),
)
async def change_conversation(cid: Cid, request: Request, here: Here) -> Response:
    """Members that are left out stay as they are; metadata is replaced as a whole."""
    expected = expected_state(request)
    async with body_of(request, here) as body:
        given = await model_of(body, shapes.ConversationChangeIn, here)
        conversations.known_form(cid)
        members = frozenset(given.model_fields_set)
        if "expires_after" in members and here.key and not here.key.allows("admin"):
            # To let it expire in a second is to erase it.
            raise Forbidden.without("admin")
        command = conversations.Describe(
            cid, given.title, given.metadata, members, expected, _expiry(given)
        )
        changed = await here.database.write(command)
        tag, shown = await worked(body, lambda: _tagged(changed))
    return json_response(shown, headers={"ETag": tag})


@router.delete(
    "/{cid}",
    summary="Erase a conversation",
    response_model=shapes.ErasedOut,
    responses={**refusals(404, 409, 412), **_UNFINISHED},
    openapi_extra={"parameters": [IF_MATCH]},
)
async def erase_conversation(cid: Cid, request: Request, here: Here) -> Response:
    """All rows of it are removed: turns, ledger, mapping table, idempotency keys. The response
    counts them. From then on the conversation is absent, also where the response is a 202."""
    conversations.known_form(cid)
    erased = await here.database.write(conversations.Erase(cid, expected_state(request)))
    here.renders.forget(here.database.tenant_id, cid)
    removed = None if erased.is_gone else await _remove_rows(here, cid)
    return json_response(erased.receipt(removed), 200 if removed is None else 202)


async def _remove_rows(here: Here, cid: str) -> Counter[str] | None:
    """Removes the rows of a conversation that is absent already; others write in between.

    Returns None when none is left. Where the database refuses too often, returns how many were
    removed, by part, and leaves the others to the sweeper.
    """
    removed: Counter[str] = Counter()
    failures = 0
    while True:
        try:
            step = await here.database.sweep(cid=cid)
            if not step:
                return None
            removed += step
        except Unavailable as error:
            # As a rule the sweeper removes rows of it at this moment.
            failures += 1
            if failures >= _MOST_FAILURES:
                _log.warning("an erased conversation still has rows: %s", error.reason)
                return removed
        await asyncio.sleep(BREATH)


@router.get(
    "/{cid}/events",
    summary="Listen to a conversation",
    responses={**ABSENT, **EVENTS},
    response_class=Response,
    openapi_extra={"parameters": [LAST_EVENT_ID]},
)
async def listen_to_conversation(
    cid: Cid, query: Annotated[shapes.ListenQuery, Query()], request: Request, here: Here
) -> Response:
    """Server-sent events, until you hang up: `version` with `{"version": …, "updated_at": …}` as
    data and the version as id, whenever anything of the conversation has changed; `erased` when it
    is gone, which ends the stream. It also ends when the key is revoked and when the service stops.
    """
    told = last_version(request)
    after = query.after if told is None else told
    return await here.listeners.join(here.database, cid, after, request)


@router.get(
    "/{cid}/verify",
    summary="Recompute every id, hash and mapping",
    responses=ABSENT,
    response_model=shapes.VerifiedOut,
)
async def verify_conversation(cid: Cid, request: Request, here: Here) -> Response:
    check = partial(demand_client, request)
    return json_response(
        await here.database.read(lambda store: encoded(verify(store, cid)), long=True, check=check)
    )
