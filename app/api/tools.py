"""`/v1/conversations/{cid}/tools`: definitions and tool choice, kept by version."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response

from app.api.context import Here, json_response
from app.api.documented import ABSENT, Cid, reading
from app.api.requests import body_of, expected_state, members_of
from app.api.routes import routes
from app.api.schemas.tools import ToolsIn, ToolsOut, ToolsPutOut, ToolsQuery
from app.service import tooldefs
from app.service.conversations import check_id

router = routes("/v1/conversations/{cid}/tools", "tools")


@router.put(
    "",
    summary="Keep tool definitions and tool choice",
    response_model=ToolsPutOut,
    **reading(ToolsIn, 412),
)
async def put_tools(cid: Cid, request: Request, here: Here) -> Response:
    """In any provider's shape; in force from the present version on. Unusable ones are named."""
    check_id(cid)
    expected = expected_state(request)
    async with body_of(request, here) as body:
        members = await members_of(body, here)
        order = await run_sync(tooldefs.read_order, members, body, here.limits)
        return json_response(await here.database.write(tooldefs.PutTools(cid, order, expected)))


@router.get(
    "",
    summary="The tool definitions, rendered for a provider",
    responses=ABSENT,
    response_model=ToolsOut,
)
async def get_tools(cid: Cid, query: Annotated[ToolsQuery, Query()], here: Here) -> Response:
    target, required = query.provider, query.required
    return await here.respond(lambda store: tooldefs.get_tools(store, cid, target, required))
