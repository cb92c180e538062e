"""The seam between service and codecs: what was posted, how calls are named, what a codec is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from app.core.conversation import Draft, ToolCall
from app.core.json.text import Json, JsonObject
from app.core.render.profile import Profile
from app.core.render.view import View
from app.core.tools.definitions import Choice, Definition, HostedTool, Tool
from app.core.tools.rules import ToolRules
from app.core.wire.responses import Replies


@dataclass(frozen=True, slots=True)
class Posted:
    """The members of a posted request, and the very text of each (of each element of an array)."""

    members: JsonObject
    texts: Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Prefixed:
    """The provider id of a call is a prefix and the 24 characters of its canonical id."""

    prefix: str


@runtime_checkable
class Assigned(Protocol):
    """The provider id of a call is of the wire's own form, and given when the call is stored."""

    @property
    def form(self) -> str:
        """What such an id looks like, in words for people."""

    def candidates(self, call: ToolCall, highest: int) -> Iterator[tuple[str, int | None]]:
        """Provider ids for a call, the preferred one first; the first that is free becomes it.

        Each comes with its ordinal if the wire counts its calls; `highest` is the highest ordinal
        of the conversation so far (-1: none).
        """


IdRule: TypeAlias = Prefixed | Assigned


@runtime_checkable
class Codec(Protocol):
    """A wire format, as a value. Each module of `app.codecs` has one, under the name CODEC.

    profile    what the wire demands of a history
    ids        how it names calls
    keys       the members of a posted request that it reads
    settings   those that hold nothing of the conversation; they are ignored with a note
    messages   the member of a rendered request that holds the messages
    tools      what the wire demands of tool definitions
    replies    how its responses are read; None where it has none
    nicknames  how other names begin that people have for it
    """

    @property
    def profile(self) -> Profile: ...

    @property
    def ids(self) -> IdRule: ...

    @property
    def keys(self) -> tuple[str, ...]: ...

    @property
    def settings(self) -> frozenset[str]: ...

    @property
    def messages(self) -> str: ...

    @property
    def tools(self) -> ToolRules: ...

    @property
    def replies(self) -> Replies | None: ...

    @property
    def nicknames(self) -> tuple[str, ...]: ...

    def parse(self, posted: Posted) -> list[Draft]:
        """The turns of a posted request, each with the very text it was read from."""

    def render(self, view: View) -> JsonObject:
        """The request. The view obeys the profile already: it is written down, nothing repaired."""

    def read_tools(self, definitions: Json) -> list[Definition]:
        """Definitions in the wire's own shape; what cannot be used is refused one by one."""

    def read_choice(self, choice: Json, parallel: bool | None) -> Choice | None: ...

    def write_tools(self, tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
        """The members of a request that offer these tools."""
