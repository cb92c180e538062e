"""Two replays of a conversation side by side, and what to copy."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request, Response

from app.api.context import Here
from app.api.documented import Cid
from app.api.pages.page import pages, shown
from app.api.schemas.shapes import In
from app.codecs import CODECS, TARGETS
from app.core.json.pretty import indented
from app.core.json.text import JsonObject, dumps, loads
from app.core.render.options import Reasoning, ReplayOptions, ToolsShown
from app.core.render.repairs import CODES
from app.service.conversations import read
from app.service.kept import Renders
from app.service.replay import replay
from app.service.turnform import UNLIMITED
from app.service.views.aligned import Told, aligned, beside, unplaced
from app.service.views.snippets import snippets
from app.storage.store import ReadStore

router = pages()

_TURNS = 30
_MOST_TURNS = 500
# Characters of a request that are written into the page to be copied.
_COPIED = 500_000


class SidesQuery(In):
    left: str = "anthropic"
    right: str = "openai"
    last: int = Query(_TURNS, ge=1, le=_MOST_TURNS)
    max_tokens: str = Query("", pattern="^[0-9]{0,9}$")
    until: str = ""
    reasoning: Reasoning = "auto"
    tools: ToolsShown = "include"
    ready: bool = False


@router.get("/conversations/{cid}/replay")
async def replay_page(
    cid: Cid, query: Annotated[SidesQuery, Query()], request: Request, here: Here
) -> Response:
    origin = f"{request.url.scheme}://{request.headers.get('host', '127.0.0.1:8420')}"

    def found(store: ReadStore) -> dict[str, Any]:
        conversation = read(store, cid)
        sides = [_side(store, cid, query, target) for target in (query.left, query.right)]
        left, right = (_told(body, target) for body, target in sides)
        rows = aligned(left, right)
        return {
            "conversation": conversation,
            "tab": "replay",
            "query": query,
            "targets": TARGETS,
            "most": _MOST_TURNS,
            "meanings": CODES,
            "rows": rows,
            "numbers": store.turns.numbers(cid, [turn for row in rows for turn in row.turns]),
            "highest": max((row.tokens for row in rows), default=1),
            "sides": [
                {
                    "target": target,
                    "tokens": sum(told.tokens),
                    "messages": len(told.messages),
                    "repairs": unplaced(told, rows),
                    "beside": indented(beside(_request(body), CODECS[target].messages)),
                    "pending": body["pending"],
                    "json": _copied(body),
                    "snippets": snippets(target, _url(origin, cid, query, target)),
                }
                for (body, target), told in zip(sides, (left, right), strict=True)
            ],
        }

    return await shown(here, "replay.html", found)


def _options(query: SidesQuery, target: str) -> dict[str, Any]:
    given: dict[str, Any] = {"provider": target, "last": query.last}
    if query.max_tokens.strip("0"):
        given["max_tokens"] = int(query.max_tokens)
    if query.until:
        given["until"] = query.until
    for name in ("reasoning", "tools", "ready"):
        if (value := getattr(query, name)) != SidesQuery.model_fields[name].default:
            given[name] = value
    return given


def _side(store: ReadStore, cid: str, query: SidesQuery, target: str) -> tuple[JsonObject, str]:
    options = ReplayOptions(**_options(query, target), tokens=True)
    done = replay(store, cid, options, renders=Renders())
    body = loads(b"".join(done.body or ()).decode(), UNLIMITED)
    assert isinstance(body, dict)
    return body, target


def _request(body: JsonObject) -> JsonObject:
    request = body["request"]
    assert isinstance(request, dict)
    return request


def _told(body: JsonObject, target: str) -> Told:
    messages: Any = _request(body)[CODECS[target].messages]
    told: Any = body
    return Told(
        [dumps(message) for message in messages],
        told["turns"],
        told["tokens"],
        told["repairs"],
    )


def _copied(body: JsonObject) -> str | None:
    text = dumps(body["request"])
    return indented(text) if len(text) <= _COPIED else None


def _url(origin: str, cid: str, query: SidesQuery, target: str) -> str:
    options = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in _options(query, target).items()
    }
    return f"{origin}/v1/conversations/{cid}/replay?{urlencode(options)}"
