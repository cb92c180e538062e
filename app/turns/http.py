"""`/v1/conversations/{cid}/turns`: append, list, read one."""

import hashlib
import logging
from asyncio import CancelledError, ensure_future, wait
from collections.abc import Awaitable
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response
from starlette.requests import ClientDisconnect

from ..conversations.commands import check_id
from ..edge.context import Here, json_response
from ..edge.documented import (
    ABSENT,
    CONDITIONS,
    Cid,
    TurnId,
    appended_before,
    leads_to,
    refusals,
    takes,
    takes_stream,
)
from ..edge.requests import (
    SMALL,
    Result,
    body_of,
    check_is_stream,
    expected_version,
    idempotency_key,
    json_object,
    unread,
    worked,
)
from ..edge.routes import routes
from ..model.errors import RuleBroken, StaleVersion, TooLarge, TurnkeepError, Unavailable
from ..model.json_values import JsonObject, Texts
from ..model.limits import Limits
from ..sync.commands import Sync, news
from ..sync.messagelist import MessageList, read_list
from ..sync.seeing import look
from ..tools.commands import riding_order
from . import queries as stored
from .commands import Append, Appended
from .posting import read_post
from .retries import check_version
from .streaming import Stream
from .turn_models import (
    AppendedOut,
    PostQuery,
    StreamQuery,
    TurnListOut,
    TurnOut,
    TurnPageQuery,
    TurnsIn,
)
from .turnform import NewTurn, made_ready

router = routes("/v1/conversations/{cid}/turns", "turns")

_log = logging.getLogger("turnkeep")
_NO_ROOM = (
    "There is no room for the rest of this stream. What had come is stored as an interrupted turn:"
    " post the whole response under its `turn_id`, and do not send the stream again."
)


_THEN = leads_to(
    *("get_turn", "append_turns", "list_turns", "replay_conversation", "list_tool_calls"),
    *("verify_conversation", "erase_conversation"),
    cid="$request.path.cid",
)
_THEN["links"]["get_turn"]["parameters"] |= {"turn_id": "$response.body#/turns/0/turn_id"}


@router.post(
    "",
    status_code=201,
    summary="Append turns, atomically",
    responses=appended_before(AppendedOut) | refusals(400, 409, 412, 413, 415) | {201: _THEN},
    response_model=AppendedOut,
    openapi_extra={**takes(TurnsIn), "parameters": CONDITIONS},
)
async def append_turns(
    cid: Cid, query: Annotated[PostQuery, Query()], request: Request, here: Here
) -> Response:
    """Durable before the receipt is sent. A conversation that is absent is created.

    With `mode=sync` the body holds the whole list of messages as a runtime keeps it. What of it is
    stored is recognised by its content, what is new is appended; 200 when nothing is. A list that
    contradicts the stored history is refused with 409, and the first difference is named.
    """
    check_id(cid)
    key = idempotency_key(request)
    version = expected_version(request)
    async with body_of(request, here) as body:
        with here.claim(cid, key):
            given = await json_object(body, here)
            read = partial(_command, cid, query, key, version, body, *given, here.limits)
            command = await worked(body, read)
            if isinstance(command, Sync):
                messages = command.messages
                seen = await here.database.read(lambda store: look(store.history(cid), messages))
                brought = await worked(body, partial(news, messages, seen))
                command = replace(command, seen=seen, news=brought)
            # Many may have come at once, and found nobody waiting.
            here.check_writer(cid)
            done = await here.database.write(command)
    return _receipt(done)


@router.post(
    "/stream",
    status_code=201,
    summary="Append one turn from a provider's stream",
    responses=appended_before(AppendedOut) | refusals(409, 412, 413, 415),
    response_model=AppendedOut,
    openapi_extra={**takes_stream(), "parameters": CONDITIONS},
)
async def append_stream(
    cid: Cid, query: Annotated[StreamQuery, Query()], request: Request, here: Here
) -> Response:
    """The body is what the provider sent, byte for byte, live or recorded. It is read while it
    arrives. A stream that breaks, or for which there is no room any more (503), is stored as far as
    it came, with the status `interrupted`; post the whole response under the same `turn_id` to
    complete the turn.
    """
    check_id(cid)
    key = idempotency_key(request)
    version = expected_version(request)
    given = {name: value for name, value in query.model_dump(exclude={"returned"}).items() if value}
    stream = Stream(given, here.limits)
    check_is_stream(request, arrays=stream.arrays)
    if version is not None:
        # Now, and not when the model has said everything.
        await here.database.read(
            lambda store: check_version(store, cid, version, key, query.turn_id)
        )
    with here.claim(cid, key), closing(stream), closing(here.place()) as place:
        # Where there is no room at all, nothing is read.
        place.hold(SMALL)
        try:
            async for piece in request.stream():
                # What an event is made of is read when its last piece has come.
                if stream.pending + len(piece) <= SMALL:
                    stream.feed(piece)
                else:
                    await _to_its_end(run_sync(stream.feed, piece))
                if stream.held > SMALL:
                    place.hold(stream.held)
        except (ClientDisconnect, CancelledError, Unavailable) as error:
            # Nobody hears the receipt, so no key may promise that it was given.
            rest = unread(request)
            if stream.size or rest:
                await _to_its_end(_keep(cid, stream, rest, version, here))
            if isinstance(error, Unavailable) and stream.size:
                raise Unavailable(_NO_ROOM) from None
            raise
        if not stream.size:
            raise RuleBroken("The stream is empty; it must be what the provider sent.")
        ready = await _to_its_end(run_sync(_ready, stream))
        texts = query.returned == "turns"
        command = Append(
            cid, ready, stream.digest, key, version, arrived=True, texts=texts, size=stream.size
        )
        done = await _stored(command, here)
    if done.overtaken is not None:
        assert done.version is not None
        raise StaleVersion(cid, str(version), done.version, turn_id=done.overtaken)
    return _receipt(done)


async def _to_its_end(work: Awaitable[Result]) -> Result:
    """What the work gives. Whoever is cancelled meanwhile hears of it when the work is done: a
    thread goes on with the stream, and the stream must stay open for it."""
    task, cancelled = ensure_future(work), None
    while not task.done():
        try:
            await wait({task})
        except CancelledError as error:
            cancelled = error
    if cancelled:
        # What the work raised is nobody's any more.
        task.exception()
        raise cancelled
    return task.result()


async def _stored(command: Append, here: Here) -> Appended:
    """A stream that has come cannot be had again: where the service stops before its writer has
    begun, it is stored all the same, though nobody hears of it."""
    try:
        return await here.database.write(command)
    except CancelledError:
        with suppress(TurnkeepError):
            await _to_its_end(here.database.write(replace(command, key=None)))
        raise


async def _keep(cid: str, stream: Stream, rest: bytes, version: int | None, here: Here) -> None:
    """Stores what a broken connection left behind; the log is the only one to tell."""
    try:
        ready = await run_sync(_ready_as_it_came, stream, rest)
        command = Append(cid, ready, expected_version=version, arrived=True, size=stream.size)
        done = await here.database.write(command)
    except TurnkeepError as error:
        _log.warning("a broken stream for %s is not stored: %s", cid, error.detail)
    else:
        _log.info("a broken stream for %s is stored, version %s", cid, done.version)


def _receipt(done: Appended) -> Response:
    if done.replayed:
        return json_response(done.receipt, 200, {"Idempotent-Replayed": "true"})
    return json_response(done.receipt, done.status, {"ETag": f'"{done.version}"'})


def _digest(body: bytes, *, is_sync: bool) -> bytes:
    """Tells requests under one key apart: the same body means another thing when it is synced."""
    digest = hashlib.sha256(b"mode=sync\n" if is_sync else b"")
    digest.update(body)
    return digest.digest()


def _ready(stream: Stream, *, hung_up: bool = False) -> tuple[NewTurn, ...]:
    return made_ready([stream.draft(hung_up=hung_up)])


def _ready_as_it_came(stream: Stream, rest: bytes) -> tuple[NewTurn, ...]:
    """With the `rest`, as far as it is not too much."""
    with suppress(TooLarge):
        stream.feed(rest)
    return _ready(stream, hung_up=True)


def _command(
    cid: str,
    query: PostQuery,
    key: str | None,
    version: int | None,
    body: bytes,
    members: JsonObject,
    texts: Texts,
    limits: Limits,
) -> Append | Sync:
    """What a body asks for, with all that can be done before the writer's turn comes."""
    is_sync = query.mode == "sync"
    read = read_list(members, texts, limits) if is_sync else read_post(members, texts, limits)
    # A retry must be told from another request under its key.
    digest = b"" if key is None else _digest(body, is_sync=is_sync)
    tools, says = riding_order(members, limits), query.returned == "turns"
    if isinstance(read, MessageList):
        return Sync(cid, read, None, None, digest, key, version, tools, says, len(body))
    ready = made_ready(read.drafts)
    conditions = (digest, key, version, tools)
    return Append(cid, ready, *conditions, texts=says, size=len(body), notes=read.notes)


@router.get(
    "",
    summary="Stored turns",
    responses=ABSENT,
    response_model=TurnListOut,
)
async def list_turns(cid: Cid, query: Annotated[TurnPageQuery, Query()], here: Here) -> Response:
    """In the neutral form, in order. `next_cursor` is the `after` of the next page; with
    `order=desc`, newest first, its `before`.
    """
    newest_first = query.order == "desc"
    page = stored.Page(query.after, query.before, query.limit, newest_first=newest_first)
    return await here.respond(lambda store: stored.listed(store, cid, page, raw=query.raw))


@router.get(
    "/{turn_id}",
    summary="One turn",
    responses=ABSENT,
    response_model=TurnOut,
)
async def get_turn(cid: Cid, turn_id: TurnId, here: Here) -> Response:
    """With what was posted."""
    return await here.respond(lambda store: stored.one(store, cid, turn_id))
