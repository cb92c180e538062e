"""The members of a posted body: each is one that somebody reads, or the body is refused.

Settings of a whole request (`max_tokens`, `stream` …) are ignored, and named in one note. Whoever
writes the name of a provider, format or target wrongly is told the one that was probably meant.
"""

from collections.abc import Collection, Sequence
from typing import TypeVar

from ...model import telling
from ...model.conversation import Remark
from ...model.errors import RuleBroken, UnknownProvider, UnknownTarget
from ...model.forms import PROVIDER
from ...model.json_values import Json, JsonObject
from ...model.nearest import nearest_provider
from ..registry import CODECS, NICKNAMES

# The members that hold messages and what stands beside them, and the formats that read each.
MESSAGE_MEMBERS = {
    name: [wire for wire, codec in CODECS.items() if name in codec.keys]
    for name in dict.fromkeys(key for codec in CODECS.values() for key in codec.keys)
}
T = TypeVar("T", str, bool, dict[str, Json])
_KINDS: dict[type, str] = {str: "a string", bool: "true or false", dict: "an object"}
_TOOL_MEMBERS = frozenset(name for codec in CODECS.values() for name in codec.tools.members)


def check_members(members: JsonObject, names: Sequence[str], ignored: Collection[str] = ()) -> None:
    """Raises `RuleBroken` for the first member that is neither known nor `ignored`."""
    for key, value in members.items():
        # What an SDK fills with null says nothing, though it be another provider's way to say it.
        if key in names or key in ignored or (value is None and key in _TOOL_MEMBERS):
            continue
        raise RuleBroken(telling.unknown(key, names), pointer=telling.pointer(key))


def ignored_settings(members: JsonObject, wire: str, known: Sequence[str]) -> tuple[Remark, ...]:
    """The note on the settings that a body has beside its `known` members; null says nothing."""
    names = [
        key
        for key, value in members.items()
        if key in CODECS[wire].settings and key not in known and value is not None
    ]
    if not names:
        return ()
    return (Remark("SETTINGS_IGNORED", f"not part of the conversation: {', '.join(names)}"),)


def member(members: JsonObject, name: str, kind: type[T]) -> T | None:
    """A member of one type; None where it is left out, or null."""
    value = members.get(name)
    if value is None or isinstance(value, kind):
        return value
    raise RuleBroken(telling.wrong_type(name, _KINDS[kind], value), pointer=f"/{name}")


def wire_of(members: JsonObject) -> tuple[str, str]:
    """Who speaks, and in which wire's shape."""
    provider = _name(members, "provider")
    check_provider(provider, "/provider")
    if members.get("format") is not None:
        return provider, _wire(members, "format")
    if provider not in CODECS:
        raise UnknownProvider.without_format(provider, NICKNAMES)
    return provider, provider


def source_of(members: JsonObject) -> tuple[str, str]:
    """The same for tools, which a format alone can tell how to read."""
    if members.get("provider") is None and members.get("format") is not None:
        wire = _wire(members, "format")
        return wire, wire
    return wire_of(members)


def check_provider(name: str, pointer: str) -> None:
    """Any name may speak, as long as it is one."""
    if PROVIDER.fits(name):
        return
    told = PROVIDER.complaint(name)
    meant = telling.did_you_mean(nearest_provider(name, NICKNAMES))
    raise RuleBroken(told.removesuffix(".") + meant, pointer=pointer)


def route_of(members: JsonObject) -> tuple[str, str]:
    """Source and target of a conversion."""
    return _wire(members, "from"), target_of(_name(members, "to"), pointer="/to")


def target_of(name: str, *, pointer: str = "?provider") -> str:
    """A target to render for. Raises `UnknownTarget`."""
    if name not in CODECS:
        raise UnknownTarget(name, NICKNAMES, pointer=pointer)
    return name


def _wire(members: JsonObject, key: str) -> str:
    name = _name(members, key)
    if name not in CODECS:
        raise UnknownProvider.named(name, key, NICKNAMES)
    return name


def _name(members: JsonObject, key: str) -> str:
    name = member(members, key, str)
    if name is None:
        required = telling.missing(key, "the name of a provider")
        raise RuleBroken(f"{required} Known: {', '.join(CODECS)}.", pointer=f"/{key}")
    return name
