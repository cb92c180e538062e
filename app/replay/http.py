"""`/v1/conversations/{cid}/replay`: the history for one provider."""

from functools import partial
from typing import Annotated

from fastapi import Query, Request, Response

from ..database.store import ReadStore
from ..edge.context import Here, Pieces
from ..edge.documented import ABSENT, IF_NONE_MATCH, UNCHANGED, Cid
from ..edge.requests import demand_client, has_already
from ..edge.routes import routes
from .options import ReplayOptions
from .queries import Replaying
from .replay_models import ReplayOut, ReplayQuery

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
