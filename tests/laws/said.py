"""What a random history is made of, before it is written in any wire's shape.

A `Said` is one message of one speaker, made of pieces. Every text and every result carries a marker
of its own (`~17~`), so that loss, doubling and invention can be counted in a render. Values are
JSON text (`Raw`): `1.0`, `1e2` and `-0` must reach the service as they are written here.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

MARKER = re.compile(r"~\d+~")

Wire: TypeAlias = "bool | int | str | Raw | list[Wire] | dict[str, Wire] | None"
WireObject: TypeAlias = "dict[str, Wire]"


@dataclass(frozen=True)
class Raw:
    """A JSON text that is written into a body as it stands."""

    text: str


@dataclass(frozen=True)
class Words:
    text: str


@dataclass(frozen=True)
class Picture:
    url: str


@dataclass(frozen=True)
class Paper:
    url: str
    name: str | None = None


@dataclass(frozen=True)
class Thought:
    text: str
    seal: Literal["signed", "unsigned", "empty", "redacted"]


@dataclass(frozen=True)
class Use:
    """A call. `id` may be missing (None); `arguments` is any text, JSON or not."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """A result: a JSON text, or parts where the wire takes a list of blocks."""

    id: str | None
    value: str = '""'
    parts: "tuple[Words | Picture | Paper | Odd, ...] | None" = None
    status: Literal["ok", "error", "denied", "interrupted", "unknown"] = "ok"
    error: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Odd:
    """A block of a provider's own: half of a tool it ran itself, or something else altogether."""

    kind: Literal["use", "found", "other"]
    marker: str
    id: str = ""


Piece: TypeAlias = Words | Picture | Paper | Thought | Use | Answer | Odd
Speaker: TypeAlias = Literal["human", "ai", "tool", "system", "note"]


@dataclass(frozen=True)
class Said:
    """`issuer` is the provider of this turn where the wire can name one for each turn.

    `broken_off`: its stream broke, where the wire can say so.
    """

    speaker: Speaker
    pieces: tuple[Piece, ...]
    issuer: str | None = None
    turn_id: str | None = None
    broken_off: bool = False


def identified(call_id: str | None, key: str = "id") -> WireObject:
    return {} if call_id is None else {key: call_id}


def value(text: str) -> Wire:
    """A JSON value where the wire wants one: what is no JSON travels as a text."""
    return Raw(text) if is_json(text) else text


def is_json(text: str) -> bool:
    """Whether a body may hold this text as a value, within the limits on depth and digits."""
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError:
        return False
    return text.count("{") + text.count("[") < 40


def _refuse(text: str) -> object:
    raise ValueError(text)


def written(wire: Wire, *, spaced: bool = False) -> str:
    """The JSON text of a body; `spaced` as people write it, else compact."""
    comma, colon = (",\n ", " : ") if spaced else (",", ":")
    match wire:
        case Raw(text=text):
            return text
        case dict():
            members = (
                json.dumps(key) + colon + written(member, spaced=spaced)
                for key, member in wire.items()
            )
            return "{" + comma.join(members) + "}"
        case list():
            return "[" + comma.join(written(one, spaced=spaced) for one in wire) + "]"
        case _:
            return json.dumps(wire, ensure_ascii=spaced or not _is_plain(wire))


def _is_plain(wire: bool | int | str | None) -> bool:
    """A lone surrogate cannot be written in UTF-8 but by its escape."""
    return not isinstance(wire, str) or not re.search(r"[\ud800-\udfff]", wire)


@dataclass(frozen=True)
class Writer:
    """`beside` is the member for system text beside the messages, and `shape` its form there."""

    write: Callable[[Said], list[WireObject]]
    beside: str | None = None
    shape: Callable[[str], Wire] = str
