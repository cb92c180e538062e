"""`/v1/conversations/{cid}/turns`: append, list, read one."""

import hashlib
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from app.api.context import Here, json_response
from app.api.documented import answers, takes
from app.api.requests import body_bytes, expected_version, idempotency_key, json_object
from app.api.schemas import AppendedOut, TurnListOut, TurnOut, TurnPageQuery, TurnsIn
from app.core.limits import Limits
from app.service import turns
from app.service.conversations import check_id
from app.service.ingest import Append, ingest
from app.service.posting import Post, read_post
from app.service.tooldefs import KeepTools, riding_order

router = APIRouter(prefix="/v1/conversations/{cid}/turns", tags=["turns"])

# Larger bodies are read on a thread: the loop must go on serving others meanwhile.
_SMALL = 64 * 1024
_HEADERS: list[dict[str, Any]] = [
    {
        "name": "Idempotency-Key",
        "in": "header",
        "schema": {"type": "string", "maxLength": 255},
        "description": "A retry with the same key and body is stored once.",
    },
    {
        "name": "If-Match",
        "in": "header",
        "schema": {"type": "string"},
        "description": 'Append only to this version, like "12".',
    },
]


@router.post(
    "",
    status_code=201,
    summary="Append turns, atomically",
    responses=answers(400, 409, 412, 413, 415, 422, 503),
    response_model=AppendedOut,
    openapi_extra={**takes(TurnsIn), "parameters": _HEADERS},
)
async def append(cid: str, request: Request, here: Here) -> Response:
    """Durable before it is answered. A conversation that is absent is created."""
    check_id(cid)
    key = idempotency_key(request)
    version = expected_version(request)
    body = await body_bytes(request, here.limits)
    with here.claim(cid, key):
        if len(body) <= _SMALL:
            post, tools = _read(body, here.limits)
        else:
            post, tools = await run_sync(_read, body, here.limits)
        order = Append(cid, post, hashlib.sha256(body).digest(), key, version, tools)
        done = await here.database.write(cid, lambda store: ingest(store, order))
    if done.replayed:
        return json_response(done.answer, 200, {"Idempotent-Replayed": "true"})
    return json_response(done.answer, 201, {"ETag": f'"{done.version}"'})


def _read(body: bytes, limits: Limits) -> tuple[Post, KeepTools | None]:
    members, texts = json_object(body, limits)
    return read_post(members, texts, limits), riding_order(members, limits)


@router.get("", summary="Stored turns", responses=answers(404, 422), response_model=TurnListOut)
async def listed(cid: str, query: Annotated[TurnPageQuery, Query()], here: Here) -> Response:
    """In the neutral form, in order; page with `after`."""
    return json_response(
        await here.database.read(
            lambda store: turns.listed(store, cid, query.after, query.limit, raw=query.raw)
        )
    )


@router.get("/{turn_id}", summary="One turn", responses=answers(404), response_model=TurnOut)
async def one(cid: str, turn_id: str, here: Here) -> Response:
    """With what was posted."""
    return json_response(await here.database.read(lambda store: turns.one(store, cid, turn_id)))
