"""The audit: the calls of a conversation, and where an id is known."""

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from ..edge.context import Context, Here
from ..edge.documented import ABSENT, TABLE, Cid
from ..edge.routes import routes
from . import queries as audit
from .lookup import lookup
from .tool_call_models import FoundListOut, LookupQuery, ToolCallListOut, ToolCallPageQuery

# Calls of a table that are held at a time.
_LINES = 500

router = routes("/v1", "audit")


@router.get(
    "/conversations/{cid}/tool-calls",
    summary="Every call: names, state, parameters, result, times",
    responses={**ABSENT, **TABLE},
    response_model=ToolCallListOut,
)
async def list_tool_calls(
    cid: Cid, query: Annotated[ToolCallPageQuery, Query()], here: Here
) -> Response:
    """The newest first, unless `order=asc`; all, or those in one `state`. `format=csv` gives the
    whole table, with a column for each target; cells that a spreadsheet would take for a formula
    begin with a quote."""
    page = audit.Page(**query.model_dump(exclude={"format"}))
    if query.format == "json":
        return await here.respond(lambda store: audit.tool_calls(store, cid, page))
    page = replace(page, limit=_LINES)
    # Before the response begins: the conversation may be absent.
    first = await here.database.read(lambda store: audit.table(store, cid, page))
    headers = {"Content-Disposition": 'attachment; filename="tool-calls.csv"'}
    return StreamingResponse(_table(here, cid, page, first), headers=headers, media_type="text/csv")


async def _table(
    here: Context, cid: str, page: audit.Page, first: tuple[bytes, str | None]
) -> AsyncIterator[bytes]:
    """The table, some lines at a time."""
    lines, place = first
    yield lines
    while place is not None:
        more = partial(audit.table, cid=cid, page=replace(page, cursor=place))
        lines, place = await here.database.read(more)
        yield lines


@router.get("/tool-calls/lookup", summary="Where an id is known", response_model=FoundListOut)
async def lookup_tool_calls(query: Annotated[LookupQuery, Query()], here: Here) -> Response:
    """As an id of a call (raw, canonical, or shown by a target), of a result whose call is not
    known, of a response, of a turn. The newest first.
    """
    return await here.respond(
        lambda store: lookup(store, query.id, query.limit, query.cursor, here.prefix)
    )
