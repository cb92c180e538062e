"""`/v1/conversations/{cid}/replay`: the history for one provider."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.api.context import Here, json_response
from app.api.documented import answers
from app.api.parameters import Cid
from app.api.requests import known_tags
from app.api.schemas.replay import ReplayOut, ReplayQuery
from app.service.rendering import Wanted
from app.service.replay import replay

router = APIRouter(prefix="/v1/conversations/{cid}", tags=["replay"])


@router.get(
    "/replay",
    operation_id="replay_conversation",
    summary="The history, rendered for one provider",
    responses={**answers(404, 422), 304: {"description": "You have these bytes already"}},
    response_model=ReplayOut,
)
async def replayed(
    cid: Cid, query: Annotated[ReplayQuery, Query()], request: Request, here: Here
) -> Response:
    """`request` goes into the provider's SDK; `repairs` says what it took to be valid."""
    wanted = Wanted(
        conversation_id=cid,
        target=query.provider,
        model=query.model,
        until=query.until,
        last=query.last,
        max_tokens=query.max_tokens,
        reasoning=query.reasoning,
        tools=query.tools,
        since=query.since,
        ready=query.ready,
    )
    tags = known_tags(request)
    done = await here.database.read(lambda store: replay(store, wanted, tags))
    if done.answer is None:
        return Response(status_code=304, headers={"ETag": done.etag})
    return json_response(done.answer, headers={"ETag": done.etag})
