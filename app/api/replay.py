"""`/v1/conversations/{cid}/replay`: the history for one provider."""

from typing import Annotated

from fastapi import Query, Request, Response

from app.api.context import Here, Pieces
from app.api.documented import ABSENT, Cid
from app.api.requests import known_tags
from app.api.routes import routes
from app.api.schemas.replay import ReplayOut, ReplayQuery
from app.core.render.options import ReplayOptions
from app.service.replay import replay

router = routes("/v1/conversations/{cid}", "replay")


@router.get(
    "/replay",
    summary="The history, rendered for one provider",
    responses={**ABSENT, 304: {"description": "You have these bytes already"}},
    response_model=ReplayOut,
)
async def replay_conversation(
    cid: Cid, query: Annotated[ReplayQuery, Query()], request: Request, here: Here
) -> Response:
    """`request` goes into the provider's SDK; `repairs` says what it took to be valid."""
    options = ReplayOptions(**query.model_dump())
    tags = known_tags(request)
    done = await here.database.read(lambda store: replay(store, cid, options, tags, here.renders))
    if done.body is None:
        return Response(status_code=304, headers={"ETag": done.etag})
    return Pieces(done.body, {"ETag": done.etag})
