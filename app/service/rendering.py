"""Turns for a target, without any store: the request, its messages, and what it took."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.codecs import CODECS, shown_id
from app.core.conversation import Turn
from app.core.history import Window, view_of
from app.core.jsontext import Json, JsonObject, dumps_utf8
from app.core.pairing import Links
from app.core.view import Options, Reasoning, View


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which history, for whom, and how much of it."""

    conversation_id: str
    target: str
    model: str | None = None
    until: str | None = None
    last: int | None = None
    max_tokens: int | None = None
    reasoning: Reasoning = "auto"
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A request for a provider, its messages one by one, and what it took."""

    request: JsonObject
    messages: list[Json]
    view: View


def render(
    turns: Sequence[Turn], links: Links, assigned: Mapping[str, str], wanted: Wanted
) -> Rendered:
    """`assigned`: what the mapping table holds for the target."""
    codec = CODECS[wanted.target]
    shown = {
        call.id: shown_id(wanted.target, call.id, {wanted.target: assigned.get(call.id, "")})
        for turn in turns
        for call in turn.calls()
    }
    view = view_of(
        turns,
        links,
        codec.PROFILE,
        Options(shown, wanted.model, wanted.reasoning),
        Window(wanted.last, wanted.max_tokens),
    )
    request = codec.render(view)
    messages = request[codec.LIST]
    assert isinstance(messages, list)
    return Rendered(request, messages, view)


def prefix(request: JsonObject, messages: Sequence[Json], target: str) -> JsonObject:
    """How many messages there are, and a hash of all a provider reads before the next one."""
    beside = {key: member for key, member in request.items() if key != CODECS[target].LIST}
    lines = [beside, *messages]
    text = b"".join(dumps_utf8(line) + b"\n" for line in lines)
    return {"messages": len(messages), "sha256": hashlib.sha256(text).hexdigest()}
