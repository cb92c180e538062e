"""The audit: the calls of a conversation, and where an id is known."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.context import Here, json_response
from app.api.documented import EVERYWHERE, refusals
from app.api.parameters import Cid
from app.api.routes import Direct
from app.api.schemas.tool_calls import FoundListOut, LookupQuery, ToolCallListOut, ToolCallPageQuery
from app.service import audit
from app.service import lookup as found

router = APIRouter(prefix="/v1", tags=["audit"], route_class=Direct, responses=EVERYWHERE)


@router.get(
    "/conversations/{cid}/tool-calls",
    operation_id="list_tool_calls",
    summary="Every call: names, state, parameters, result, times",
    responses=refusals(404, 422),
    response_model=ToolCallListOut,
)
async def tool_calls(
    cid: Cid, query: Annotated[ToolCallPageQuery, Query()], here: Here
) -> Response:
    """The newest first, unless `order=asc`; all, or those in one `state`."""
    page = audit.Page(**query.model_dump())
    return json_response(await here.database.read(lambda store: audit.tool_calls(store, cid, page)))


@router.get(
    "/tool-calls/lookup",
    operation_id="lookup_tool_calls",
    summary="Where an id is known",
    responses=refusals(422),
    response_model=FoundListOut,
)
async def lookup(query: Annotated[LookupQuery, Query()], here: Here) -> Response:
    """As an id of a call (raw, canonical, or shown by a target), of a result whose call is not
    known, of a response, of a turn. The newest first.
    """
    return json_response(
        await here.database.read(
            lambda store: found.lookup(store, query.id, query.limit, query.cursor)
        )
    )
