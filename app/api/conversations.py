"""`/v1/conversations`: create, list, read, change, erase, verify."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.api.context import Here, json_response
from app.api.documented import EVERYWHERE, refusals, takes
from app.api.parameters import Cid
from app.api.requests import model_of
from app.api.routes import Direct
from app.api.schemas import conversations as shapes
from app.service import conversations, finding
from app.service.verify import verify

router = APIRouter(
    prefix="/v1/conversations", tags=["conversations"], route_class=Direct, responses=EVERYWHERE
)

_OF_METADATA = "metadata."
_METADATA = {
    "name": "metadata.{key}",
    "in": "query",
    "required": False,
    "description": "A member of the metadata and its value: a text, or a number, `true` or `false`"
    " as it was written. May repeat with other keys.",
    "schema": {"type": "string"},
}


@router.post(
    "",
    status_code=201,
    operation_id="create_conversation",
    summary="Create a conversation",
    responses=refusals(400, 409, 413, 415, 422),
    response_model=shapes.ConversationOut,
    openapi_extra=takes(shapes.ConversationIn),
)
async def create(request: Request, here: Here) -> Response:
    """An id is made when none is given. Posting turns creates a conversation, too."""
    given = await model_of(request, shapes.ConversationIn, here.limits)
    made_up = f"conv_{uuid.uuid4().hex}"
    cid = conversations.check_id(made_up if given.id is None else given.id, "/id")
    made = await here.database.write(conversations.Create(cid, given.title, given.metadata))
    return json_response(made, 201, {"Location": f"/v1/conversations/{cid}", "ETag": '"0"'})


@router.get(
    "",
    operation_id="list_conversations",
    summary="List and find conversations",
    response_model=shapes.ConversationListOut,
    openapi_extra={"parameters": [_METADATA]},
)
async def listed(
    request: Request, query: Annotated[shapes.ConversationQuery, Query()], here: Here
) -> Response:
    """By id, or newest first; all of them, or those that have what is asked for."""
    metadata = [
        (key.removeprefix(_OF_METADATA), value)
        for key, value in request.query_params.multi_items()
        if key.startswith(_OF_METADATA)
    ]
    wish = finding.Asked(**query.model_dump(), metadata=metadata)
    if here.database.searches and (query.q or query.title):
        await here.indexer.caught_up()
    return json_response(await here.database.read(lambda store: finding.listed(store, wish)))


@router.get(
    "/{cid}",
    operation_id="get_conversation",
    summary="Read a conversation",
    responses=refusals(404),
    response_model=shapes.ConversationOut,
)
async def read(cid: Cid, here: Here) -> Response:
    found = await here.database.read(lambda store: conversations.read(store, cid))
    return json_response(found, headers={"ETag": f'"{found["version"]}"'})


@router.patch(
    "/{cid}",
    operation_id="change_conversation",
    summary="Change title or metadata",
    responses=refusals(400, 404, 413, 415, 422),
    response_model=shapes.ConversationOut,
    openapi_extra=takes(shapes.ConversationChangeIn),
)
async def change(cid: Cid, request: Request, here: Here) -> Response:
    """Members that are left out stay as they are; metadata is replaced as a whole."""
    given = await model_of(request, shapes.ConversationChangeIn, here.limits)
    conversations.known_form(cid)
    members = frozenset(given.model_fields_set)
    command = conversations.Describe(cid, given.title, given.metadata, members)
    return json_response(await here.database.write(command))


@router.delete(
    "/{cid}",
    status_code=204,
    operation_id="erase_conversation",
    summary="Erase a conversation",
    responses=refusals(404),
)
async def erase(cid: Cid, here: Here) -> Response:
    """Everything of it is gone: turns, ledger, mapping table, idempotency keys."""
    conversations.known_form(cid)
    await here.database.write(conversations.Erase(cid))
    here.renders.forget(cid)
    return Response(status_code=204)


@router.get(
    "/{cid}/verify",
    operation_id="verify_conversation",
    summary="Recompute every id, hash and mapping",
    responses=refusals(404),
    response_model=shapes.VerifiedOut,
)
async def verified(cid: Cid, here: Here) -> Response:
    return json_response(await here.database.read(lambda store: verify(store, cid)))
