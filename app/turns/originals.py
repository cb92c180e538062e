"""Stores the parts of posted messages that the blocks of a turn cannot reproduce.

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

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import cast

from ..formats.inputs import input_types
from ..formats.neutral.originals import original_json, read_original
from ..formats.registry import CODECS
from ..formats.shared.codec import Codec
from ..formats.shared.inputs import accepted, accepted_whole
from ..formats.shared.placeholders import result_text
from ..formats.shared.profile import Profile
from ..formats.shared.view import CallShown, Content, Message, ResultShown, Role, Shown
from ..jsontext.arguments import custom_object, object_of
from ..jsontext.plain import loads_stored
from ..jsontext.writing import dumps
from ..model.conversation import (
    Block,
    Draft,
    Envelope,
    File,
    Image,
    Opaque,
    Original,
    Posted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from ..model.errors import TurnkeepError
from ..model.json_values import Json, JsonObject, identical
from ..model.large import Bytes

_ROLES: Mapping[str, Role] = {"ai": "assistant", "human": "user", "system": "system"}
# Members that say what an object is; other providers do not miss them.
_ABOUT = frozenset({"id", "type", "role", "status", "object", "index"})
# Calls that a codec writes in another form.
_CUSTOM = ("custom", "custom_tool_call")
_FILE_NAMES = ("filename", "display_name", "title")
# What a custom tool takes, in calls of either form.
_CUSTOM_INPUT = ("input", "custom")
# How many members a repair names.
_MOST_NAMED = 20


def original_of(draft: Draft) -> Original | None:
    """The original of a turn; None where its codec writes the same messages from the blocks."""
    codec = CODECS[draft.format]
    if not draft.messages or codec.profile.verbatim or _is_plain(draft):
        return None
    posted: list[Json] = [message for _, message in draft.messages]
    written: list[Json] = []
    # A codec may fail on a draft that was not prepared for its wire; then it wrote nothing.
    with suppress(AssertionError, LookupError, TypeError, ValueError):
        written = _written(draft, codec)
    # An inline system message would be written as the separate system prompt.
    is_beside = codec.profile.system == "beside"
    is_inline_system = draft.speaker == "system" and is_beside and not _beside(draft)
    if not is_inline_system and _is_surely_accepted(draft) and identical(written, posted):
        return None
    accepted_messages = [_accepted(draft, message) for _, message in draft.messages]
    if not is_inline_system and identical(written, accepted_messages):  # type: ignore[arg-type]
        return None
    original = _Reading(draft, accepted_messages, written).original()
    says_nothing = not any(original.blocks) and not original.members
    return (
        None if says_nothing and not is_inline_system and _is_surely_accepted(draft) else original
    )


def _is_plain(draft: Draft) -> bool:
    """True for one text by a person or the model, as the codec writes it. Most turns are."""
    if len(draft.messages) != 1 or len(draft.blocks) != 1:
        return False
    members, block = draft.messages[0][1], draft.blocks[0]
    role = _ROLES.get(draft.speaker)
    return (
        isinstance(block, Text)
        and role is not None
        and block.text == members.get("content")
        and len(members) == 2
        and block.signature is None
        and block.phase is None
        and members.get("role") == role
        and _writes_plain(draft.format, role)
    )


@cache
def _writes_plain(target: str, role: Role) -> bool:
    """True if a text in a message of this role needs no more than `role` and `content`."""
    if role == "system":
        return False
    message = Message(role, (Shown(Text("text"), None),))
    return CODECS[target].write([message]) == [{"role": role, "content": "text"}]


def _is_surely_accepted(draft: Draft) -> bool:
    """True if the provider accepts whatever its codec writes from these blocks.

    Media of the assistant and opaque blocks are written as they came, accepted or not.
    """
    own = (Opaque,) if draft.speaker == "human" else (Opaque, Image, File)
    return not any(isinstance(block, own) for block in draft.blocks)


def _beside(draft: Draft) -> bool:
    """True for system texts that were posted next to the messages."""
    return draft.speaker == "system" and draft.messages[0][0] == ""


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
    if _beside(draft):
        return {name: accepted(types, "system", value) for name, value in message.items()}
    return cast(JsonObject | None, accepted(types, "message", message))


def _accepted_whole(draft: Draft, message: JsonObject) -> Json:
    types = input_types(draft.format)
    return message if types is None else accepted_whole(types, "message", message)


def _written(draft: Draft, codec: Codec) -> list[Json]:
    """The messages that the codec writes from the blocks, under the raw ids of the calls."""
    blocks = [
        block for block in draft.blocks if not isinstance(block, Thinking) or codec.profile.thinking
    ]
    if _beside(draft):
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
            read = custom_object if block.custom else object_of
            arguments, value, _ = read(block.arguments)
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


@dataclass(slots=True)
class _Reading:
    """Reads the original of a draft from its messages: as they are accepted, and as written."""

    draft: Draft
    accepted: Sequence[JsonObject | None]
    written: Sequence[Json]
    # The members that other providers are not shown.
    names: list[str] = field(default_factory=list)

    def original(self) -> Original:
        places = _places(self.draft)
        if len(self.written) != len(self.accepted):
            self.written = [None] * len(self.accepted)
        changed = {
            place.message
            for place, block in zip(places, self.draft.blocks, strict=True)
            if place is not None and self._is_gone(place, block)
        }
        messages = [
            None if number in changed else message for number, message in enumerate(self.accepted)
        ]
        slots: dict[int, set[str]] = {}
        for place in places:
            if place is not None and place.slot:
                slots.setdefault(place.message, set()).add(place.slot)
        envelopes = [
            self._envelope(number, message or {}, slots.get(number, frozenset()))
            for number, message in enumerate(messages)
        ]
        blocks: list[Posted | None] = []
        for place, block in zip(places, self.draft.blocks, strict=True):
            message = None if place is None else messages[place.message]
            if place is None or message is None:
                blocks.append(None)
            else:
                blocks.append(self._posted(place, block, message, envelopes[place.message]))
        # What a custom tool takes is shown to all, as the arguments of a function.
        is_custom = any(isinstance(one, ToolCall) and one.custom for one in self.draft.blocks)
        told = (name for name in self.names if not is_custom or name not in _CUSTOM_INPUT)
        names = tuple(dict.fromkeys(told))[:_MOST_NAMED]
        return Original(self.draft.format, tuple(envelopes), tuple(blocks), names)

    def _is_gone(self, place: "_Place", block: Block) -> bool:
        """True if what was said is in a member that is not accepted: all is written anew."""
        message = self.accepted[place.message]
        if message is None or isinstance(block, Thinking | Opaque):
            return False
        if place.slot and place.slot not in message:
            return True
        raw, written = self.draft.messages[place.message][1], self.written[place.message]
        if place.index is not None and place.found_in(message) is None:
            return True
        dropped = raw.keys() - message.keys()
        return isinstance(written, dict) and not dropped.isdisjoint(written)

    def _envelope(self, number: int, message: JsonObject, held: Collection[str]) -> Envelope:
        written = self.written[number]
        members = written if isinstance(written, dict) else {}
        for name, value in message.items():
            if name not in held and name not in members and _is_told(name, value):
                self.names.append(name)
        kept = {name: None if name in held else value for name, value in message.items()}
        return Envelope(kept, frozenset(held))

    def _posted(
        self, place: "_Place", block: Block, message: JsonObject, envelope: Envelope
    ) -> Posted | None:
        """How a block was posted; None where it is not accepted and cannot be written anew."""
        raw = self.draft.messages[place.message][1]
        value = place.found_in(message) if place.slot else _accepted_whole(self.draft, raw)
        if value is None and isinstance(block, Thinking | Opaque):
            return None
        written = place.written_in(self.written[place.message])
        has_name = isinstance(block, File) and block.name
        for name in _unwritten(value, written):
            # The block itself says what a file is called.
            if not has_name or name.rpartition(".")[2] not in _FILE_NAMES:
                self.names.append(name)
        before, after = place.neighbours(message)
        self.names += (_kind(one) for one in (*before, *after))
        is_refused = _is_json_list(block, self.draft.format) or _lost(
            place.found_in(raw), value, written
        )
        is_signed = _is_signed_elsewhere(value, written)
        is_written = (is_refused or is_signed) and not isinstance(block, Opaque)
        if place.is_shared or is_written or identical(value, written):
            value = None
        return Posted(envelope, place.slot, place.index is not None, value, before, after)


def _is_signed_elsewhere(value: Json, written: Json) -> bool:
    """True if the signature of a text or a thought was posted in a part of its own, after it."""
    name = "thought_signature"
    return isinstance(value, dict) and isinstance(written, dict) and name in written.keys() - value


def _is_json_list(block: Block, target: str) -> bool:
    """True for a result that is a list of JSON values, where the provider takes blocks or text."""
    is_list = isinstance(block, ToolResult) and isinstance(block.result, list)
    return is_list and not CODECS[target].profile.value_results


def _lost(raw: Json, accepted: Json, written: Json) -> bool:
    """True if a member is not accepted as it was posted, and the codec has another one instead."""
    if not (isinstance(raw, dict) and isinstance(accepted, dict) and isinstance(written, dict)):
        return False
    if accepted.get("type") in _CUSTOM:
        # The codec writes a function in its place.
        return False
    if raw.keys() > accepted.keys() and not written.keys() <= accepted.keys():
        return True
    return any(_lost(raw.get(name), value, written.get(name)) for name, value in accepted.items())


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block was posted: the message, its member `slot`, and the place in the list there.

    `others` are the places of the other blocks in that list, in order. `is_shared`: several blocks
    were read from this object.
    """

    message: int
    slot: str
    index: int | None
    others: Sequence[int] = ()
    is_shared: bool = False

    def found_in(self, message: JsonObject) -> Json:
        value = message.get(self.slot) if self.slot else message
        if self.index is None:
            return value
        return value[self.index] if isinstance(value, list) and self.index < len(value) else None

    def written_in(self, message: Json) -> Json:
        """What the codec wrote for the block: an element, or the text that all texts became."""
        if not self.slot or not isinstance(message, dict):
            return message
        value = message.get(self.slot)
        if self.index is None:
            return value
        if isinstance(value, str):
            return value
        rank = bisect_left(self.others, self.index)
        return value[rank] if isinstance(value, list) and rank < len(value) else None

    def neighbours(self, message: JsonObject) -> tuple[tuple[Json, ...], tuple[Json, ...]]:
        """The elements before and after it that became no block; those between two are after."""
        elements = message.get(self.slot)
        if self.index is None or not isinstance(elements, list):
            return (), ()
        rank = bisect_left(self.others, self.index)
        following = (*self.others[rank + 1 :], len(elements))[0]
        before = elements[: self.index] if rank == 0 else []
        after = elements[self.index + 1 : following]
        # A null stands for an element that the provider does not accept.
        return tuple(filter(_is_some, before)), tuple(filter(_is_some, after))


def _is_some(value: Json) -> bool:
    return value is not None


def _places(draft: Draft) -> list[_Place | None]:
    """Where each block was posted; None where that is not known."""
    numbers = {pointer: number for number, (pointer, _) in enumerate(draft.messages)}
    places = [_place(numbers, block) for block in draft.blocks]
    indexes: dict[tuple[int, str], set[int]] = {}
    for place in places:
        if place is not None and place.index is not None:
            indexes.setdefault((place.message, place.slot), set()).add(place.index)
    lists = {key: sorted(found) for key, found in indexes.items()}
    times = Counter(places)
    return [
        place
        and replace(
            place,
            others=lists.get((place.message, place.slot), ()),
            is_shared=times[place] > 1,
        )
        for place in places
    ]


def _place(numbers: Mapping[str, int], block: Block) -> _Place | None:
    pointer, steps = block.source, list[str]()
    while pointer and pointer not in numbers:
        pointer, _, step = pointer.rpartition("/")
        steps.insert(0, step)
    if pointer not in numbers or not block.source:
        return None
    name, *inside = steps or [""]
    index = int(inside[0]) if inside and inside[0].isdecimal() else None
    return _Place(numbers[pointer], name, index)


def _unwritten(posted: Json, written: Json, at: str = "") -> Iterator[str]:
    """The names of the members of a posted object that the codec does not write."""
    match posted, written:
        case list(), str():
            yield from _unwritten(posted, [{"type": "text", "text": written}], at)
        case dict(), str():
            yield from _unwritten(posted, {"type": "text", "text": written}, at)
        case list(), list():
            for one, other in zip(posted, written, strict=False):
                yield from _unwritten(one, other, at)
        case dict(), dict():
            for name, value in posted.items():
                if name in written:
                    yield from _unwritten(value, written[name], f"{at}{name}.")
                elif _is_told(name, value):
                    yield at + name


def _is_told(name: str, value: Json) -> bool:
    """True if others miss a member: it says more than what kind of object this is."""
    return name not in _ABOUT and value not in (None, "", [], {})


def _kind(element: Json) -> str:
    """What an element is called that became no block."""
    match element:
        case {"type": str(kind)}:
            return kind
        case dict() if element:
            return next(iter(element))
        case _:
            return "element"
