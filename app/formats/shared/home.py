"""Writes messages as they were posted, for the provider that issued them.

A turn is at home when it is replayed in the format and for the provider it was posted with. Each of
its parts names the message that it was posted in (the envelope), its place there, and the posted
object if the codec would write another one. Parts without these are written by the codec as for any
other provider.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ...model.conversation import Envelope, Posted, Text
from ...model.json_values import Json, JsonObject
from .view import Content, Message, Shown

_ORDER = (
    *("type", "role", "tool_call_id", "name", "content", "parts"),
    *("reasoning_content", "reasoning", "reasoning_details", "tool_calls"),
)


def written(
    message: Message,
    write: Callable[[Message], Iterable[Json]],
    element: Callable[[Shown], Json],
    *,
    place: Callable[[Content], tuple[str, bool]] | None = None,
    joins: bool = False,
    joins_texts: bool = False,
) -> Iterator[Json]:
    """The messages of the wire: one for each envelope, and what `write` makes of other parts.

    `element` writes a part as an element of the list that holds it. `place` names the member of a
    message that holds a content, and whether that is a list; with it, parts that were not posted
    go into the message of their neighbours. `joins`: the wire takes neighbours of one role in one
    message only, so that envelopes give way. `joins_texts`: texts next to a text are added to it,
    not made a list.
    """
    envelopes = set(map(_group, message.parts))
    if envelopes == {0} or (joins and len(envelopes) > 1):
        yield from write(message)
        return
    if place and len(envelopes - {0}) == 1:
        message = replace(message, parts=_all_posted(message.parts, place))
    for _, group in groupby(message.parts, key=_group):
        parts = tuple(group)
        is_last = parts[-1] is message.parts[-1]
        posted = parts[0].posted
        if posted is None or (posted.slot == "" and posted.value is None):
            yield from write(replace(message, parts=parts, is_prefix=message.is_prefix and is_last))
        elif posted.slot == "":
            yield element(parts[0])
        else:
            yield _filled(posted.envelope, parts, element, joins_texts=joins_texts)


def _all_posted(
    parts: Sequence[Shown], place: Callable[[Content], tuple[str, bool]]
) -> tuple[Shown, ...]:
    envelope = next(part.posted.envelope for part in parts if part.posted)
    return tuple(
        part if part.posted else replace(part, posted=Posted(envelope, *place(part.content)))
        for part in parts
    )


def _group(part: Shown) -> int:
    """Parts of one posted message share its envelope."""
    return id(part.posted.envelope) if part.posted else 0


def _filled(
    envelope: Envelope,
    parts: Sequence[Shown],
    element: Callable[[Shown], Json],
    *,
    joins_texts: bool,
) -> JsonObject:
    """The posted message, with these parts in their places."""
    held: JsonObject = {}
    for part in parts:
        posted = part.posted
        assert posted
        if not posted.listed and posted.slot not in held:
            held[posted.slot] = text_of(part)
            continue
        before = held.get(posted.slot)
        if joins_texts and isinstance(before, str) and isinstance(part.content, Text):
            held[posted.slot] = f"{before}\n{part.content.text}" if before else part.content.text
            continue
        listed = held.setdefault(posted.slot, [])
        if not isinstance(listed, list):
            # A text so far, and now another part.
            text = replace(part, content=Text(str(listed)), posted=None)
            held[posted.slot] = listed = [element(text)]
        listed.extend(elements([part], element))
    members: JsonObject = {}
    for name, value in envelope.members.items():
        if name in held:
            members[name] = held[name]
        elif name not in envelope.slots:
            members[name] = value
        elif name == "content":
            # All content was omitted; providers reject a message without content.
            members[name] = ""
    return in_order(members | held)


def in_order(members: JsonObject) -> JsonObject:
    """The members of a message in the order in which codecs write them, the others after these.

    The same message has the same bytes, whether it is shown as it was posted or written anew.
    """
    known = {name: members[name] for name in _ORDER if name in members}
    return known | members


def elements(parts: Iterable[Shown], element: Callable[[Shown], Json]) -> Iterator[Json]:
    """The parts as elements of a list, with the neighbours that they were posted with."""
    for part in parts:
        posted = part.posted
        if posted is not None and posted.listed:
            yield from posted.before
        yield element(part)
        if posted is not None and posted.listed:
            yield from posted.after


def text_of(part: Shown) -> Json:
    """A part that is the whole value of a member: as it was posted, or its text."""
    assert part.posted
    if part.posted.value is not None:
        return part.posted.value
    return getattr(part.content, "text", "")


def with_ids(posted: JsonObject, **ids: str) -> JsonObject:
    """The posted object under these ids. If it lacks one they come first, as codecs write them."""
    if ids.keys() <= posted.keys():
        return {**posted, **ids}
    kind: JsonObject = {name: posted[name] for name in ("role", "type") if name in posted}
    return {**kind, **ids, **posted, **ids}


def is_posted(messages: Iterable[Message]) -> bool:
    """True if a part of these messages says how it was posted."""
    return any(part.posted is not None for message in messages for part in message.parts)


def is_listed(part: Shown) -> bool:
    """True if the part was posted in a list, and must not become the whole content."""
    return part.posted is not None and part.posted.listed


def kept(part: Shown) -> JsonObject | None:
    """The posted object of a part; None where the codec writes the part."""
    value = part.posted.value if part.posted else None
    return value if isinstance(value, dict) else None
