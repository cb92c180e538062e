"""Tool definitions: kept with a conversation by version, offered on any wire."""

from dataclasses import dataclass, replace
from functools import lru_cache

from ..conversations.commands import check_state, ensured, known
from ..database.store import ReadStore
from ..formats.registry import CODECS
from ..formats.shared.members import check_members, member, source_of, target_of, wire_of
from ..jsontext.plain import read_object
from ..jsontext.writing import dumps
from ..ledger.load_request import Keys
from ..ledger.records import ToolSetRecord
from ..ledger.slice import Change, Plain, Slice
from ..model.definitions import Definition, HostedTool, Note, Refused, Tool
from ..model.errors import RuleBroken
from ..model.json_values import Json, JsonObject
from ..model.limits import Limits
from ..replay.options import ReplayOptions
from .fit import Fitting, Prepared, Required
from .toolreading import ToolSet, demand_tools, read_tool_set, under_our_names

_ORDER = ("provider", "format", "tools", "tool_choice", "parallel_tool_calls", "strict")
_UNDESCRIBED = "the tool has no description"


@dataclass(frozen=True, slots=True)
class Offer:
    """The members of a request that offer tools, and what it took."""

    tools: ToolSet
    request: JsonObject
    prepared: Prepared

    @property
    def has_tools(self) -> bool:
        return bool(self.prepared.tools)

    def dropped_words(self) -> list[str]:
        dropped = self.prepared.dropped
        return [f"{one.name or f'tool {index}'}: {one.reason}" for index, one in dropped]

    def dropped_json(self) -> list[Json]:
        return [
            {"index": index, "name": refused.name, "reason": refused.reason}
            for index, refused in self.prepared.dropped
        ]

    def notes_json(self) -> list[Json]:
        return [note.json() for note in self.prepared.notes]


NO_OFFER = Offer(ToolSet("neutral", ()), {}, Prepared((), None, (), ()))


def offer(tools: ToolSet, target: str, required: Required | None = None) -> Offer:
    """The definitions as a target takes them."""
    codec = CODECS[target_of(target)]
    source, names = CODECS[tools.source].tools, codec.profile.names
    fitting = Fitting(source, target, codec.tools, names, required)
    known = [_known_to_target(one, target) for one in tools.definitions]
    fit = fitting.prepared(known, tools.choice)
    undescribed = (
        Note("DESCRIPTION_MISSING", _UNDESCRIBED, one.name)
        for one in tools.definitions
        if _lacks_description(one, tools)
    )
    fit = replace(fit, notes=(*undescribed, *fit.notes))
    return Offer(tools, codec.write_tools(fit.tools, fit.choice), fit)


def _known_to_target(definition: Definition, target: str) -> Definition:
    """A definition of a kind that only the target knows, as the target reads it."""
    if isinstance(definition, Tool) or definition.native is None:
        return definition
    if isinstance(definition, HostedTool) and definition.wire == target:
        return definition
    match CODECS[target].read_tools([definition.native]):
        case [HostedTool() as hosted]:
            return replace(hosted, at=definition.at)
    return definition


def only_described(tools: ToolSet) -> ToolSet:
    """Where the shape has a description, a definition without one is refused."""
    kept = (
        Refused(one.name, _UNDESCRIBED, one.at) if _lacks_description(one, tools) else one
        for one in tools.definitions
    )
    return replace(tools, definitions=tuple(kept))


def _lacks_description(one: Definition, tools: ToolSet) -> bool:
    """Whether a tool has no description, where the shape it came in has one."""
    described = CODECS[tools.source].tools.described
    return described and isinstance(one, Tool) and one.description is None


def refuse_dropped(offered: Offer, members: JsonObject) -> None:
    """For callers who would rather have nothing than a part: they say `strict`."""
    if not member(members, "strict", bool):
        return
    for index, refused in offered.prepared.dropped:
        where = offered.tools.place(index)
        raise RuleBroken(f"Tool {index} cannot be used: {refused.reason}.", pointer=where)


@dataclass(frozen=True, slots=True)
class KeepTools:
    """The order to keep definitions with a conversation."""

    provider: str
    offered: Offer
    payload: bytes


def read_order(members: JsonObject, payload: bytes, limits: Limits) -> KeepTools:
    """A posted body of definitions; with `strict` all of them must be usable."""
    provider, source = source_of(members)
    check_members(members, (*_ORDER, *CODECS[source].tools.members))
    demand_tools(members, source)
    offered = offer(read_tool_set(source, members, limits), "neutral")
    refuse_dropped(offered, members)
    return KeepTools(provider, offered, payload)


def riding_order(members: JsonObject, limits: Limits) -> KeepTools | None:
    """The definitions that ride along with posted turns, as they do in a provider's request."""
    provider, source = wire_of(members)
    given: JsonObject = {
        key: members[key] for key in CODECS[source].tools.members if members.get(key) is not None
    }
    said, places = under_our_names(given, source)
    if said and "tools" not in said:
        raise RuleBroken(
            "A tool choice needs the `tools` it chooses from in the same request.",
            pointer=next(iter(places.values())),
        )
    if not said:
        return None
    offered = offer(read_tool_set(source, given, limits), "neutral")
    return KeepTools(provider, offered, dumps(given).encode())


def kept_tools(
    known: Slice, order: KeepTools | None, *, riding: bool = False, at: int | None = None
) -> tuple[ToolSetRecord, ...]:
    """The tool set to be added, if any: definitions are kept from the present version on, from the
    turns they ride with, or from an earlier version (`at`); those in force are not kept again."""
    if order is None:
        return ()
    version = known.version + 1 if riding else known.version
    newest = known.newest_tools()
    before = newest if at is None else known.tools_at(at)
    source = order.offered.tools.source
    definitions = dumps({"source": source, **order.offered.request}).encode()
    if before and (before.format, before.definitions) == (source, definitions):
        return ()
    number = newest.number + 1 if newest else 1
    about = (order.provider, source, order.payload, definitions, known.now)
    return (ToolSetRecord(number, version if at is None else at, *about),)


@dataclass(frozen=True, slots=True)
class PutTools(Plain):
    """The command to keep tool definitions from the present version on."""

    conversation_id: str
    order: KeepTools
    expected: str | None = None

    @property
    def size(self) -> int:
        return len(self.order.payload)

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        return Keys(tools=True)

    def decide(self, known: Slice) -> Change[JsonObject]:
        check_state(known, self.expected)
        there, made = ensured(known)
        added = kept_tools(there, self.order)
        newest = added[-1] if added else there.newest_tools()
        receipt: JsonObject = {
            "conversation_id": self.conversation_id,
            "version": there.version,
            "number": newest.number if newest else 0,
            "tools": len(self.order.offered.prepared.tools),
            "dropped": self.order.offered.dropped_json(),
            "notes": self.order.offered.notes_json(),
        }
        return made.then(Change(receipt, tool_sets=added))


def stored_tools(record: ToolSetRecord) -> ToolSet:
    """The definitions of a record; what can no longer be read counts as none."""
    kept, neutral = read_object(record.definitions), CODECS["neutral"]
    return ToolSet(
        record.format,
        tuple(neutral.read_tools(kept.get("tools"))),
        neutral.choice(kept.get("tool_choice"), None),
    )


def offered_by(record: ToolSetRecord | None, options: ReplayOptions) -> Offer:
    """The tools of a record, as a replay offers them; none where it is not to show any."""
    if record is None or options.tools != "include":
        return NO_OFFER
    return _offered(record, options.provider)


@lru_cache(maxsize=16)
def _offered(record: ToolSetRecord, target: str) -> Offer:
    """Fitting schemas to a target takes long, and most replays ask for the same."""
    return offer(stored_tools(record), target)


CACHED = (_offered,)


def get_tools(store: ReadStore, cid: str, target: str, required: Required | None) -> JsonObject:
    """The definitions in force, rendered for a target."""
    head = known(store, cid)
    record = store.tools.at(cid, head.version)
    offered = offer(stored_tools(record) if record else NO_OFFER.tools, target, required)
    return {
        "conversation_id": cid,
        "version": head.version,
        "provider": target,
        "request": offered.request,
        "dropped": offered.dropped_json(),
        "notes": offered.notes_json(),
    }
