"""Reading requests: bodies within their limit, conditions and keys from the headers."""

import re
from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from app.api.problems import first_rule_broken
from app.core.errors import NotJson, RuleBroken, TooLarge, Unsupported
from app.core.jsontext import JsonObject, loads_object
from app.core.limits import Limits

_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json")
_STREAM = re.compile(r"text/event-stream|application/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_VERSION = re.compile(r'(?:W/)?"?([0-9]{1,15})"?')
Model = TypeVar("Model", bound=BaseModel)


async def body_bytes(request: Request, limits: Limits) -> bytes:
    """The whole body; more than the limit is refused before it is read to its end."""
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if not _JSON.fullmatch(media_type):
        raise Unsupported(f"The body must be application/json, not {media_type or 'undeclared'}.")
    if _declared(request) > limits.body_bytes:
        raise _too_large(limits)
    pieces = bytearray()
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > limits.body_bytes:
            raise _too_large(limits)
    return bytes(pieces)


def _declared(request: Request) -> int:
    """The length that the head promises. No body is longer than eighteen digits can say."""
    digits = request.headers.get("content-length", "").lstrip("0")
    return int(digits[:18]) if digits.isdecimal() else 0


def check_is_stream(request: Request) -> None:
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if not _STREAM.fullmatch(media_type):
        raise Unsupported(
            "The body must be text/event-stream or application/x-ndjson,"
            f" not {media_type or 'undeclared'}."
        )


def unread(request: Request) -> bytes:
    """What had arrived when the connection broke: uvicorn tells of the break and keeps the rest."""
    cycle = getattr(request.receive, "__self__", None)
    return bytes(getattr(cycle, "body", b""))


def _too_large(limits: Limits) -> TooLarge:
    return TooLarge(
        f"The limit body_bytes allows {limits.body_bytes} bytes.",
        limit="body_bytes",
        most=limits.body_bytes,
    )


def json_object(body: bytes, limits: Limits) -> tuple[JsonObject, dict[str, list[str]]]:
    """The body as an object, with the texts of its members."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise NotJson(f"The body is not UTF-8 at byte {error.start}.") from None
    if not text.strip():
        raise NotJson("The body is empty.")
    return loads_object(text, limits)


async def model_of(request: Request, kind: type[Model], limits: Limits) -> Model:
    """The body as one of our models."""
    members, _ = json_object(await body_bytes(request, limits), limits)
    try:
        return kind.model_validate(members)
    except ValidationError as error:
        raise first_rule_broken(error.errors()) from None


def idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise RuleBroken("Idempotency-Key has 1 to 255 printable ASCII characters, no blanks.")
    return key


def expected_version(request: Request) -> int | None:
    tag = request.headers.get("if-match")
    if tag is None:
        return None
    found = _VERSION.fullmatch(tag.strip())
    if not found:
        raise RuleBroken('If-Match names one version of the conversation, like "12".')
    return int(found[1])


def known_tags(request: Request) -> list[str]:
    tags = request.headers.get("if-none-match", "").split(",")
    return [tag.strip().removeprefix("W/") for tag in tags if tag.strip()]
