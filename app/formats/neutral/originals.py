"""Originals as JSON: how messages were posted, as it is stored and exported."""

from collections.abc import Sequence
from typing import TypeAlias, cast

from ...jsontext.fields import Fields, filled
from ...model.conversation import Envelope, Original, Posted
from ...model.json_values import Json, JsonObject


def original_json(original: Original) -> JsonObject:
    """`read_original` is the inverse."""
    numbers = {id(envelope): number for number, envelope in enumerate(original.envelopes)}
    return filled(
        format=original.format,
        messages=[envelope.members for envelope in original.envelopes] or None,
        slots=[[*sorted(envelope.slots)] for envelope in original.envelopes] or None,
        blocks=[
            None if posted is None else _entry(numbers[id(posted.envelope)], posted)
            for posted in original.blocks
        ]
        or None,
        members=list(original.members) or None,
    )


def read_original(value: Json, at: str = "") -> Original:
    """Raises `RuleBroken` for whatever `original_json` does not write."""
    fields = Fields(value, at)
    messages, slots = fields.items("messages"), fields.items("slots")
    if len(messages) != len(slots):
        raise fields.broken("slots", "`slots` must have one entry for each message.")
    envelopes = tuple(map(_envelope, messages, slots))
    blocks = fields.items("blocks")
    if None in envelopes or not all(one is None or _is_entry(one, len(messages)) for one in blocks):
        raise fields.broken("blocks", "`original` must be as an export has it.")
    members = fields.items("members")
    if not all(isinstance(name, str) for name in members):
        raise fields.broken("members", "`members` must be a list of names.")
    posted = (
        one and _posted(cast(Envelope, envelopes[one[0]]), *one[1:])
        for one in cast(list[_Entry | None], blocks)
    )
    return Original(
        fields.text("format"),
        cast(tuple[Envelope, ...], envelopes),
        tuple(posted),
        tuple(cast(list[str], members)),
    )


# The number of the message, the slot, whether that is a list, and the object where it is kept;
# then, where there are any, its neighbours that became no blocks.
_Entry: TypeAlias = tuple[int, str, bool, Json]


def _entry(number: int, posted: Posted) -> Json:
    entry: list[Json] = [number, posted.slot, posted.listed, posted.value]
    if posted.before or posted.after:
        entry += [[*posted.before], [*posted.after]]
    return entry


def _posted(
    envelope: Envelope,
    slot: str,
    listed: bool,
    value: Json,
    before: Sequence[Json] = (),
    after: Sequence[Json] = (),
) -> Posted:
    return Posted(envelope, slot, listed, value, tuple(before), tuple(after))


def _envelope(members: Json, slots: Json) -> Envelope | None:
    if not isinstance(members, dict) or not isinstance(slots, list):
        return None
    names = [name for name in slots if isinstance(name, str)]
    return Envelope(members, frozenset(names)) if len(names) == len(slots) else None


def _is_entry(value: Json, messages: int) -> bool:
    match value:
        case [int(number), str(), bool(), _] | [int(number), str(), bool(), _, list(), list()]:
            return 0 <= number < messages
        case _:
            return False
