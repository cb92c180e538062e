"""The seam between service and codecs: how calls are named, what a codec is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, runtime_checkable

from ...model.conversation import Draft, ToolCall
from ...model.definitions import Choice, Definition, HostedTool, Tool
from ...model.json_values import Json, JsonObject, Texts
from .profile import Profile
from .responses import Replies
from .tool_rules import ToolRules
from .view import Message, Shown


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """A wire format, as a value. Each module of `app.formats` has one, under the name CODEC.

    profile      what the wire demands of a history
    tools        what it demands of tool definitions
    ids          how it names calls
    keys         the members of a posted request that it reads
    messages     the member of a rendered request that holds the messages
    settings     members that hold nothing of the conversation; they are ignored with a note
    nicknames    how other names begin that people have for it
    replies      how its responses are read; None where it has none
    parse        the turns of a posted request, given its members and their very texts
    write        the messages, which obey the profile already: nothing is repaired here
    write_system the members of a request for system texts that stand beside the messages
    read_tools   definitions in the wire's own shape; what cannot be used is refused one by one
    read_choice  a tool choice in its own shape
    write_tools  the members of a request that offer these tools
    """

    profile: Profile
    tools: ToolRules
    ids: IdRule
    keys: tuple[str, ...] = ("messages",)
    messages: str = "messages"
    settings: frozenset[str] = frozenset()
    nicknames: tuple[str, ...] = ()
    replies: Replies | None = None
    parse: Callable[[JsonObject, Texts], list[Draft]]
    write: Callable[[Sequence[Message]], list[Json]]
    write_system: Callable[[Sequence[Shown]], JsonObject] = lambda _: {}
    read_tools: Callable[[Json], list[Definition]]
    read_choice: Callable[[Json], Choice]
    write_tools: Callable[[Sequence[Tool | HostedTool], Choice | None], JsonObject]

    def choice(self, said: Json, parallel: bool | None) -> Choice | None:
        """The tool choice of a request, and `parallel`, which it says beside; None: neither."""
        if said is None:
            return None if parallel is None else Choice(parallel=parallel)
        read = self.read_choice(said)
        return replace(read, parallel=parallel) if read.parallel is None else read


@dataclass(frozen=True, slots=True)
class IdRules:
    """How the targets name calls: rules of those that assign ids, prefixes of the others."""

    assigned: Mapping[str, Assigned]
    prefixes: tuple[str, ...]
