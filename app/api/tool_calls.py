"""The audit: the calls of a conversation, and where an id is known."""

from typing import Annotated

from fastapi import Query, Response

from app.api.context import Here
from app.api.documented import ABSENT, Cid
from app.api.routes import routes
from app.api.schemas.tool_calls import FoundListOut, LookupQuery, ToolCallListOut, ToolCallPageQuery
from app.service import audit
from app.service.lookup import lookup

router = routes("/v1", "audit")


@router.get(
    "/conversations/{cid}/tool-calls",
    summary="Every call: names, state, parameters, result, times",
    responses=ABSENT,
    response_model=ToolCallListOut,
)
async def list_tool_calls(
    cid: Cid, query: Annotated[ToolCallPageQuery, Query()], here: Here
) -> Response:
    """The newest first, unless `order=asc`; all, or those in one `state`."""
    page = audit.Page(**query.model_dump())
    return await here.respond(lambda store: audit.tool_calls(store, cid, page))


@router.get("/tool-calls/lookup", summary="Where an id is known", response_model=FoundListOut)
async def lookup_tool_calls(query: Annotated[LookupQuery, Query()], here: Here) -> Response:
    """As an id of a call (raw, canonical, or shown by a target), of a result whose call is not
    known, of a response, of a turn. The newest first.
    """
    return await here.respond(
        lambda store: lookup(store, query.id, query.limit, query.cursor, here.prefix)
    )
