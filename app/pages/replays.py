"""Two replays of a conversation side by side, and what to copy."""

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request, Response

from ..conversations.commands import read
from ..database.store import ReadStore
from ..edge.context import Here
from ..edge.documented import Cid
from ..edge.shapes import In
from ..formats.registry import CODECS, TARGETS
from ..jsontext.pretty import indented
from ..jsontext.reading import loads
from ..jsontext.writing import dumps_utf8
from ..model.limits import UNLIMITED
from ..model.repairs import CODES
from ..replay.options import Reasoning, ReplayOptions, ToolsShown
from ..replay.queries import replay
from .aligned import Row, Told, aligned, beside, unplaced
from .page import pages, shown
from .snippets import snippets

router = pages()

_TURNS = 30
_MOST_TURNS = 500
# Bytes of a replay that are laid out.
_SHOWN = 1_500_000


class SidesQuery(In):
    left: str = "anthropic"
    right: str = "openai"
    last: int = Query(_TURNS, ge=1, le=_MOST_TURNS)
    max_tokens: str = Query("", pattern="^[0-9]{0,9}$")
    until: str = ""
    reasoning: Reasoning = "auto"
    tools: ToolsShown = "include"
    ready: bool = False


@router.get("/c/{cid}/replay")
async def replay_page(
    cid: Cid, query: Annotated[SidesQuery, Query()], request: Request, here: Here
) -> Response:
    origin = f"{request.url.scheme}://{request.headers.get('host', '127.0.0.1:8420')}"

    def found(store: ReadStore) -> dict[str, Any]:
        targets = (query.left, query.right)
        page = {
            "conversation": read(store, cid),
            "tab": "replay",
            "query": query,
            "targets": TARGETS,
            "most": _MOST_TURNS,
            "meanings": CODES,
            "snippets": [snippets(one, _url(origin, cid, query, one)) for one in targets],
            "rows": [],
            "sides": [],
        }
        bodies = []
        for target in targets:
            if (body := _body(store, cid, query, target)) is None:
                # The other one is not asked for.
                return page
            bodies.append(body)
        left, right = map(_told, bodies, targets)
        rows = aligned(left, right)
        numbers = store.turns.numbers(cid, [turn for row in rows for turn in row.turns])
        sides = [
            _side(body, target, told, rows)
            for body, target, told in zip(bodies, targets, (left, right), strict=True)
        ]
        highest = max((row.tokens for row in rows), default=1)
        return page | {"rows": rows, "numbers": numbers, "sides": sides, "highest": highest}

    return await shown(here, "replay.html", found)


def _options(query: SidesQuery, target: str) -> dict[str, Any]:
    given: dict[str, Any] = {"provider": target, "last": query.last}
    if query.max_tokens.strip("0"):
        given["max_tokens"] = int(query.max_tokens)
    of_sides = {"left", "right", "last", "max_tokens"}
    return given | query.model_dump(exclude=of_sides, exclude_defaults=True)


def _body(store: ReadStore, cid: str, query: SidesQuery, target: str) -> Any:
    """A replay; None for one that is too long to be laid out."""
    options = ReplayOptions(**_options(query, target), tokens=True)
    text = b"".join(replay(store, cid, options))
    if len(text) > _SHOWN:
        return None
    return loads(text.decode(), UNLIMITED)


def _side(body: dict[str, Any], target: str, told: Told, rows: Sequence[Row]) -> dict[str, Any]:
    """What is said above the messages of a target."""
    return {
        "target": target,
        "model": body.get("model"),
        "tokens": sum(told.tokens),
        "messages": len(told.messages),
        "repairs": unplaced(told, rows),
        "beside": indented(beside(body["request"], CODECS[target].messages)),
        "pending": body["pending"],
        "json": indented(dumps_utf8(body["request"]).decode()),
    }


def _told(body: dict[str, Any], target: str) -> Told:
    messages = body["request"][CODECS[target].messages]
    texts = [dumps_utf8(message).decode() for message in messages]
    return Told(texts, body["turns"], body["tokens"], body["repairs"])


def _url(origin: str, cid: str, query: SidesQuery, target: str) -> str:
    options = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in _options(query, target).items()
    }
    return f"{origin}/v1/conversations/{cid}/replay?{urlencode(options)}"
