"""Reading a whole history into turns: ids from the source, neighbours joined, nothing stored."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from ..conversations.commands import check_id
from ..formats.registry import CODECS, NICKNAMES
from ..jsontext.writing import dumps
from ..model import telling
from ..model.conversation import Draft
from ..model.errors import RuleBroken, UnknownProvider
from ..model.json_values import JsonObject
from ..model.limits import Limits
from ..tools.commands import KeepTools, offer, riding_order
from ..tools.toolreading import read_tool_set
from ..turns.posting import read_post
from .importers.histories import History, Message
from .versions import Told, told_by

# A batch holds no more turns than a POST; how many a history may have is not limited.
_ANY_NUMBER = 2**31


@dataclass(frozen=True, slots=True)
class Turned:
    """A draft and the messages (first up to, not including, last) that it was read from."""

    draft: Draft
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A history that was read without complaint and can be stored."""

    history: History
    turns: tuple[Turned, ...]
    riding: KeepTools | None
    tool_sets: tuple[tuple[int, KeepTools], ...]
    # What the source has beside its messages and cannot be stored, in words, to be reported.
    ignored: tuple[str, ...]
    limits: Limits
    # Of an export: how all this came.
    told: Told | None = None


def read_history(history: History, limits: Limits) -> Plan:
    """The turns of a history. Raises `RuleBroken` for whatever does not hold."""
    check_id(history.conversation_id)
    if history.format not in CODECS:
        raise UnknownProvider.named(history.format, "format", NICKNAMES)
    codec = CODECS[history.format]
    known = (*codec.keys, *codec.tools.members)
    beside: JsonObject = {key: history.members[key] for key in history.members if key in known}
    riding = riding_order({**_envelope(history), **beside}, limits)
    turns = tuple(turned_of(history, 0, len(history.messages), beside, limits))
    tool_sets = tuple(_tool_set(one, len(turns), limits) for one in history.tool_sets)
    return Plan(
        history,
        turns,
        riding,
        tool_sets,
        (
            *(f"members {key!r}" for key in history.members if key not in known),
            *(
                f"tools {refused.name or index!r} ({refused.reason})"
                for index, refused in (riding.offered.prepared.dropped if riding else ())
            ),
        ),
        limits,
        _told(history, turns, limits) if history.format == "neutral" else None,
    )


def _told(history: History, turns: Sequence[Turned], limits: Limits) -> Told:
    drafts = [turned.draft for turned in turns]
    values = [history.messages[turned.first].value for turned in turns]
    return told_by(drafts, values, _envelope(history), limits)


def _envelope(history: History) -> JsonObject:
    envelope: JsonObject = {"provider": history.provider, "format": history.format}
    return envelope | ({"model": history.model} if history.model else {})


def turned_of(
    history: History, first: int, last: int, beside: JsonObject, limits: Limits
) -> Iterator[Turned]:
    """The turns of some messages, with what rides beside them."""
    messages = history.messages[first:last]
    key = CODECS[history.format].messages
    if not messages:
        return
    members: JsonObject = {**_envelope(history), **beside, key: [one.value for one in messages]}
    texts = {**history.texts, key: [one.text for one in messages]}
    drafts = read_post(members, texts, replace(limits, turns=_ANY_NUMBER, calls=_ANY_NUMBER)).drafts
    # The messages that drafts begin with; none for a system prompt beside the messages.
    begun = [re.match(rf"/{key}/([0-9]+)", draft.pointer) for draft in drafts]
    places = [int(found[1]) if found else None for found in begun]
    ends = [*places[1:], len(messages)]
    read: list[Turned] = []
    for draft, place, end in zip(drafts, places, ends, strict=True):
        if place is None:
            name = draft.pointer.strip("/").replace("/", "-")
            read.append(Turned(replace(draft, turn_id=name), -1, -1))
            continue
        begins, until = first + place, first + (len(messages) if end is None else end)
        taken = history.messages[begins : max(until, begins + 1)]
        one = Turned(_named(draft, taken[0], _again(read, begins)), begins, begins + len(taken))
        if taken[0].joins and read and read[-1].last == begins:
            one = _joined(read.pop(), one)
        read.append(one)
    yield from read


def _again(read: Sequence[Turned], begins: int) -> int:
    """How many turns were read from this message before: some wires put several into one."""
    return sum(1 for _ in takewhile(lambda turned: turned.first == begins, reversed(read)))


def _named(draft: Draft, source: Message, again: int) -> Draft:
    """A draft under the id that its source gives."""
    return replace(
        draft,
        turn_id=f"{source.turn_id}.{again + 1}" if again else source.turn_id,
        model=source.model if source.model is not None else draft.model,
        metadata={**source.metadata, **draft.metadata},
    )


def _joined(one: Turned, other: Turned) -> Turned:
    """Two neighbours as one turn; its payload is the list of theirs, as codecs make it too."""
    before = one.draft.payload
    if one.last - one.first > 1:
        before = before[1:-1]
    draft = replace(
        one.draft,
        blocks=one.draft.blocks + other.draft.blocks,
        payload=f"[{before},{other.draft.payload}]",
        notes=one.draft.notes + other.draft.notes,
    )
    return Turned(draft, one.first, other.last)


def _tool_set(entry: JsonObject, turns: int, limits: Limits) -> tuple[int, KeepTools]:
    """Definitions of an export, to be kept from the version on that they had there."""
    version, provider, source = (entry.get(key) for key in ("at_version", "provider", "format"))
    if type(version) is not int or not isinstance(provider, str) or source not in CODECS:
        raise RuleBroken("A tool set of an export must have `at_version`, `provider` and `format`.")
    if not 0 <= version <= turns:
        raise RuleBroken(telling.out_of_range("at_version", 0, turns, version))
    tools = replace(read_tool_set("neutral", entry, limits), source=str(source))
    return version, KeepTools(provider, offer(tools, "neutral"), dumps(entry).encode())
