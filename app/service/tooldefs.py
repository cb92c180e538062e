"""Tool definitions: read from any wire, checked, kept by version, offered on any wire."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from app.codecs import CODECS, neutral
from app.core.errors import LimitExceeded, RuleBroken, UnknownTarget
from app.core.jsontext import Json, JsonObject, dumps
from app.core.limits import Limits
from app.core.records import ConversationRecord, ToolSetRecord
from app.core.toolrules import Prepared, Required, prepared
from app.core.tools import Choice, Definition, Refused, Tool
from app.service.conversations import known, locked
from app.service.posting import unknown_source, wire_of
from app.service.turnform import read_object
from app.storage.store import ReadStore, Store


@dataclass(frozen=True, slots=True)
class ToolSet:
    """Definitions and choice in one value, with the wire they came from."""

    source: str
    definitions: tuple[Definition, ...]
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """The members of a request that offer tools, and what it took."""

    request: JsonObject
    prepared: Prepared

    def dropped_json(self) -> list[Json]:
        return [
            {"index": index, "name": refused.name, "reason": refused.reason}
            for index, refused in self.prepared.dropped
        ]


def read_tool_set(source: str, members: JsonObject, limits: Limits) -> ToolSet:
    """The definitions of a posted body, in the shape of `source`."""
    codec = CODECS[source]
    read = codec.read_tools(members.get("tools"))
    if len(read) > limits.tools:
        raise LimitExceeded("tools", limits.tools, len(read), pointer="/tools")
    parallel = members.get("parallel_tool_calls")
    if parallel is not None and not isinstance(parallel, bool):
        raise RuleBroken("parallel_tool_calls is true or false.", pointer="/parallel_tool_calls")
    definitions = tuple(map(_checked, read))
    return ToolSet(source, definitions, codec.read_choice(members.get("tool_choice"), parallel))


def _checked(definition: Definition) -> Definition:
    """A tool whose schema is real JSON Schema and describes an object."""
    if not isinstance(definition, Tool):
        return definition
    kind = definition.schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return Refused(definition.name, "the schema does not describe an object")
    try:
        Draft202012Validator.check_schema(definition.schema)
    except (OverflowError, RecursionError):
        return Refused(definition.name, "the schema is too large to be checked")
    except SchemaError as error:
        where = "/".join(str(step) for step in error.absolute_path) or "its top"
        return Refused(definition.name, f"the schema is no JSON Schema at {where}")
    return definition


def offer(tools: ToolSet, target: str, required: Required | None = None) -> Offer:
    """The definitions as a target takes them."""
    if target not in CODECS:
        raise UnknownTarget(target, list(CODECS))
    codec = CODECS[target]
    fit = prepared(
        tools.definitions,
        tools.choice,
        tools.source,
        target,
        codec.TOOLS,
        codec.PROFILE.names,
        required,
    )
    return Offer(codec.write_tools(fit.tools, fit.choice), fit)


def refuse_dropped(offered: Offer) -> None:
    """For callers who would rather have nothing than a part."""
    for index, refused in offered.prepared.dropped:
        raise RuleBroken(
            f"Tool {index} cannot be used: {refused.reason}.", pointer=f"/tools/{index}"
        )


@dataclass(frozen=True, slots=True)
class KeepTools:
    """The order to keep definitions with a conversation."""

    provider: str
    tools: ToolSet
    offered: Offer
    payload: bytes


def read_order(members: JsonObject, payload: bytes, limits: Limits) -> KeepTools:
    """A posted body of definitions; with `strict` all of them must be usable."""
    provider, source = wire_of({"provider": members.get("format"), **members})
    tools = read_tool_set(source, members, limits)
    offered = offer(tools, "neutral")
    if members.get("strict") is True:
        refuse_dropped(offered)
    return KeepTools(provider, tools, offered, payload)


def riding_order(members: JsonObject, limits: Limits) -> KeepTools | None:
    """The definitions that ride along with posted turns, as they do in a provider's request."""
    provider, source = wire_of(members)
    given: JsonObject = {
        key: members[key] for key in CODECS[source].TOOLS.members if members.get(key) is not None
    }
    if not given:
        return None
    request: JsonObject = {"provider": provider, "format": source}
    config = given.get("toolConfig", given)
    if not isinstance(config, dict) or "tools" not in config:
        raise RuleBroken(
            "Tool choice comes with the tools it chooses from.", pointer=f"/{next(iter(given))}"
        )
    for key, value in config.items():
        choice = key in ("toolChoice", "tool_config")
        request["tool_choice" if choice else key] = value
    return read_order(request, dumps(given).encode(), limits)


def keep_tools(
    store: Store, head: ConversationRecord, order: KeepTools, *, riding: bool = False
) -> int:
    """Keeps definitions from the present version on, or from the turns they ride with; once."""
    source = order.tools.source
    definitions = dumps({"source": source, **order.offered.request}).encode()
    version = head.version + 1 if riding else head.version
    before = store.tool_set(head.id, version)
    if before and (before.format, before.definitions) == (source, definitions):
        return before.number
    number = before.number + 1 if before else 1
    now = datetime.now(UTC)
    store.insert_tool_set(
        head.id,
        ToolSetRecord(number, version, order.provider, source, order.payload, definitions, now),
    )
    return number


def put_tools(store: Store, cid: str, order: KeepTools) -> JsonObject:
    head = locked(store, cid)
    return {
        "conversation_id": cid,
        "version": head.version,
        "number": keep_tools(store, head, order),
        "tools": len(order.offered.prepared.tools),
        "dropped": order.offered.dropped_json(),
    }


def stored_tools(record: ToolSetRecord | None) -> ToolSet | None:
    """The definitions of a record; what can no longer be read counts as none."""
    if record is None:
        return None
    kept = read_object(record.definitions)
    return ToolSet(
        record.format,
        tuple(neutral.read_tools(kept.get("tools"))),
        neutral.read_choice(kept.get("tool_choice"), None),
    )


def get_tools(store: ReadStore, cid: str, target: str, required: Required | None) -> JsonObject:
    """The definitions in force, rendered for a target."""
    head = known(store, cid)
    tools = stored_tools(store.tool_set(cid, head.version)) or ToolSet("neutral", ())
    offered = offer(tools, target, required)
    return {
        "conversation_id": cid,
        "version": head.version,
        "provider": target,
        "request": offered.request,
        "dropped": offered.dropped_json(),
        "notes": [note.json() for note in offered.prepared.notes],
    }


def convert_tools(members: JsonObject, limits: Limits) -> JsonObject:
    """`/convert/tools`: definitions from one wire to another, nothing stored."""
    source, target = _named(members, "from"), _named(members, "to")
    required = members.get("required")
    if required not in (None, "keep", "filter"):
        raise RuleBroken("required is keep or filter.", pointer="/required")
    if source not in CODECS:
        raise unknown_source(source)
    offered = offer(read_tool_set(source, members, limits), target, required)  # type: ignore[arg-type]
    if members.get("strict") is True:
        refuse_dropped(offered)
    tools_shown, choice = _apart(offered.request)
    return {
        "tools": tools_shown,
        "tool_choice": choice,
        "request": offered.request,
        "dropped": offered.dropped_json(),
        "notes": [note.json() for note in offered.prepared.notes],
    }


def _apart(request: JsonObject) -> tuple[Json, Json]:
    """Definitions and choice of a request, wherever the wire puts them."""
    config = request.get("toolConfig")
    if isinstance(config, dict):
        return config.get("tools"), config.get("toolChoice")
    keys = [key for key in ("tool_choice", "toolChoice", "tool_config") if key in request]
    return request.get("tools", []), request[keys[0]] if keys else None


def _named(members: JsonObject, key: str) -> str:
    value = members.get(key)
    if not isinstance(value, str):
        raise RuleBroken(f"{key} names a format.", pointer=f"/{key}")
    return value


def unknown_members(members: JsonObject, known: Sequence[str]) -> None:
    for key in members:
        if key not in known:
            raise RuleBroken(
                f"{key!r} is not a member here; known: {', '.join(known)}.", pointer=f"/{key}"
            )
