"""`/v1/conversations/{cid}/tools`: definitions and tool choice, kept by version."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response

from ..conversations.commands import check_id
from ..edge.context import Here, json_response
from ..edge.documented import ABSENT, Cid, reading
from ..edge.requests import body_of, expected_state, members_of
from ..edge.routes import routes
from . import commands as tooldefs
from .tool_models import ToolsIn, ToolsOut, ToolsPutOut, ToolsQuery

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
