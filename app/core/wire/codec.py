"""The seam between service and codecs: how calls are named, what a codec is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, runtime_checkable

from app.core.conversation import Draft, ToolCall
from app.core.json.values import Json, JsonObject, Texts
from app.core.render.profile import Profile
from app.core.render.view import Message, Shown
from app.core.tools.definitions import Choice, Definition, HostedTool, Tool
from app.core.tools.rules import ToolRules
from app.core.wire.responses import Replies


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
    """A wire format, as a value. Each module of `app.codecs` has one, under the name CODEC.

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
