"""What the blocks of a turn do not say of the messages that were posted.

A turn goes back to the provider that issued it as it was posted. Nearly always its codec writes the
posted message from the blocks, and nothing more is stored. Otherwise the turn keeps an original:
each message without its blocks (the envelope), and each block that the codec would write
differently. Members that the provider's own input type does not accept are left out first.

    posted   {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]}
    written  {"role": "system", "content": "Be brief."}
    stored   {"format": "openai", "messages": [{"role": "developer", "content": null}],
              "slots": [["content"]],
              "blocks": [[0, "content", true, {"type": "text", "text": "Be brief."}]]}
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from app.codecs import CODECS
from app.codecs.inputs import input_types
from app.core.conversation import (
    Block,
    Draft,
    Envelope,
    Original,
    Posted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.errors import TurnkeepError
from app.core.json.large import Bytes
from app.core.json.plain import loads_stored
from app.core.json.values import Json, JsonObject
from app.core.json.writing import dumps
from app.core.neutral.originals import original_json, read_original
from app.core.render.arguments import object_of
from app.core.render.placeholders import result_text
from app.core.render.profile import Profile
from app.core.render.view import CallShown, Content, Message, ResultShown, Role, Shown
from app.core.wire.codec import Codec
from app.core.wire.inputs import accepted

_ROLES: Mapping[str, Role] = {"ai": "assistant", "human": "user", "system": "system"}
# Members that say what an object is; other providers do not miss them.
_ABOUT = frozenset({"id", "type", "role", "status", "object", "index"})
# How many members a repair names.
_MOST_NAMED = 20


def original_of(draft: Draft) -> Original | None:
    """The original of a turn; None where its codec writes the same messages from the blocks."""
    codec = CODECS[draft.format]
    if not draft.messages or codec.profile.verbatim:
        return None
    posted = [message for _, message in draft.messages]
    try:
        written = _written(draft, codec)
    except (AssertionError, LookupError, TypeError, ValueError):
        # Codecs write what was made fit for their wire; what was posted need not be.
        written = []
    if written == posted:
        return None
    accepted = [_accepted(draft, message) for message in posted]
    return None if written == accepted else _original(draft, accepted, written)


def original_bytes(original: Original | None) -> bytes:
    """The original as it is stored; empty where there is none."""
    return b"" if original is None else dumps(original_json(original)).encode()


def stored_original(stored: Bytes) -> Original | None:
    """The stored original; None where there is none, or where it cannot be read."""
    if not stored:
        return None
    try:
        return read_original(loads_stored(stored))
    except (TurnkeepError, UnicodeDecodeError, RecursionError):
        return None


def _accepted(draft: Draft, message: JsonObject) -> JsonObject | None:
    """The message without the members that its provider does not accept; None if it is refused."""
    types = input_types(draft.format)
    if types is None:
        return message
    if draft.messages[0][0] == "":
        return {name: accepted(types, "system", value) for name, value in message.items()}
    return cast(JsonObject | None, accepted(types, "message", message))


def _written(draft: Draft, codec: Codec) -> list[Json]:
    """The messages that the codec writes from the blocks, under the raw ids of the calls."""
    blocks = [
        block for block in draft.blocks if not isinstance(block, Thinking) or codec.profile.thinking
    ]
    if draft.messages[0][0] == "":
        texts = [_shown(block) for block in blocks if isinstance(block, Text)]
        return [codec.write_system(texts)]
    return codec.write(list(_messages(draft, blocks, codec.profile)))


def _messages(draft: Draft, blocks: Sequence[Block], profile: Profile) -> Iterator[Message]:
    if draft.speaker != "tool":
        if blocks:
            yield Message(_ROLES.get(draft.speaker, "user"), tuple(map(_shown, blocks)))
        return
    results = [_shown(block) for block in blocks if isinstance(block, ToolResult)]
    others = [_shown(block) for block in blocks if not isinstance(block, ToolResult)]
    match profile.results:
        case "each":
            yield from (Message("tool", (result,)) for result in results)
        case "together" if results:
            yield Message("tool", tuple(results))
        case _:
            others = [*results, *others]
    if others:
        yield Message("user", tuple(others))


def _shown(block: Block) -> Shown:
    return Shown(_content(block), None)


def _content(block: Block) -> Content:
    match block:
        case ToolCall():
            arguments, value, _ = object_of(block.arguments)
            raw_id = block.raw_id or ""
            return CallShown(raw_id, block.name, arguments, value, block.signature, raw_id)
        case ToolResult(result=result):
            parts = block.parts or (Text(result_text(block)),)
            said = None if isinstance(result, str) else result
            return ResultShown(
                block.raw_id or "", block.name or "", parts, block.status != "ok", said
            )
        case _:
            return block


def _original(
    draft: Draft, posted: Sequence[JsonObject | None], written: Sequence[Json]
) -> Original:
    numbers = {pointer: number for number, (pointer, _) in enumerate(draft.messages)}
    places = [_place(numbers, block) for block in draft.blocks]
    slots: list[set[str]] = [set() for _ in posted]
    for place in places:
        if place is not None and place[1]:
            slots[place[0]].add(place[1])
    envelopes = tuple(
        Envelope(
            {name: None if name in held else value for name, value in (message or {}).items()},
            frozenset(held),
        )
        for message, held in zip(posted, slots, strict=True)
    )
    same: Sequence[Json] = written if len(written) == len(posted) else [None] * len(posted)
    members = (
        name
        for message, other in zip(posted, same, strict=True)
        for name in _unwritten(message, other)
    )
    return Original(
        draft.format,
        envelopes,
        tuple(
            None
            if place is None
            else _posted(place, envelopes[place[0]], posted[place[0]], same[place[0]])
            for place in places
        ),
        tuple(dict.fromkeys(members))[:_MOST_NAMED],
    )


_Place: TypeAlias = tuple[int, str, int | None]


def _place(numbers: Mapping[str, int], block: Block) -> _Place | None:
    """Where a block was posted: the message, the member, and the place in its list."""
    pointer, steps = block.source, list[str]()
    while pointer and pointer not in numbers:
        pointer, _, step = pointer.rpartition("/")
        steps.insert(0, step)
    if pointer not in numbers or not block.source:
        return None
    name, *inside = steps or [""]
    return numbers[pointer], name, int(inside[0]) if inside and inside[0].isdecimal() else None


def _posted(
    place: _Place, envelope: Envelope, message: JsonObject | None, written: Json
) -> Posted | None:
    """How a block was posted; None where its provider accepts no such message or member."""
    _, slot, index = place
    if message is None or (slot and slot not in message):
        return None
    value = _at(message, slot, index)
    same = value == _at(written, slot, index)
    return Posted(envelope, slot, index is not None, None if same else value)


def _at(message: Json, slot: str, index: int | None) -> Json:
    if not slot or not isinstance(message, dict):
        return message
    value = message.get(slot)
    if index is None:
        return value
    return value[index] if isinstance(value, list) and index < len(value) else None


def _unwritten(posted: Json, written: Json, at: str = "") -> Iterator[str]:
    """The members of a posted message that the codec does not write: what they are called."""
    match posted, written:
        case list(), str():
            yield from _unwritten(posted, [{"type": "text", "text": written}], at)
        case list(), list():
            for one, other in zip(posted, written, strict=False):
                yield from _unwritten(one, other, at)
        case dict(), dict():
            for name, value in posted.items():
                if name in written:
                    yield from _unwritten(value, written[name], f"{at}{name}.")
                elif name not in _ABOUT and value not in (None, "", [], {}):
                    yield at + name
