"""From the members of a posted body to drafts: which codec reads it, and whether the rules hold."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.codecs import CODECS
from app.core.chunks import Bytes
from app.core.conversation import Draft, Remark, Thinking, ToolCall, ToolResult
from app.core.errors import LimitExceeded, RuleBroken, UnknownProvider
from app.core.ids import CALLER_TURN_ID
from app.core.jsontext import Json, JsonObject
from app.core.limits import Limits
from app.core.replies import Replies, Reply
from app.core.wire import Codec, Posted
from app.service.ignoring import ignored_settings

_PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")
_ENVELOPE = ("provider", "format", "model", "turn_id", "metadata", "response")


@dataclass(frozen=True, slots=True)
class Post:
    """What is to be appended: every draft has its provider, model and metadata.

    `notes` are on the body as a whole, those on a turn stand in its draft.
    """

    format: str
    drafts: tuple[Draft, ...]
    notes: tuple[Remark, ...] = ()


def read_post(members: JsonObject, texts: Mapping[str, list[str]], limits: Limits) -> Post:
    """Raises `RuleBroken` with a pointer for whatever does not hold."""
    provider, wire = wire_of(members)
    codec = CODECS[wire]
    known = (*_ENVELOPE, *codec.KEYS, *codec.TOOLS.members)
    for key in members:
        if key not in known and key not in codec.SETTINGS:
            raise RuleBroken(
                f"{key!r} is not a member here; known: {', '.join(known)}.", pointer=f"/{key}"
            )
    _check_one_of(members, codec)
    if "response" in members:
        drafts = [_answered(wire, members["response"], texts["response"])]
    else:
        drafts = codec.parse(Posted(members, texts))
    if len(drafts) > limits.turns:
        raise LimitExceeded("turns", limits.turns, len(drafts), pointer=f"/{codec.LIST}")
    completed = _completed(drafts, provider, members, limits)
    return Post(wire, tuple(completed), ignored_settings(members, wire, known))


def read_stream(
    query: JsonObject, reply: Reply, payload: Bytes, *, whole: bool, limits: Limits
) -> Post:
    """A turn that arrived as a stream. `query` holds what stands beside messages otherwise."""
    provider, wire = wire_of(query)
    draft = Draft(
        "ai",
        reply.blocks,
        stream=payload,
        facts=reply.facts,
        model=reply.model,
        status="complete" if whole else "interrupted",
        notes=reply.notes,
    )
    return Post(wire, tuple(_completed([draft], provider, query, limits)))


def _check_one_of(members: JsonObject, codec: Codec) -> None:
    given = [key for key in dict.fromkeys(("response", "messages", codec.LIST)) if key in members]
    if len(given) > 1:
        what = "the same thing" if "response" not in given else "two ways to say it"
        raise RuleBroken(f"{' and '.join(given)} are {what}; give one.", pointer=f"/{given[-1]}")


def replies_of(wire: str, pointer: str) -> Replies:
    """How the answers of a wire are read. Raises `RuleBroken` where it has none of its own."""
    if replies := CODECS[wire].REPLIES:
        return replies
    having = ", ".join(name for name, codec in CODECS.items() if codec.REPLIES)
    raise RuleBroken(
        f"{wire} has no answers of its own; post messages. Those of {having} are read.",
        pointer=pointer,
    )


def _answered(wire: str, response: Json, texts: list[str]) -> Draft:
    """A provider's whole answer as one turn of the model."""
    replies = replies_of(wire, "/response")
    if not isinstance(response, dict):
        raise RuleBroken("response is the object that the provider answered.", pointer="/response")
    reply = replies.read(response, "/response")
    return Draft(
        "ai",
        reply.blocks,
        payload=texts[0],
        pointer="/response",
        facts=reply.facts,
        model=reply.model,
        notes=reply.notes,
    )


def wire_of(members: JsonObject) -> tuple[str, str]:
    """Who speaks, and in which wire's shape."""
    provider = _text(members, "provider")
    if provider is None or not _PROVIDER.fullmatch(provider):
        raise RuleBroken(
            "provider names who speaks: letters, digits and . _ : / -, at most 64.",
            pointer="/provider",
        )
    return provider, _format(provider, _text(members, "format"))


def unknown_source(source: object) -> UnknownProvider:
    known = ", ".join(CODECS)
    return UnknownProvider(f"from is one of {known}, not {source!r}.", pointer="/from")


def _format(provider: str, wire: str | None) -> str:
    known = ", ".join(CODECS)
    if wire is not None and wire not in CODECS:
        raise UnknownProvider(f"The format {wire!r} is unknown; known: {known}.", pointer="/format")
    if wire is None and provider not in CODECS:
        raise UnknownProvider(
            f"The provider {provider!r} has no default format; give one of: {known}.",
            pointer="/provider",
        )
    return wire or provider


def _completed(
    drafts: list[Draft], provider: str, members: JsonObject, limits: Limits
) -> list[Draft]:
    turn_id = _text(members, "turn_id")
    if turn_id is not None and len(drafts) != 1:
        raise RuleBroken("turn_id names one turn; several are posted.", pointer="/turn_id")
    metadata = members.get("metadata")
    if metadata is None:
        metadata = {}
    if not isinstance(metadata, dict):
        raise RuleBroken("metadata is a JSON object.", pointer="/metadata")
    model = _text(members, "model")
    if "response" in metadata and any(draft.facts is not None for draft in drafts):
        raise RuleBroken(
            "metadata.response is filled from the response itself.", pointer="/metadata/response"
        )
    completed = []
    for draft in drafts:
        at = draft.pointer
        _check(draft, at, limits)
        own_id = turn_id if turn_id is not None else draft.turn_id
        if own_id is not None and not CALLER_TURN_ID.fullmatch(own_id):
            raise RuleBroken(
                "A turn id has 1 to 128 letters, digits or . _ : -",
                pointer="/turn_id" if turn_id is not None else f"{at}/turn_id",
            )
        own_provider = draft.provider or provider
        if not _PROVIDER.fullmatch(own_provider):
            raise RuleBroken("This is no provider's name.", pointer=f"{at}/provider")
        completed.append(
            replace(
                draft,
                turn_id=own_id,
                provider=own_provider,
                model=_model(draft, model),
                metadata={**metadata, **draft.metadata},
            )
        )
    _check_distinct(completed)
    return completed


def _model(draft: Draft, given: str | None) -> str | None:
    """The turn's own; of an answer, the name under which it was asked for."""
    if given is not None and (draft.model is None or draft.facts is not None):
        return given
    return draft.model


def _check(draft: Draft, at: str, limits: Limits) -> None:
    if len(draft.blocks) > limits.blocks:
        raise LimitExceeded("blocks", limits.blocks, len(draft.blocks), pointer=at)
    for block in draft.blocks:
        if isinstance(block, ToolCall) and draft.speaker != "ai":
            raise RuleBroken("Only the speaker ai makes tool calls.", pointer=at)
        if isinstance(block, ToolResult | Thinking) and draft.speaker == "system":
            raise RuleBroken("The speaker system gives no results and no thinking.", pointer=at)
        if isinstance(block, ToolCall | ToolResult) and block.raw_id:
            size = len(block.raw_id.encode("utf-8", "surrogatepass"))
            if size > limits.raw_id_bytes:
                raise LimitExceeded("raw_id_bytes", limits.raw_id_bytes, size, pointer=at)


def _check_distinct(drafts: list[Draft]) -> None:
    seen: set[str] = set()
    for draft in drafts:
        if draft.turn_id is not None and draft.turn_id in seen:
            raise RuleBroken(
                "The same turn id stands on two turns.", pointer=f"{draft.pointer}/turn_id"
            )
        seen.add(draft.turn_id or "")


def _text(members: JsonObject, key: str) -> str | None:
    value: Json = members.get(key)
    if value is not None and not isinstance(value, str):
        raise RuleBroken(f"{key} is a text.", pointer=f"/{key}")
    return value
