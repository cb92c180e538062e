"""`/v1/convert/…`: the codecs without storage."""

from functools import partial

from anyio.to_thread import run_sync
from fastapi import Request, Response

from ..edge.context import Here, encoded, json_response
from ..edge.documented import reading
from ..edge.requests import body_of, json_object, members_of
from ..edge.routes import routes
from . import convert_models as shapes
from . import queries as convert

router = routes("/v1/convert", "convert")


@router.post(
    "/messages",
    summary="A request of one wire as a request of another",
    response_model=shapes.ConvertMessagesOut,
    **reading(shapes.ConvertMessagesIn),
)
async def convert_messages(request: Request, here: Here) -> Response:
    """Nothing is stored; ids are those that an empty conversation would give."""
    async with body_of(request, here) as body:
        members, texts = await json_object(body, here)
        work = partial(convert.convert_messages, members, texts, here.limits)
        return json_response(await run_sync(lambda: encoded(work())))


@router.post(
    "/tools",
    summary="Tool definitions of one wire as those of another",
    response_model=shapes.ConvertToolsOut,
    **reading(shapes.ConvertToolsIn),
)
async def convert_tools(request: Request, here: Here) -> Response:
    async with body_of(request, here) as body:
        members = await members_of(body, here)
        work = partial(convert.convert_tools, members, here.limits)
        return json_response(await run_sync(lambda: encoded(work())))


@router.post(
    "/tool-id",
    summary="Swap the prefix of a tool id",
    response_model=shapes.ConvertToolIdOut,
    **reading(shapes.ConvertToolIdIn),
)
async def convert_tool_id(request: Request, here: Here) -> Response:
    async with body_of(request, here) as body:
        members = await members_of(body, here)
        return json_response(convert.convert_tool_id(members))
