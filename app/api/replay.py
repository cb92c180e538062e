"""`/v1/conversations/{cid}/replay`: the history for one provider."""

from functools import partial
from typing import Annotated

from fastapi import Query, Request, Response

from app.api.context import Here, Pieces
from app.api.documented import ABSENT, IF_NONE_MATCH, UNCHANGED, Cid
from app.api.requests import demand_client, has_already
from app.api.routes import routes
from app.api.schemas.replay import ReplayOut, ReplayQuery
from app.core.render.options import ReplayOptions
from app.service.replay import Replaying
from app.storage.store import ReadStore

router = routes("/v1/conversations/{cid}", "replay")


@router.get(
    "/replay",
    summary="The history, rendered for one provider",
    responses={**ABSENT, **UNCHANGED},
    openapi_extra={"parameters": [IF_NONE_MATCH]},
    response_model=ReplayOut,
)
async def replay_conversation(
    cid: Cid, query: Annotated[ReplayQuery, Query()], request: Request, here: Here
) -> Response:
    """`request` goes into the provider's SDK; `repairs` says what it took to be valid."""
    options = ReplayOptions(**query.model_dump())

    def found(store: ReadStore) -> Response:
        replaying = Replaying.of(store, cid, options)
        etag = replaying.etag
        if has_already(request, etag):
            return Response(status_code=304, headers={"ETag": etag})
        return Pieces(replaying.body(here.renders), {"ETag": etag})

    return await here.database.read(found, check=partial(demand_client, request))
