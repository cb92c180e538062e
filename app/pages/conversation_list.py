"""The first page: conversations, newest first, searched and filtered; and where an id leads."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode

from fastapi import Query, Response

from ..audit.lookup import lookup
from ..conversations import queries as finding
from ..database.store import ReadStore
from ..edge.context import Here
from ..edge.shapes import In
from ..formats.registry import TARGETS
from ..jsontext.fields import objects
from ..model.forms import CONVERSATION_ID
from ..model.json_values import JsonObject
from .page import html, moved, pages, rendered, shown

router = pages()

_PAGE = 50
_OF_METADATA = "metadata."


class ListQuery(In):
    """Empty fields of a form are sent, too."""

    q: str = ""
    provider: str = ""
    tool: str = ""
    state: Literal["", "open", "interrupted"] = ""
    metadata: str = ""
    cursor: str | None = None
    # As what was typed into the field for ids, and is none.
    looked_up: bool = False


class GoQuery(In):
    id: str = ""


@router.get("/")
async def conversations_page(query: Annotated[ListQuery, Query()], here: Here) -> Response:
    wish = finding.Asked(
        order="updated",
        limit=_PAGE,
        cursor=query.cursor,
        q=query.q or None,
        tool=[query.tool] if query.tool else [],
        provider=[query.provider] if query.provider else [],
        metadata=list(_metadata(query.metadata)),
        state=query.state or None,
        prefix=here.prefix,
    )
    if here.database.searches and query.q:
        await here.indexer.caught_up(here.database)

    def found(store: ReadStore) -> dict[str, Any]:
        page = finding.listed(store, wish)
        asked = {name: value for name, value in query.model_dump().items() if value}
        following = urlencode({**asked, "cursor": page["next_cursor"]}) if page["has_more"] else ""
        return {"page": page, "query": query, "targets": TARGETS, "following": following}

    return await shown(here, "conversations.html", found)


@router.get("/go")
async def go(query: Annotated[GoQuery, Query()], here: Here) -> Response:
    """Any id leads to where it is known; what is known nowhere is searched for."""
    wanted = query.id.strip()
    if not wanted:
        return moved("/")

    def found(store: ReadStore) -> tuple[str | None, bytes]:
        is_ours = CONVERSATION_ID.fits(wanted) and wanted.startswith(here.prefix)
        if is_ours and store.damage.has_head(wanted):
            return f"/c/{quote(wanted)}", b""
        page = lookup(store, wanted, limit=_PAGE, prefix=here.prefix)
        places = [(one, _place(one)) for one in objects(page["data"])]
        if not places:
            return f"/?{urlencode({'q': wanted, 'looked_up': 'true'})}", b""
        if len({place for _, place in places}) == 1 and "damaged" not in page:
            return places[0][1], b""
        has_key = here.key is not None
        return None, rendered(
            "found.html", has_key=has_key, wanted=wanted, places=places, page=page
        )

    where, body = await here.database.read(found)
    return moved(where) if where else html(body)


def _place(found: JsonObject) -> str:
    """The page where something is told that was found."""
    path = f"/c/{quote(str(found['conversation_id']))}?at={found['seq']}"
    if found["kind"] in ("raw", "canonical", "provider_id"):
        return f"{path}#call-{found['id']}"
    return f"{path}#turn-{found['seq']}"


def _metadata(text: str) -> Iterator[tuple[str, str]]:
    """`team=blue, user=7`, as people write it."""
    for pair in text.split(","):
        name, separator, value = pair.partition("=")
        if separator:
            yield name.strip().removeprefix(_OF_METADATA), value.strip()
