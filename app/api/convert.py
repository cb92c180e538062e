"""`/v1/convert/…`: the codecs without storage."""

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response

from app.api.context import Here, json_response
from app.api.documented import EVERYWHERE, refusals, takes
from app.api.requests import body_bytes, json_object
from app.api.routes import Direct
from app.api.schemas import convert as shapes
from app.service import convert

router = APIRouter(prefix="/v1/convert", tags=["convert"], route_class=Direct, responses=EVERYWHERE)


@router.post(
    "/messages",
    operation_id="convert_messages",
    summary="A request of one wire as a request of another",
    responses=refusals(400, 413, 415, 422),
    response_model=shapes.ConvertMessagesOut,
    openapi_extra=takes(shapes.ConvertMessagesIn),
)
async def messages(request: Request, here: Here) -> Response:
    """Nothing is stored; ids are those that an empty conversation would give."""
    members, texts = json_object(await body_bytes(request, here.limits), here.limits)
    return json_response(await run_sync(convert.convert_messages, members, texts, here.limits))


@router.post(
    "/tools",
    operation_id="convert_tools",
    summary="Tool definitions of one wire as those of another",
    responses=refusals(400, 413, 415, 422),
    response_model=shapes.ConvertToolsOut,
    openapi_extra=takes(shapes.ConvertToolsIn),
)
async def tools(request: Request, here: Here) -> Response:
    members, _ = json_object(await body_bytes(request, here.limits), here.limits)
    return json_response(await run_sync(convert.convert_tools, members, here.limits))


@router.post(
    "/tool-id",
    operation_id="convert_tool_id",
    summary="Swap the prefix of a tool id",
    responses=refusals(400, 413, 415, 422),
    response_model=shapes.ConvertToolIdOut,
    openapi_extra=takes(shapes.ConvertToolIdIn),
)
async def tool_id(request: Request, here: Here) -> Response:
    members, _ = json_object(await body_bytes(request, here.limits), here.limits)
    return json_response(convert.convert_tool_id(members))
