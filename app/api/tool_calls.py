"""The audit: the calls of a conversation, and where an id is known."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.context import Here, json_response
from app.api.documented import answers
from app.api.schemas import FoundCallListOut, LookupQuery, PageQuery, ToolCallListOut
from app.service import audit

router = APIRouter(prefix="/v1", tags=["audit"])


@router.get(
    "/conversations/{cid}/tool-calls",
    operation_id="list_tool_calls",
    summary="Every call, its names, its state and its results",
    responses=answers(404, 422),
    response_model=ToolCallListOut,
)
async def tool_calls(cid: str, query: Annotated[PageQuery, Query()], here: Here) -> Response:
    return json_response(
        await here.database.read(
            lambda store: audit.tool_calls(store, cid, query.limit, query.cursor)
        )
    )


@router.get(
    "/tool-calls/lookup",
    operation_id="lookup_tool_calls",
    summary="Where an id is known",
    responses=answers(422),
    response_model=FoundCallListOut,
)
async def lookup(query: Annotated[LookupQuery, Query()], here: Here) -> Response:
    """As raw id, canonical id, or id that a provider was shown."""
    return json_response(
        await here.database.read(lambda store: audit.lookup(store, query.id, query.limit))
    )
