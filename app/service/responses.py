"""Whole responses of a provider, as one turn; and what else was posted where one belongs."""

from dataclasses import replace

from app.codecs import CODECS
from app.core import telling
from app.core.conversation import Draft
from app.core.errors import ErrorResponse, RuleBroken
from app.core.json.text import Json, JsonObject
from app.core.wire.errors import error_type
from app.core.wire.responses import Replies, Reply


def replies_of(wire: str, pointer: str) -> Replies:
    """How the responses of a wire are read. Raises `RuleBroken` where it has none of its own."""
    if replies := CODECS[wire].replies:
        return replies
    told = f"The format '{wire}' has no responses and no streams of its own; post `messages`."
    raise RuleBroken(told, pointer=pointer)


def read_response(wire: str, response: Json, texts: list[str]) -> Draft:
    """A provider's whole response as one turn of the model."""
    reply = _read(wire, replies_of(wire, "/response"), response)
    return replace(reply.draft(), payload=texts[0], pointer="/response")


def _read(wire: str, replies: Replies, response: Json) -> Reply:
    if isinstance(response, dict):
        try:
            reply = replies.read(response, "/response")
            if not reply.blocks and (kind := error_type(response)) is not None:
                raise ErrorResponse(kind, pointer="/response")
            return reply
        except RuleBroken as error:
            # What is no response of this wire is told by what it is, not by what it lacks.
            raise (_something_else(wire, response) or error) from None
    raise _something_else(wire, response) or RuleBroken(
        telling.wrong_type("response", "the object that the provider sent", response),
        pointer="/response",
    )


def _something_else(wire: str, response: Json) -> RuleBroken | None:
    if (kind := error_type(response)) is not None:
        return ErrorResponse(kind, pointer="/response")
    match response:
        case {"message": {"role": str()}}:
            return _only("one choice of it")
        case dict() if whose := whose_response(response):
            if wire in whose:
                return None
            return RuleBroken(
                f"`response` must be a response of '{wire}'; this looks like a response of"
                f" {telling.either(whose)}: post it with that `provider` or `format`.",
                pointer="/response",
                looks_like=whose,
            )
        case dict() if isinstance(response.get("role"), str) and "type" not in response:
            return _only("one message; that is posted in `messages`")
        case [{"role": str()}, *_]:
            return _only("a list of messages; those are posted as `messages`")
        case _:
            return None


def _only(what: str) -> RuleBroken:
    told = f"`response` must be the whole object that the provider sent, not {what}."
    return RuleBroken(told, pointer="/response")


def whose_response(value: JsonObject) -> list[str]:
    """The formats that have responses of this shape."""
    return [name for name, codec in CODECS.items() if codec.replies and codec.replies.is_one(value)]


def whole_response_at(pointer: str, value: Json) -> RuleBroken | None:
    """For a message that could not be read: it may be a response, or the error instead of one."""
    if not isinstance(value, dict) or "role" in value:
        return None
    if (kind := error_type(value)) is not None:
        return ErrorResponse(kind, pointer=pointer)
    if isinstance(value.get("message"), dict):
        told = "A message must stand here, and this is one choice of a response:"
        return RuleBroken(f"{told} post its `message`.", pointer=pointer)
    if not (names := whose_response(value)):
        return None
    return RuleBroken(
        "A message must stand here, and this looks like a whole response of"
        f" {telling.either(names)}: post it as `response`, without `messages`.",
        pointer=pointer,
        looks_like=names,
    )
