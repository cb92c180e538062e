"""`/v1/conversations/{cid}/tools`: definitions and tool choice, kept by version."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from app.api.context import Here, json_response
from app.api.documented import EVERYWHERE, refusals, takes
from app.api.parameters import Cid
from app.api.requests import body_bytes, json_object
from app.api.routes import Direct
from app.api.schemas.tools import ToolsIn, ToolsOut, ToolsPutOut, ToolsQuery
from app.service import tooldefs
from app.service.conversations import check_id

router = APIRouter(
    prefix="/v1/conversations/{cid}/tools", tags=["tools"], route_class=Direct, responses=EVERYWHERE
)


@router.put(
    "",
    operation_id="put_tools",
    summary="Keep tool definitions and tool choice",
    responses=refusals(400, 413, 415, 422, 503),
    response_model=ToolsPutOut,
    openapi_extra=takes(ToolsIn),
)
async def put(cid: Cid, request: Request, here: Here) -> Response:
    """In any provider's shape; in force from the present version on. Unusable ones are named."""
    check_id(cid)
    body = await body_bytes(request, here.limits)
    members, _ = json_object(body, here.limits)
    order = await run_sync(tooldefs.read_order, members, body, here.limits)
    return json_response(await here.database.write(tooldefs.PutTools(cid, order)))


@router.get(
    "",
    operation_id="get_tools",
    summary="The tool definitions, rendered for a provider",
    responses=refusals(404, 422),
    response_model=ToolsOut,
)
async def get(cid: Cid, query: Annotated[ToolsQuery, Query()], here: Here) -> Response:
    return json_response(
        await here.database.read(
            lambda store: tooldefs.get_tools(store, cid, query.provider, query.required)
        )
    )
