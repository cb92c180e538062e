"""Reading requests: bodies within their limit, conditions and keys from the headers."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from typing import TypeVar

from anyio.to_thread import run_sync
from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from ..jsontext.reading import loads_object
from ..jsontext.twice import check_once
from ..model import telling
from ..model.errors import NotJson, RuleBroken, TooLarge, Unsupported
from ..model.json_values import JsonObject, Texts
from ..model.limits import Limits
from .complaints import rule_broken
from .context import Context

_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json")
# What a stream may be declared as; the last one only where the format has such streams.
STREAMS = (
    "text/event-stream",
    "application/x-ndjson",
    "application/vnd.amazon.eventstream",
    "application/json",
)
_FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_LINES = re.compile(r"application/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)")
_NO_OBJECT = {
    "": "The body is empty; it must be a JSON object.",
    "[": "The body must be an object, not a list."
    ' A list of messages goes inside: `{"provider": "openai", "messages": [...]}`.',
    '"': "The body must be an object, not a string."
    " JSON that was encoded twice arrives as a string: encode it once.",
}
KEY = re.compile(r"[\x21-\x7e]{1,255}")
# The version, or the tag with which a conversation is read: its version and a hash.
VERSION = re.compile(r'(?:W/)?"?([0-9]{1,15})(-[0-9a-f]{16})?"?')
TOLD = re.compile(r"[0-9]{0,15}")
_FEWER = " Post fewer turns at once."
# So many bytes of a body cost the loop little; a larger one is read on a thread.
SMALL = 16 * 1024
Model = TypeVar("Model", bound=BaseModel)
Result = TypeVar("Result")


@asynccontextmanager
async def body_of(request: Request, here: Context) -> AsyncIterator[bytes]:
    """The whole body, held until its work is done. More than the limit is refused before it is
    read to its end."""
    media_type = _media_type(request)
    if not _JSON.fullmatch(media_type):
        raise _unsupported(["application/json"], media_type)
    most, pieces = here.limits.body_bytes, bytearray()
    # The length that the head promises. No body is longer than eighteen digits can say.
    digits = request.headers.get("content-length", "").lstrip("0")
    if digits.isdecimal() and int(digits[:18]) > most:
        raise TooLarge("body_bytes", most, _FEWER)
    with closing(here.place()) as place:
        async for piece in request.stream():
            pieces += piece
            if len(pieces) > most:
                raise TooLarge("body_bytes", most, _FEWER)
            if len(pieces) > SMALL:
                place.hold(len(pieces))
        yield bytes(pieces)


def check_is_stream(request: Request, *, arrays: bool) -> None:
    """`arrays`: a stream of this format may be one JSON document."""
    media_type = _media_type(request)
    taken = STREAMS if arrays else STREAMS[:-1]
    if media_type not in taken and not _LINES.fullmatch(media_type):
        raise _unsupported(taken, media_type)


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").split(";")[0].strip().lower()


def _unsupported(taken: Sequence[str], given: str) -> Unsupported:
    wanted = telling.either(taken)
    if not given:
        return Unsupported(f"`Content-Type` is required and must be {wanted}.")
    hint = ""
    if given in _FORMS:
        hint = f" `curl -d` sends a form unless it is told: add `-H 'content-type: {taken[0]}'`."
    elif given in STREAMS[:-1] or _LINES.fullmatch(given):
        hint = " A stream goes to POST /v1/conversations/{cid}/turns/stream."
    elif _JSON.fullmatch(given):
        hint = " A whole response goes to POST /v1/conversations/{cid}/turns, as `response`."
    return Unsupported(f"`Content-Type` must be {wanted}, not {telling.quoted(given)}.{hint}")


def unread(request: Request) -> bytes:
    """What had arrived when the connection broke: uvicorn tells of the break and keeps the rest."""
    cycle = getattr(request.receive, "__self__", None)
    return bytes(getattr(cycle, "body", b""))


async def json_object(body: bytes, here: Context) -> tuple[JsonObject, Texts]:
    """The body as an object, with the texts of its members."""
    if len(body) <= SMALL:
        return _decoded(body, here.limits)
    return await run_sync(_decoded, body, here.limits, limiter=here.decoding)


def _decoded(body: bytes, limits: Limits) -> tuple[JsonObject, Texts]:
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise NotJson(f"The body must be UTF-8; byte {error.start} is not.") from None
    # By its first sign, so that whoever sent JSON of another kind is not told of broken JSON.
    if (sign := text.lstrip(" \t\r\n")[:1]) != "{":
        raise NotJson(
            _NO_OBJECT.get(sign, "The body must be a JSON object, which begins with `{`.")
        )
    return loads_object(text, limits)


async def members_of(body: bytes, here: Context) -> JsonObject:
    """The same, where the body is not kept as it came: nothing in it may be given twice."""
    members, texts = await json_object(body, here)
    check_once(members, texts, members)
    return members


async def worked(body: bytes, work: Callable[[], Result]) -> Result:
    """What is done with a body; with a large one on a thread, as others are to be served."""
    return work() if len(body) <= SMALL else await run_sync(work)


async def model_of(body: bytes, kind: type[Model], here: Context) -> Model:
    """The body as one of our models."""
    members = await members_of(body, here)
    try:
        return await worked(body, lambda: kind.model_validate(members))
    except ValidationError as error:
        schemas = kind.model_json_schema()["properties"]
        raise rule_broken(error.errors()[0], schemas, query=False) from None


def idempotency_key(request: Request) -> str | None:
    key = _header(request, "Idempotency-Key")
    if key is not None and not KEY.fullmatch(key):
        raise RuleBroken(
            "`Idempotency-Key` must have 1 to 255 printable ASCII characters and no spaces."
        )
    return key


def expected_version(request: Request) -> int | None:
    """The version to append to. Of the tag of a conversation only the version counts here: turns
    do not depend on the title."""
    expected = expected_state(request)
    return int(expected.partition("-")[0]) if expected else None


def expected_state(request: Request) -> str | None:
    """What a conversation must be to be changed: its version, or its tag, without quotes."""
    tag = _header(request, "If-Match")
    if tag is None:
        return None
    found = VERSION.fullmatch(tag.strip())
    if not found:
        given = telling.quoted(tag.strip().strip('"'))
        raise RuleBroken(f'`If-Match` must be a version in quotes, like `"12"`, not {given}.')
    return f"{int(found[1])}{found[2] or ''}"


def last_version(request: Request) -> int | None:
    """The version that a listener was told before its connection broke."""
    given = _header(request, "Last-Event-ID")
    if not given:
        return None
    if not TOLD.fullmatch(given):
        raise RuleBroken("`Last-Event-ID` must be a version, like `12`.")
    return int(given)


def _header(request: Request, name: str) -> str | None:
    given = request.headers.getlist(name)
    if len(given) > 1:
        raise RuleBroken(f"`{name}` must be given once, not {len(given)} times.")
    return given[0] if given else None


async def demand_client(request: Request) -> None:
    """Raises where nobody waits for the response any more."""
    if await request.is_disconnected():
        raise ClientDisconnect


def has_already(request: Request, etag: str) -> bool:
    """Whether the caller says that it has the bytes of this tag; `*` stands for any."""
    tags = request.headers.get("if-none-match", "").split(",")
    return any(tag.strip().removeprefix("W/") in (etag, "*") for tag in tags)
