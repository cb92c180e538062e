"""The seam between service and codecs: what was posted, how calls are named, what a codec is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

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
    """Calls are shown as a prefix and the 24 characters of their canonical id."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """Calls get an id of the wire's own when they are stored.

    `candidates` takes a call and the highest ordinal so far (-1: none). It gives ids, the best
    first, each with its ordinal if the wire counts; the ledger takes the first that is free.
    """

    candidates: Callable[[ToolCall, int], Iterator[tuple[str, int | None]]]


IdRule: TypeAlias = Prefixed | Assigned


class Codec(Protocol):
    """A wire format. Modules of `app.codecs` are codecs.

    KEYS are the members of a posted request that it reads, SETTINGS those that hold nothing of the
    conversation and are ignored with a note. LIST is the member of a rendered request that holds
    the messages. TOOLS says what the wire demands of tool definitions, REPLIES how its responses
    are read, where it has any.
    """

    @property
    def PROFILE(self) -> Profile: ...  # noqa: N802

    @property
    def IDS(self) -> IdRule: ...  # noqa: N802

    @property
    def KEYS(self) -> tuple[str, ...]: ...  # noqa: N802

    @property
    def SETTINGS(self) -> frozenset[str]: ...  # noqa: N802

    @property
    def LIST(self) -> str: ...  # noqa: N802

    @property
    def TOOLS(self) -> ToolRules: ...  # noqa: N802

    @property
    def REPLIES(self) -> Replies | None: ...  # noqa: N802

    def parse(self, posted: Posted) -> list[Draft]: ...

    def render(self, view: View) -> JsonObject: ...

    def read_tools(self, definitions: Json) -> list[Definition]:
        """Definitions in the wire's own shape; what cannot be used is refused one by one."""

    def read_choice(self, choice: Json, parallel: bool | None) -> Choice | None: ...

    def write_tools(self, tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
        """The members of a request that offer these tools."""
