"""Names of providers, formats and targets, and what is told to somebody who writes one wrongly."""

from app.codecs import CODECS, NICKNAMES
from app.core import telling
from app.core.errors import RuleBroken, UnknownProvider, UnknownTarget
from app.core.identity.forms import PROVIDER
from app.core.json.text import Json, JsonObject
from app.core.nearest import nearest_provider


def wire_of(members: JsonObject) -> tuple[str, str]:
    """Who speaks, and in which wire's shape."""
    provider, wire = _name(members.get("provider"), "provider"), members.get("format")
    check_provider(provider, "/provider")
    if wire is not None:
        return provider, _known(_name(wire, "format"), "format")
    if provider not in CODECS:
        raise UnknownProvider.without_format(provider, NICKNAMES)
    return provider, provider


def source_of(members: JsonObject) -> tuple[str, str]:
    """The same for tools, which a format alone can tell how to read."""
    if members.get("provider") is None and members.get("format") is not None:
        wire = _known(_name(members["format"], "format"), "format")
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
    source = _known(_name(members.get("from"), "from"), "from")
    return source, target_of(_name(members.get("to"), "to"), pointer="/to")


def target_of(name: str, *, pointer: str = "?provider") -> str:
    """A target to render for. Raises `UnknownTarget`."""
    if name not in CODECS:
        raise UnknownTarget(name, NICKNAMES, pointer=pointer)
    return name


def _known(name: str, member: str) -> str:
    if name not in CODECS:
        raise UnknownProvider.named(name, member, NICKNAMES)
    return name


def _name(value: Json, member: str) -> str:
    if value is None:
        required = telling.missing(member, "the name of a provider")
        raise RuleBroken(f"{required} Known: {', '.join(CODECS)}.", pointer=f"/{member}")
    if not isinstance(value, str):
        raise RuleBroken(telling.wrong_type(member, "a string", value), pointer=f"/{member}")
    return value
